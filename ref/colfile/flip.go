package colfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/apache/arrow-go/v18/parquet"

	"contextful/ref/fault"
)

const (
	magic     = "PAR1"
	maxFooter = 256 << 20
)

// FlipUTC sets isAdjustedToUTC of every TIMESTAMP logical type in a Parquet footer (the Thrift FileMetaData, without length
// and magic), in place, and gives the number of bytes it changed. The footer's length never changes. An error means the
// bytes are no such footer; what was patched before it was found stays patched.
func FlipUTC(footer []byte, toUTC bool) (int, error) {
	changed := 0
	for at, err := range flagOffsets(footer) {
		if err != nil {
			return changed, err
		}
		b := footer[at]&0xf0 | boolFalse
		if toUTC {
			b = footer[at]&0xf0 | boolTrue
		}
		if b != footer[at] {
			footer[at] = b
			changed++
		}
	}
	return changed, nil
}

// FlipFile turns the flag in the file at path, in place, and gives the number of columns it changed. It is for a file its
// writer has not published yet: the caller syncs it afterwards. StorePartDamaged where it is no Parquet file.
func FlipFile(path string, toUTC bool) (int, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, damaged(path, "cannot be opened").Wrap(err)
	}
	n, err := flip(f, path, toUTC)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fault.New(fault.StoreWriteFailed, path, "part "+path+" could not be written").Wrap(cerr)
	}
	return n, err
}

func flip(f *os.File, path string, toUTC bool) (int, error) {
	footer, at, n, err := flipped(f, path, toUTC)
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := f.WriteAt(footer, at); err != nil {
		return 0, fault.New(fault.StoreWriteFailed, path, "part "+path+" could not be written").Wrap(err)
	}
	return n, nil
}

// flipped gives the footer of src with the flag turned, where it lies in src, and the number of columns that changed.
func flipped(src parquet.ReaderAtSeeker, path string, toUTC bool) (footer []byte, at int64, n int, err error) {
	if footer, at, err = readFooter(src); err != nil {
		return nil, 0, 0, damaged(path, "has no readable footer").Wrap(err)
	}
	if err = levelsWithin(footer); err == nil {
		n, err = FlipUTC(footer, toUTC)
	}
	if err != nil {
		return nil, 0, 0, damaged(path, "has a footer that cannot be read").Wrap(err)
	}
	return footer, at, n, nil
}

func readFooter(f parquet.ReaderAtSeeker) ([]byte, int64, error) {
	n, err := footerLength(f)
	if err != nil {
		return nil, 0, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	footer := make([]byte, n)
	_, err = f.ReadAt(footer, size-8-n)
	return footer, size - 8 - n, err
}

func footerLength(f parquet.ReaderAtSeeker) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if size < 12 {
		return 0, fmt.Errorf("it is %d bytes long", size)
	}
	tail := make([]byte, 8)
	if _, err := f.ReadAt(tail, size-8); err != nil && err != io.EOF {
		return 0, err
	}
	if string(tail[4:]) != magic {
		return 0, fmt.Errorf("it ends with %q, not with %q", tail[4:], magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 || n > maxFooter {
		return 0, fmt.Errorf("it promises a footer of %d bytes in a file of %d", n, size)
	}
	return n, nil
}

// OpenFlipped copies the part at path to memory (a file without a name on Linux, a temporary file elsewhere) with its
// timestamps marked as not adjusted to UTC, and gives the name under which this process reads it. done frees the copy; call
// it after the last read. StorePartDamaged where the part is no Parquet file, StoreWriteFailed where there is no room.
func OpenFlipped(path string) (name string, done func(), err error) {
	in, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, damaged(path, "is missing").Wrap(err)
	}
	if err != nil && !tooMany(err) {
		return "", nil, damaged(path, "cannot be opened").Wrap(err)
	}
	if err != nil {
		return "", nil, noCopy(path, err)
	}
	defer in.Close()
	out, name, done, err := scratch()
	if err != nil {
		return "", nil, noCopy(path, err)
	}
	if err := copyFlipped(out, in, path, flipWhole); err != nil {
		done()
		return "", nil, err
	}
	return name, done, nil
}

// noCopy refuses for want of room. Each copy is a file that stays open, so a table of many parts may meet the process's limit.
func noCopy(path string, err error) error {
	refusal := fault.New(fault.StoreWriteFailed, path, "no room for a copy of part "+path).Wrap(err)
	if tooMany(err) {
		refusal = refusal.WithHint("let the process open more files (ulimit -n), and fold the table: then it has fewer parts")
	}
	return refusal
}

func tooMany(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// flipWhole is how many bytes of a part are turned on their way into the copy: of many small ones most of the time goes into the
// calls. A larger one is copied first.
const flipWhole = 1 << 20

func copyFlipped(out, in *os.File, path string, whole int64) error {
	failed := func(err error) error {
		return fault.New(fault.StoreWriteFailed, path, "part "+path+" could not be copied").Wrap(err)
	}
	info, err := in.Stat()
	if err != nil {
		return failed(err)
	}
	if info.Size() > whole {
		if _, err := io.Copy(out, in); err != nil {
			return failed(err)
		}
		_, err := flip(out, path, false)
		return err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(in, data); err != nil {
		return failed(err)
	}
	footer, at, _, err := flipped(bytes.NewReader(data), path, false)
	if err != nil {
		return err
	}
	copy(data[at:], footer)
	if _, err := out.Write(data); err != nil {
		return failed(err)
	}
	return nil
}

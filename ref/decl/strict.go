package decl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"

	"github.com/pelletier/go-toml/v2"
)

// maxFile bounds a declaration file in bytes: a foreign file of gigabytes must not be read into memory to be refused.
const maxFile = 4 << 20

// Files reads the files of a declaration. Missing names answer with an error that is fs.ErrNotExist.
type Files interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// OSFiles reads the machine's own files.
type OSFiles struct{}

// ReadFile reads a whole file and refuses one above 4 MiB.
func (OSFiles) ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory", name)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it has %d bytes, a declaration has at most %d", info.Size(), maxFile)
	}
	return os.ReadFile(name)
}

// ReadDir lists a directory in name order.
func (OSFiles) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// invalid makes the package's refusal: the file is the subject, and the message begins with the file's name.
func invalid(path, format string, args ...any) *fault.Error {
	return fault.New(fault.StoreDeclarationInvalid, path, path+": "+fmt.Sprintf(format, args...))
}

// decodeStrict reads data into target and refuses every key the target does not have, naming the first with its line.
func decodeStrict(path string, data []byte, target any) (err error) {
	if !utf8.Valid(data) {
		return invalid(path, "is not UTF-8 text, so it is no declaration")
	}
	defer func() {
		// The TOML library panics on its own inconsistencies; a file from outside must never end the process.
		if r := recover(); r != nil {
			err = invalid(path, "cannot be read as TOML")
		}
	}()
	if err := checkKeys(path, data, target); err != nil {
		return err
	}
	if err = toml.Unmarshal(data, target); err == nil {
		return nil
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		what := strings.TrimPrefix(decode.Error(), "toml: ")
		if key := strings.Join(decode.Key(), "."); key != "" {
			return invalid(path, "line %d: key %q: %s", line, key, what)
		}
		return invalid(path, "line %d: %s", line, what)
	}
	return invalid(path, "cannot be read as TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
}

// Nearest gives the known word within two edits of one that is not, within one of a short one, or "".
func Nearest(word string, known []string) string {
	best, bound := "", 3
	if len(word) < 6 {
		bound = 2
	}
	for _, k := range known {
		if d := distance(word, k); d < bound && d < len(k) {
			best, bound = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes; words past 64 bytes are never near anything.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := left
			if a[i] != b[j] {
				cost = 1 + min(left, row[j], row[j+1])
			}
			left, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

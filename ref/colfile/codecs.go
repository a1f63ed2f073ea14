package colfile

import (
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

var errLonger = errors.New("a page is longer than its header says")

// bounding says that the library's registry has the codecs below. The registry is one for the process, and its own codecs
// take a block's word for its length: a damaged snappy block of five bytes asks for four gigabytes.
var bounding sync.Once

func boundCodecs() {
	bounding.Do(func() {
		if c, err := compress.GetCodec(compress.Codecs.Snappy); err == nil {
			compress.RegisterCodec(compress.Codecs.Snappy, boundedCodec{c, decodeSnappy})
		}
		if c, err := compress.GetCodec(compress.Codecs.Zstd); err == nil {
			decoder, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
			if err == nil {
				compress.RegisterCodec(compress.Codecs.Zstd, boundedCodec{c, func(dst, src []byte) ([]byte, error) {
					return decoder.DecodeAll(src, dst[:0:len(dst)])
				}})
			}
		}
	})
}

// boundedCodec decodes into the room it is given, and no further.
type boundedCodec struct {
	compress.Codec
	decode func(dst, src []byte) ([]byte, error)
}

// DecodeWithError makes it a compress.ErrorCodec. A nil dst is a caller that does not know the length, which this package
// never is.
func (c boundedCodec) DecodeWithError(dst, src []byte) ([]byte, error) {
	if dst == nil {
		return compress.Decode(c.Codec, nil, src)
	}
	return c.decode(dst, src)
}

func decodeSnappy(dst, src []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > len(dst) {
		return nil, errLonger
	}
	return snappy.Decode(dst, src)
}

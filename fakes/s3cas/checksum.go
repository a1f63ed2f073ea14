package s3cas

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strings"
)

// checksum is a declared and verified x-amz-checksum-* value, kept with the object.
type checksum struct {
	name  string // crc32, crc32c, crc64nvme, sha1, sha256, sha512, md5
	value string // base64
}

// header is the header a checksum travels in.
func (c checksum) header() string {
	return "X-Amz-Checksum-" + strings.ToUpper(c.name[:1]) + c.name[1:]
}

// crc64NVME is the polynomial AWS calls CRC64NVME, in the reflected form that hash/crc64 takes.
const crc64NVME = 0x9a6c9329ac4bc9b5

func newHash(name string) hash.Hash {
	switch name {
	case "crc32":
		return crc32.NewIEEE()
	case "crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "crc64nvme":
		return crc64.New(crc64.MakeTable(crc64NVME))
	case "sha1":
		return sha1.New()
	case "sha256":
		return sha256.New()
	case "sha512":
		return sha512.New()
	case "md5":
		return md5.New()
	}
	return nil
}

// verifyChecksums compares Content-MD5 and x-amz-checksum-* (header or trailer) with the decoded body, and returns the last one.
func verifyChecksums(h http.Header, trailer http.Header, body []byte) (checksum, *apiError) {
	if v, ok := headerOf(h, "Content-Md5"); ok {
		raw, err := base64.StdEncoding.DecodeString(v)
		if err != nil || len(raw) != md5.Size {
			return checksum{}, refuse(400, "InvalidDigest", "The Content-MD5 you specified is not valid.")
		}
		if sum := md5.Sum(body); string(sum[:]) != string(raw) {
			return checksum{}, errBadDigest
		}
	}
	var found checksum
	for _, src := range []http.Header{h, trailer} {
		for name, vs := range src {
			alg, ok := strings.CutPrefix(name, "X-Amz-Checksum-")
			if !ok || len(vs) == 0 || alg == "Mode" || alg == "Type" || alg == "Algorithm" {
				continue
			}
			c := checksum{name: strings.ToLower(alg), value: strings.TrimSpace(vs[0])}
			hs := newHash(c.name)
			if hs == nil {
				return checksum{}, refusef(400, "InvalidRequest", "The checksum algorithm %s is not supported.", c.name)
			}
			hs.Write(body)
			if base64.StdEncoding.EncodeToString(hs.Sum(nil)) != c.value {
				return checksum{}, errBadDigest
			}
			found = c
		}
	}
	return found, nil
}

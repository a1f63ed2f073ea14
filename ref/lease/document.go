package lease

import (
	"bytes"
	"encoding/json"
	"fmt"

	"contextful/ref/fault"
	"contextful/ref/key"
	"contextful/ref/manifest"

	strict "github.com/go-json-experiment/json"
)

// maxDocument bounds a lease object, in bytes.
const maxDocument = 1 << 16

// Document is a lease object. A null holder is a released lease; the fence stays and only ever grows. Writer and Nonce make a
// write recognisable when it is read back.
type Document struct {
	Holder     *string          `json:"holder"`
	AcquiredAt manifest.Instant `json:"acquired_at"`
	ExpiresAt  manifest.Instant `json:"expires_at"`
	Fence      int64            `json:"fence"`
	Writer     string           `json:"writer,omitempty"`
	Nonce      string           `json:"nonce,omitempty"`
}

func decode(path string, data []byte) (*Document, error) {
	bad := func(why string) error {
		return fault.New(fault.SyncManifestInvalid, path, path+" is no lease: "+why)
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, bad("it is not a JSON object")
	}
	d := &Document{Fence: -1}
	if err := strict.Unmarshal(data, d); err != nil {
		return nil, bad(err.Error())
	}
	switch {
	case d.Fence < 0:
		return nil, bad("it has no fence")
	case d.Holder != nil && key.ValidNode(*d.Holder) != nil:
		return nil, bad(fmt.Sprintf("its holder %q is no node id", *d.Holder))
	case d.Holder != nil && d.ExpiresAt.IsZero():
		return nil, bad("it is held and has no expires_at")
	}
	return d, nil
}

func encode(d *Document) ([]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

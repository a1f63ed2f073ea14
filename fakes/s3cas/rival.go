package s3cas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// rival does what another writer gets in before the request is applied. Its writes are in the journal as principal "rival".
func (rq *request) rival(st *step) {
	b := rq.b
	if b == nil {
		return
	}
	s := rq.s
	switch st.name {
	case "Rival":
		key, body := rq.key, st.args[0].s
		if len(st.args) == 2 {
			key, body = st.args[0].s, st.args[1].s
		}
		s.rivalPut(b, key, []byte(body))
	case "RivalManifest":
		s.rivalManifest(b, rq.key, rq.now)
	case "RivalDelete":
		key := rq.key
		if len(st.args) == 1 {
			key = st.args[0].s
		}
		before := b.set(key, nil, &s.events, rq.now)
		s.noteRival(OpDelete, b.name, key, before, nil)
	case "RivalSwap":
		one, two := b.get(rq.key), b.get(st.args[0].s)
		b.swap(rq.key, st.args[0].s, &s.events, rq.now)
		s.noteRival(rivalOp(two), b.name, rq.key, one, two)
		s.noteRival(rivalOp(one), b.name, st.args[0].s, two, one)
	}
}

func rivalOp(after *object) Op {
	if after == nil {
		return OpDelete
	}
	return OpPut
}

func (s *Server) rivalPut(b *bucket, key string, body []byte) {
	o := s.build(body, b.modes.Load())
	before := b.set(key, o, &s.events, s.opts.Now())
	s.noteRival(OpPut, b.name, key, before, o)
}

func (s *Server) noteRival(op Op, bucket, key string, before, after *object) {
	at := s.events.Add(1)
	e := Entry{
		Arrived: at, Applied: at, Answered: at, Principal: "rival", Op: op, Bucket: bucket, Key: key, Status: 200,
		VirtualTime: s.opts.Now(), ETagBefore: tagOf(before), ETagAfter: tagOf(after),
	}
	if after != nil {
		e.BytesIn = int64(len(after.body))
	}
	s.journal.begin(e)
}

func tagOf(o *object) string {
	if o == nil {
		return ""
	}
	return o.etag
}

// rivalManifest commits the bucket manifest at key one generation on, as another node would: the immutable copy manifests/gen-N.json
// first, where the key is named manifest.json, and then the manifest. What is no manifest is left alone.
func (s *Server) rivalManifest(b *bucket, key string, now time.Time) {
	var body []byte
	if o := b.get(key); o != nil {
		body = o.body
	}
	next, gen, err := NextGeneration(body, now)
	if err != nil {
		return
	}
	if dir, ok := strings.CutSuffix(key, "manifest.json"); ok {
		s.rivalPut(b, fmt.Sprintf("%smanifests/gen-%s.json", dir, gen), next)
	}
	s.rivalPut(b, key, next)
}

// NextGeneration returns a bucket manifest one generation on, and that generation in decimal: the same document with "generation"
// raised by one, "committed_by" naming "rival" and "committed_at" now, every other byte as it was. An empty body makes a first manifest.
func NextGeneration(body []byte, now time.Time) (next []byte, generation string, err error) {
	at := now.UTC().Format("2006-01-02T15:04:05.000000000Z")
	if len(bytes.TrimSpace(body)) == 0 {
		return fmt.Appendf(nil, `{"format":1,"generation":1,"committed_at":%q,"committed_by":"rival","entries":{},"tombstones":{},"collected":{},"pointers":{},"control_heads":{}}`, at), "1", nil
	}
	spans, err := topLevel(body)
	if err != nil {
		return nil, "", err
	}
	g, ok := spans["generation"]
	if !ok {
		return nil, "", fmt.Errorf("the manifest has no generation")
	}
	n, ok := new(big.Int).SetString(string(body[g[0]:g[1]]), 10)
	if !ok {
		return nil, "", fmt.Errorf("generation %s is no integer", body[g[0]:g[1]])
	}
	generation = n.Add(n, big.NewInt(1)).String()
	fresh := map[string]string{"generation": generation, "committed_by": `"rival"`, "committed_at": `"` + at + `"`}
	var out bytes.Buffer
	for pos := 0; pos < len(body); {
		end, name := len(body), ""
		for k := range fresh {
			if sp, ok := spans[k]; ok && sp[0] >= pos && sp[0] < end {
				end, name = sp[0], k
			}
		}
		out.Write(body[pos:end])
		pos = end
		if name != "" {
			out.WriteString(fresh[name])
			pos = spans[name][1]
		}
	}
	return out.Bytes(), generation, nil
}

// topLevel finds where the value of each member of a JSON object begins and ends.
func topLevel(doc []byte) (map[string][2]int, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("the manifest is no JSON object")
	}
	spans := map[string][2]int{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		spans[fmt.Sprint(name)] = [2]int{end - len(raw), end}
	}
	_, err := dec.Token()
	return spans, err
}

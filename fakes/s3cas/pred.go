package s3cas

import (
	"net/textproto"
	"slices"
	"strings"
	"sync"
)

// opTest is a predicate without arguments.
type opTest func(*request) bool

func isOp(ops ...Op) opTest {
	return func(rq *request) bool { return slices.Contains(ops, rq.op) }
}

// opTests are the words a predicate can be: each operation by its name, classes of them, and conditions.
var opTests = map[string]opTest{
	"Any":               func(*request) bool { return true },
	"Put":               isOp(OpPut),
	"Get":               isOp(OpGet),
	"Head":              isOp(OpHead),
	"Delete":            isOp(OpDelete),
	"List":              isOp(OpList),
	"Copy":              isOp(OpCopy),
	"DeleteObjects":     isOp(OpDeleteObjects),
	"CreateMultipart":   isOp(OpCreateMultipart),
	"UploadPart":        isOp(OpUploadPart),
	"UploadPartCopy":    isOp(OpUploadPartCopy),
	"CompleteMultipart": isOp(OpCompleteMultipart),
	"AbortMultipart":    isOp(OpAbortMultipart),
	"ListParts":         isOp(OpListParts),
	"ListUploads":       isOp(OpListUploads),
	"ListBuckets":       isOp(OpListBuckets),
	"HeadBucket":        isOp(OpHeadBucket),
	"CreateBucket":      isOp(OpCreateBucket),
	"DeleteBucket":      isOp(OpDeleteBucket),
	"Multipart":         func(rq *request) bool { return rq.op.multipart() },
	"Reads":             func(rq *request) bool { return !rq.op.writes() && rq.op != OpOther },
	"Writes":            func(rq *request) bool { return rq.op.writes() },
	"IfMatch":           func(rq *request) bool { return rq.cond.hasIfMatch },
	"IfNoneMatch":       func(rq *request) bool { return rq.cond.hasIfNoneMatch },
	"Conditional":       func(rq *request) bool { return rq.cond.conditional() },
	"PutIfMatch":        func(rq *request) bool { return rq.op == OpPut && rq.cond.hasIfMatch },
	"PutIfNoneMatch":    func(rq *request) bool { return rq.op == OpPut && rq.cond.hasIfNoneMatch },
	"PutPlain":          func(rq *request) bool { return rq.op == OpPut && !rq.cond.conditional() },
	"DeleteIfMatch":     func(rq *request) bool { return rq.op == OpDelete && rq.cond.hasIfMatch },
}

// predShapes are the predicates with arguments: one letter per atom, and * for any number of predicates, 1 for exactly one.
var predShapes = map[string]string{
	"Key": "s", "Bucket": "s", "Principal": "s", "Header": "ss", "OnIndex": "i", "FromIndex": "i", "And": "*", "Or": "*", "Not": "1",
}

// PredicateNames lists the words and lists a predicate can be, sorted.
func PredicateNames() []string {
	var out []string
	for w := range opTests {
		out = append(out, w)
	}
	for w, sh := range predShapes {
		arg := map[string]string{"s": "\"glob\"", "ss": "\"name\" \"glob\"", "i": "n", "*": "p…", "1": "p"}[sh]
		out = append(out, "("+w+" "+arg+")")
	}
	slices.Sort(out)
	return out
}

func toPred(text string, n node) (*pred, error) {
	if !n.list {
		if n.atom.kind == kindWord && opTests[n.atom.s] != nil {
			return &pred{name: n.atom.s}, nil
		}
		return nil, syntax(text, n.at, "there is no predicate %s; a fault ends with one, such as Any", n.atom)
	}
	name := n.head()
	shape, ok := predShapes[name]
	if !ok {
		return nil, syntax(text, n.at, "there is no predicate (%s …)", name)
	}
	p := &pred{name: name}
	rest := n.kids[1:]
	switch {
	case shape == "*" && len(rest) == 0, shape == "1" && len(rest) != 1:
		return nil, syntax(text, n.at, "%s takes predicates: And and Or at least one, Not exactly one", name)
	case shape == "*" || shape == "1":
		for _, k := range rest {
			kid, err := toPred(text, k)
			if err != nil {
				return nil, err
			}
			p.kids = append(p.kids, kid)
		}
		return p, nil
	}
	got := ""
	for _, k := range rest {
		if k.list {
			return nil, syntax(text, k.at, "%s takes no list", name)
		}
		p.args = append(p.args, k.atom)
		got += string(rune(k.atom.kind))
	}
	if got != shape {
		return nil, syntax(text, n.at, "%s takes %s", name, strings.TrimSuffix(describeShapes([]string{shape}), ", and then a predicate"))
	}
	if shape == "i" && p.args[0].n < 0 {
		return nil, syntax(text, n.at, "%s counts from 0", name)
	}
	return p, nil
}

// matcher is a predicate with the counters of one injection.
type matcher struct {
	mu   sync.Mutex
	root *matchNode
}

type matchNode struct {
	p       *pred
	kids    []*matchNode
	counts  bool // holds OnIndex or FromIndex, itself or below
	counter int
}

func newMatcher(p *pred) *matcher { return &matcher{root: newMatchNode(p)} }

func newMatchNode(p *pred) *matchNode {
	n := &matchNode{p: p, counts: p.name == "OnIndex" || p.name == "FromIndex"}
	for _, k := range p.kids {
		kid := newMatchNode(k)
		n.kids = append(n.kids, kid)
		n.counts = n.counts || kid.counts
	}
	return n
}

// match judges one request. Each request is shown once to each injection, so that its counters count requests.
func (m *matcher) match(rq *request) bool {
	if m.root.counts {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	return m.root.match(rq)
}

func (n *matchNode) match(rq *request) bool {
	switch n.p.name {
	case "Key":
		return Glob(n.p.args[0].s, rq.key)
	case "Bucket":
		return Glob(n.p.args[0].s, rq.bucketName)
	case "Principal":
		return Glob(n.p.args[0].s, rq.principal)
	case "Header":
		v, ok := headerOf(rq.header, textproto.CanonicalMIMEHeaderKey(n.p.args[0].s))
		return ok && Glob(n.p.args[1].s, v)
	case "OnIndex":
		n.counter++
		return n.counter-1 == n.p.args[0].n
	case "FromIndex":
		n.counter++
		return n.counter-1 >= n.p.args[0].n
	case "Not":
		return !n.kids[0].match(rq)
	case "Or":
		any := false
		for _, k := range n.kids { // all of them, so that every counter counts
			any = k.match(rq) || any
		}
		return any
	case "And":
		return n.matchAnd(rq)
	}
	return opTests[n.p.name](rq)
}

// matchAnd asks what does not count first: a counter inside And counts the requests that its neighbours let through, wherever it
// stands among them.
func (n *matchNode) matchAnd(rq *request) bool {
	for _, k := range n.kids {
		if !k.counts && !k.match(rq) {
			return false
		}
	}
	all := true
	for _, k := range n.kids {
		if k.counts {
			all = k.match(rq) && all
		}
	}
	return all
}

package land

import "github.com/apache/arrow-go/v18/arrow/memory"

// presence says which of the rows covered so far hold a value.
type presence struct {
	n     int // rows covered
	nulls int
	set   []byte // Arrow's bitmap, nil while no row is null
}

// value covers the next row with a value.
func (p *presence) value() {
	if p.set != nil {
		p.grow()
		p.set[p.n/8] |= 1 << (p.n % 8)
	}
	p.n++
}

// null covers the next row with none.
func (p *presence) null() {
	if p.set == nil {
		p.set = make([]byte, p.n/8+1, (p.n/8+1)*2+64)
		for i := range p.n {
			p.set[i/8] |= 1 << (i % 8)
		}
	}
	p.grow()
	p.nulls++
	p.n++
}

// grow makes room for the next row's bit.
func (p *presence) grow() {
	if p.n/8 >= len(p.set) {
		p.set = append(p.set, 0)
	}
}

// holds reports whether a row that is covered has a value.
func (p *presence) holds(row int) bool { return p.set == nil || p.set[row/8]&(1<<(row%8)) != 0 }

// buffer is the bitmap as an Arrow array takes it, nil where no row is null.
func (p *presence) buffer() *memory.Buffer {
	if p.nulls == 0 {
		return nil
	}
	return memory.NewBufferBytes(p.set)
}

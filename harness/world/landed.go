package world

// LandedAs lists the rows that a node's successful landing of that run put into the table; false where there was none.
func (w *World) LandedAs(table, run string, n *Node) ([]Row, bool) {
	for _, l := range w.Table(table).landed {
		if l.run == run && l.node == n.ID {
			return l.rows, true
		}
	}
	return nil, false
}

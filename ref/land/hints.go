package land

import "contextful/ref/fault"

// What the sender of an input that was refused can do. Each works as it stands; a refusal of one value says only what is wrong with
// it, and takes the sentence of its code.
const (
	correctRow     = "correct the row or leave it out: nothing of this input has landed"
	correctValue   = "send what the column holds, or send this under another column name: a stored type is never narrowed"
	oneObject      = `a line is one object, such as {"id": 1}; csv and parquet are the other formats (--format, or format of the source)`
	oneArray       = "rows stand one per line: jq -c '.[]' writes the entries of an array as lines"
	byteOrderMark  = "tail -c +4 <file> is the file without its first three bytes, the mark"
	quoteFields    = "a field with a comma or a line end in it stands in quotes, and a quote in it is written twice"
	closeQuote     = "is a quote left open?"
	renameColumn   = "rename one of the two"
	notParquet     = "copy the file again if it was cut short; text is jsonl or csv (--format, or format of the source)"
	readAgain      = "nothing of this input has landed: the same command can be run again"
	castColumn     = "cast the column to a type that a column can have, or leave it out of the file"
	giveInstant    = "--now takes the clock's instant"
	plainName      = "send a name such as desk or eu-west-1"
	renameTheField = "rename the column in the input"
)

// hinted gives a refusal its own advice.
func (e *rowError) hinted(hint string) *rowError { e.hint = hint; return e }

// advice is the hint of a refusal.
func (e *rowError) advice() string {
	switch {
	case e.hint != "":
		return e.hint
	case e.code == fault.StoreInputMalformed:
		return correctRow
	case e.code == fault.StoreUnsupported:
		return castColumn
	}
	return correctValue
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"contextful/ref/fault"
)

// output is standard output, and remembers that it broke.
type output struct {
	w      io.Writer
	broken atomic.Pointer[error]
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.broken.CompareAndSwap(nil, &err)
	}
	return n, err
}

// lost is the refusal of a command whose result did not reach its reader, nil where it did.
func (o *output) lost() error {
	err := o.broken.Load()
	if err == nil {
		return nil
	}
	return &fault.Error{Code: "OutputFailed", Message: "the result could not be written to standard output; what the command did before stands", Err: *err}
}

// refusal is what a program reads on standard error under --json.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Subject string `json:"subject"`
	Hint    string `json:"hint"`
}

// refuse prints an error for a person ("<Code>: <what>" and at most one "hint: …", with lines to copy indented below it) or, under
// --json, for a program.
func (a *app) refuse(err error) {
	r := describe(err)
	if r.Hint == usageHint && a.meant != nil && a.meant.HasParent() && a.meant.Name() != "help" {
		r.Hint = a.meant.CommandPath() + " --help says how it is called"
	}
	if a.json && encode(a.stderr, r) == nil {
		return
	}
	fmt.Fprintf(a.stderr, "%s: %s\n", r.Code, r.Message)
	if r.Hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", strings.ReplaceAll(r.Hint, "\n", "\n  "))
	}
}

const usageHint = "contextful --help lists the commands"

func describe(err error) refusal {
	var usage usageError
	if errors.As(err, &usage) {
		return refusal{Code: string(codeUsage), Message: oneLine(usage.Error()), Hint: usageHint}
	}
	var f *fault.Error
	if errors.As(err, &f) {
		message := f.Message
		if f.Err != nil {
			message += ": " + f.Err.Error()
		}
		return refusal{Code: string(f.Code), Message: oneLine(message), Subject: f.Subject, Hint: ofLines(f.Hint)}
	}
	return refusal{Code: "Failed", Message: oneLine(err.Error())}
}

// oneLine shows an error's text as one line that a terminal only prints: control characters and bytes that are no text stand
// escaped, and beyond what a person reads it is cut.
func oneLine(text string) string {
	const most = 2000
	var b strings.Builder
	for i, size := 0, 0; i < len(text); i += size {
		if b.Len() >= most {
			b.WriteString("…")
			break
		}
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && size == 1 || !unicode.IsPrint(r):
			quoted := strconv.Quote(text[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ofLines is oneLine for a hint that shows lines to copy.
func ofLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = oneLine(line)
	}
	return strings.Join(lines, "\n")
}

func (a *app) interrupted() {
	a.refuse(&fault.Error{Code: "Interrupted", Message: "stopped before the end; nothing half done is visible"})
}

// log prints one line for a person on standard error, unless --quiet. What it says may come from a file or a program.
func (a *app) log(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.stderr, oneLine(fmt.Sprintf(format, args...)))
	}
}

// warn prints one line that --quiet does not silence.
func (a *app) warn(text string) { fmt.Fprintln(a.stderr, "warning: "+oneLine(text)) }

// print gives a verb's report: the object under --json, otherwise the sentence.
func (a *app) print(report any, sentence string, args ...any) error {
	if !a.json {
		_, err := fmt.Fprintf(a.stdout, sentence+"\n", args...)
		return err
	}
	return encode(a.stdout, report)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// terminal reports whether f is an interactive terminal that may be drawn on.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// list prints a report of many lines: the object under --json, otherwise the lines, aligned in columns.
func (a *app) list(report any, lines []string) error {
	if a.json {
		return encode(a.stdout, report)
	}
	out := bufio.NewWriter(a.stdout) // a tabwriter writes cell by cell
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
	return errors.Join(w.Flush(), out.Flush())
}

// columns joins the cells of one line for list.
func columns(first string, rest ...string) string {
	return strings.Join(append([]string{first}, rest...), "\t")
}

// count says "1 row", "2 rows".
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A result is one row of the table. Ratio is ours over the peer's: below 1 we are faster. Most and Least are the bounds of the project, 0 for none.
type result struct {
	what, ours   string
	peer, theirs string
	ratio        float64 // 0: none to print
	most, least  float64
	note         string
}

func (r result) within() bool { return (r.most == 0 || r.ratio <= r.most) && r.ratio >= r.least }

func (b *bench) add(r result) { b.results = append(b.results, r) }

// pair adds a row of two times.
func (b *bench) pair(what string, ours []time.Duration, peer string, theirs []time.Duration, note string) {
	b.add(result{what: what, ours: show(median(ours)), peer: peer, theirs: show(median(theirs)), ratio: float64(median(ours)) / float64(median(theirs)), note: note})
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "\nratio = ours / peer: below 1 we are faster. Medians of %d rounds, each round ours then theirs.\n\n", b.rounds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHAT\tOURS\tPEER\tTHEIRS\tRATIO\tBOUND")
	for _, r := range b.results {
		ratio, bound := "–", ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		switch {
		case r.least > 0:
			bound = fmt.Sprintf("%.1f to %.1f", r.least, r.most)
		case r.most > 0:
			bound = fmt.Sprintf("at most %.1f", r.most)
		}
		if !r.within() {
			bound += "  BROKEN"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.ours, r.peer, r.theirs, ratio, bound)
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, r := range b.results {
		if r.note != "" {
			fmt.Fprintf(w, "%s: %s\n", r.what, r.note)
		}
	}
}

// broken is the error of the bounds that do not hold.
func (b *bench) broken() error {
	var errs []error
	for _, r := range b.results {
		if !r.within() {
			errs = append(errs, fmt.Errorf("%s: the ratio %.2f is out of its bound", r.what, r.ratio))
		}
	}
	return errors.Join(errs...)
}

func median[T interface{ ~int64 | ~float64 }](list []T) T {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

func show(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}

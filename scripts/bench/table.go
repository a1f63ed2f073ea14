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
	cpu          float64 // the same of processor time, user and system: steadier on a busy machine; 0: not measured
	most, least  float64
	note         string
}

func (r result) within() bool { return (r.most == 0 || r.ratio <= r.most) && r.ratio >= r.least }

func (b *bench) add(r result) { b.results = append(b.results, r) }

// pair adds a row of two times. cpu is the ratio of processor times, 0 where it was not measured.
func (b *bench) pair(what string, ours []time.Duration, peer string, theirs []time.Duration, cpu float64, note string) {
	b.add(result{what: what, ours: show(median(ours)), peer: peer, theirs: show(median(theirs)), ratio: ratio(ours, theirs), cpu: cpu, note: note})
}

// ratio is the one of two medians; 0 where the second is.
func ratio(ours, theirs []time.Duration) float64 {
	if median(theirs) == 0 {
		return 0
	}
	return float64(median(ours)) / float64(median(theirs))
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "\nratio = ours / peer: below 1 we are faster. Medians of %d rounds, each round ours then theirs. CPU: the ratio of\nprocessor times, which the neighbours on a machine disturb less.\n\n", b.rounds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHAT\tOURS\tPEER\tTHEIRS\tRATIO\tCPU\tBOUND")
	for _, r := range b.results {
		ratio, cpu, bound := "–", "–", ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		if r.cpu > 0 {
			cpu = fmt.Sprintf("%.2f", r.cpu)
		}
		switch {
		case r.least > 0:
			bound = fmt.Sprintf("%.1f to %.1f", r.least, r.most)
		case r.most > 0:
			bound = fmt.Sprintf("at most %.2f", r.most)
		}
		if !r.within() {
			bound += "  BROKEN"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.ours, r.peer, r.theirs, ratio, cpu, bound)
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

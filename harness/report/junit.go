package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
	seconds   float64
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Class     string        `xml:"classname,attr"`
	File      string        `xml:"file,attr"`
	Line      int           `xml:"line,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitSkipped `xml:"skipped"`
	SystemOut string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the report as JUnit XML, one suite per operation. It says failure exactly where the run's exit status
// counts one: a failing SHOULD without --strict and an expected failure are skipped, with the reason as message; a
// required service that is missing, and a baseline entry that passes, are failures.
func JUnit(w io.Writer, r *Report) error {
	doc := junitSuites{Name: "contextful-conform: " + r.SUT.Name, Time: seconds(r.Seconds)}
	at := map[string]int{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		n, ok := at[s.Area]
		if !ok {
			n = len(doc.Suites)
			at[s.Area] = n
			doc.Suites = append(doc.Suites, junitSuite{Name: s.Area, Timestamp: r.Started.UTC().Format(time.RFC3339)})
		}
		suite := &doc.Suites[n]
		c := r.junitCase(s)
		suite.Cases = append(suite.Cases, c)
		suite.seconds += s.Seconds
		suite.Tests++
		doc.Tests++
		switch {
		case c.Failure != nil:
			suite.Failures++
			doc.Failures++
		case c.Error != nil:
			suite.Errors++
			doc.Errors++
		case c.Skipped != nil:
			suite.Skipped++
			doc.Skipped++
		}
	}
	for i := range doc.Suites {
		doc.Suites[i].Time = seconds(doc.Suites[i].seconds)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(f float64) string { return fmt.Sprintf("%.3f", f) }

func (r *Report) junitCase(s *Scenario) junitCase {
	c := junitCase{Name: s.ID, Class: s.Area, File: "features/" + s.Feature, Line: s.Line, Time: seconds(s.Seconds)}
	reason := s.Reason
	if reason == "" {
		reason = string(s.Verdict)
	}
	problem := &junitProblem{Message: reason, Type: string(s.Verdict), Text: problemText(s)}
	skipped := &junitSkipped{Message: string(s.Verdict) + ": " + reason}
	switch {
	case s.Verdict == Pass:
	case s.Verdict == Fail && s.Level == "SHOULD" && !r.Selection.Strict:
		skipped.Message = "a SHOULD, reported only: " + reason
		c.Skipped, c.SystemOut = skipped, problem.Text
	case s.Verdict == Fail, s.Verdict == XPass, s.Verdict == Unavailable && r.Selection.Require:
		c.Failure = problem
	case s.Verdict == Error, s.Verdict == NotRun && !r.Interrupted:
		c.Error = problem
	default:
		c.Skipped = skipped
	}
	return c
}

func problemText(s *Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(s.Tags, ", "))
	for _, st := range s.Steps {
		fmt.Fprintf(&b, "%s %s %s\n", mark(st.Status), st.Keyword, st.Text)
	}
	if m := s.Mismatch; m != nil {
		fmt.Fprintf(&b, "%s\nexpected: %s\nactual:   %s\n", m.What, under(m.Expected), under(m.Actual))
	}
	if s.Bundle != "" {
		fmt.Fprintf(&b, "bundle: %s\n", s.Bundle)
	}
	b.WriteString(s.Reproduce)
	return b.String()
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// scenarios counts the kit's report.json by verdict. pass passed; unsupported and xfail are skipped, and so is
// unavailable unless services are required; every other verdict is a failure. When the kit itself exited 0, a fail in
// its report is a SHOULD it only reports: that is skipped, with a note.
func scenarios(file string, required bool, c *Counts) error {
	var report struct {
		Complete  bool `json:"complete"`
		Scenarios []struct {
			ID      string `json:"id"`
			Verdict string `json:"verdict"`
		} `json:"scenarios"`
	}
	if err := readJSON(file, &report); err != nil {
		return err
	}
	by := map[string]int{}
	for _, s := range report.Scenarios {
		by[s.Verdict]++
		switch s.Verdict {
		case "pass":
			c.Passed++
		case "unsupported", "xfail":
			c.Skipped++
		case "unavailable":
			if required {
				c.Failed++
				c.note("unavailable: %s", s.ID)
			} else {
				c.Skipped++
			}
		case "fail":
			if c.Exit == 0 {
				c.Skipped++
				c.note("fails, but the kit does not hold it against the run: %s", s.ID)
			} else {
				c.Failed++
				c.note("fail: %s", s.ID)
			}
		default:
			c.Failed++
			c.note("%s: %s", s.Verdict, s.ID)
		}
	}
	if c.Passed+c.Failed+c.Skipped == 0 {
		return fmt.Errorf("%s has no scenario", file)
	}
	c.note("scenarios: %s", verdicts(by))
	if !report.Complete {
		return fmt.Errorf("%s says it is not complete", file)
	}
	return nil
}

// hunt counts mutants.json: killed passed, everything else failed.
func hunt(file string, c *Counts) error {
	var report struct {
		Mutants []struct {
			ID     string `json:"id"`
			Result string `json:"result"`
		} `json:"mutants"`
	}
	if err := readJSON(file, &report); err != nil {
		return err
	}
	for _, m := range report.Mutants {
		if m.Result == "killed" {
			c.Passed++
			continue
		}
		c.Failed++
		c.note("%s: %s", m.Result, m.ID)
	}
	if len(report.Mutants) == 0 {
		return errors.New(file + " has no mutant")
	}
	return nil
}

func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func verdicts(by map[string]int) string {
	var parts []string
	for _, verdict := range sortedKeys(by) {
		parts = append(parts, fmt.Sprintf("%d %s", by[verdict], verdict))
	}
	return strings.Join(parts, ", ")
}

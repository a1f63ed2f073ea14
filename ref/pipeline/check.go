package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"contextful/ref/decl"
	"contextful/ref/fault"
)

// Finding is something about a declaration. One without a Code is a warning: the declaration stands.
type Finding struct {
	Code    fault.Code
	Subject string // the table, job or pipeline
	Message string
}

// Check looks at what a declaration that can be read asks for: that its sources can be, that jobs name tables there are, and that a
// scheduled fold job covers each keyed table (store.declare.fold-job). Problems stand before warnings.
func Check(p *decl.Project) []Finding {
	var problems, warnings []Finding
	problem := func(subject, format string, args ...any) {
		problems = append(problems, Finding{fault.StoreDeclarationInvalid, subject, fmt.Sprintf(format, args...)})
	}
	warn := func(subject, format string, args ...any) {
		warnings = append(warnings, Finding{Subject: subject, Message: fmt.Sprintf(format, args...)})
	}
	dir := filepath.Dir(p.Path)
	for _, line := range p.Pipelines {
		src := line.Source
		if src == nil {
			continue
		}
		if len(line.Tables) == 0 {
			problem(line.ID, "%s: pipeline %q has a source and no [[pipeline.tables]]", line.Path, line.ID)
		}
		if src.Kind == "command" {
			if _, err := program(src.Command[0], dir); err != nil {
				problem(line.ID, "%s: pipeline %q: command %q cannot be run: %v", line.Path, line.ID, src.Command[0], err)
			}
			continue
		}
		for _, table := range line.Tables {
			path := strings.ReplaceAll(src.Path, decl.TableWord, table)
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				warn(line.ID, "pipeline %q: %s is not there yet, and a run fails until it is", line.ID, path)
			} else if err != nil {
				problem(line.ID, "%s: pipeline %q: %v", line.Path, line.ID, err)
			}
			if !strings.Contains(src.Path, decl.TableWord) {
				break
			}
		}
	}
	for _, job := range p.Jobs {
		if job.Target != "" && p.Table(job.Target) == nil {
			problem(job.Name, "%s: job %q targets table %q, which is not declared", job.Path, job.Name, job.Target)
		}
	}
	for _, t := range p.Tables {
		if t.AvailableTime != nil {
			for _, a := range t.AvailableTime.Adjustments {
				if p.Table(a.Table) == nil {
					warn(t.Name, "table %q is adjusted by table %q, which is not declared: a read bounded on availability refuses until it is there", t.Name, a.Table)
				}
			}
		}
		if t.Keyed() && !p.Folds(t.Name) {
			warn(t.Name, "table %q has a primary_key and no scheduled fold job covers it: it grows slower to read with every run", t.Name)
		}
	}
	return append(problems, warnings...)
}

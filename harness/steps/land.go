package steps

import (
	"context"
	"encoding/json"
	"strings"

	"contextful/harness/world"
)

// Steps of the land operation: inputs that are not what they should be, disks that do not take them, and two at a time.
func registerLand(s *Suite) {
	registerTogether(s)
	registerCrowd(s)
	registerBrought(s)
	registerDisk(s)
	s.Step(`^(\w+) lands (\d+) rows of "([^"]*)" whose line (\d+) is (.+)$`, landsWithLine)
}

// landsWithLine lands generated rows, one line of the input replaced as it stands.
func landsWithLine(ctx context.Context, node string, n int, table string, line int, text string) error {
	w := world.From(ctx)
	rows := fresh(w, table, n, 3)
	input, err := world.JSONLines(rows)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(input), "\n"), "\n")
	lines[line-1] = text
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var own world.Row
	if d.Decode(&own) == nil { // what is no row is not expected either
		rows[line-1] = own
	}
	file, err := w.Node(node).InputFile("lines.jsonl", []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	return land(ctx, w, node, world.Landing{Table: table, Rows: rows, File: file})
}

// Command contextful is the reference implementation of the contextful store: wiring only. Each command parses its flags,
// builds what it needs from ports and adapters, calls one verb and prints its report.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"contextful/ref/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process where it stands
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// grace is how long an interrupted command may take to end by itself.
const grace = 2 * time.Second

// ended waits for the command. A read of a terminal, a pipe or a FIFO does not end with a signal: after the grace the process
// leaves it behind, and the next holder of the locks finds what it would find after a kill.
func ended(ctx context.Context, command func() error) error {
	result := make(chan error, 1)
	go func() { result <- command() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}

// run executes one command line and gives its exit status (exit.go).
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{w: stdout}
	app := &app{stdin: stdin, stdout: out, stderr: stderr, args: args}
	root := app.root()
	root.SetArgs(args)
	err := ended(ctx, func() (err error) {
		app.meant, err = root.ExecuteContextC(ctx)
		return err
	})
	if lost := out.lost(); lost != nil && ctx.Err() == nil {
		// Whatever a verb makes of it, this is what happened; what it did before it spoke stands.
		app.refuse(lost)
		return exitRefused
	}
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil {
		app.interrupted()
		return exitInterrupted
	}
	if !app.started && fault.CodeOf(err) == "" {
		err = usageError{err} // cobra's own refusals have no type
		app.json = app.json || asksJSON(args)
	}
	var reported reportedError
	if !errors.As(err, &reported) {
		app.refuse(err)
	}
	return exitOf(err)
}

// asksJSON finds --json on a command line that was not parsed to its end.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

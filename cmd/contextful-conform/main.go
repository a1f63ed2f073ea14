// Command contextful-conform is the conformance kit as one binary: it asks an implementation of the contextful store every
// question of features/ and says which clauses of spec/ it meets.
//
// One file per command; main and root only wire them.
//
// EXIT STATUS of run: 0 conformant, 1 not conformant, 2 configuration or harness error, 3 nothing was judged, 4 stale
// baseline, 130 interrupted. Every other command: 0 done, 1 it says no, 2 usage or configuration.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// exitCode is an error that only says how to exit: everything there was to say has been printed.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func execute(ctx context.Context, args []string) int {
	return executeTo(ctx, args, os.Stdout, os.Stderr)
}

func executeTo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(root.ErrOrStderr(), "contextful-conform:", err)
	return 2
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "contextful-conform", Short: "Ask an implementation of the contextful store whether it keeps the law",
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true}}
	root.AddCommand(commands()...)
	return root
}

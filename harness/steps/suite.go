// Package steps holds the words of the features: common.go and its neighbours those that every operation uses, one file
// per operation the rest. A step translates: what compares lives in verify, what reads in inspect, what waits and asks in
// world. docs/steps.md lists every step.
//
// A step returns a *verify.Mismatch (through the checks of verify) where the implementation is wrong, and any other error
// where the kit could not look.
//
// Answers: no clause; it is how the clauses are asked.
package steps

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// A Suite collects the steps.
type Suite struct {
	defs []Definition
	file string
}

// A Definition is one step: its expression and its function, func(ctx, args…) error.
type Definition struct {
	Expr *regexp.Regexp
	Fn   any
	File string // the name of the register function's group: "common", "pull"
}

// Step registers a step. Arguments are the groups of the expression (string, int), then a *godog.Table or *godog.DocString
// where the step has one. A bad expression or function is reported by All.
func (s *Suite) Step(expr string, fn any) {
	re, err := regexp.Compile(expr)
	if err != nil {
		re = regexp.MustCompile(`^\b\B$`) // matches nothing; TestAll finds it by its File
		s.defs = append(s.defs, Definition{Expr: re, File: s.file + ": " + err.Error()})
		return
	}
	s.defs = append(s.defs, Definition{Expr: re, Fn: fn, File: s.file})
}

// groups is the explicit list: one entry per file. Add yours here.
func groups() []struct {
	name     string
	register func(*Suite)
} {
	return []struct {
		name     string
		register func(*Suite)
	}{
		{"common", registerCommon},
		{"tables", registerTables},
		{"reading", registerReading},
		{"refusal", registerRefusal},
		{"wire", registerWire},
		{"crash", registerCrash},
		{"pull", registerPull},
		{"probe", registerProbe},
		{"fold_leased", registerFoldLeased},
		{"lease", registerLease},
		{"merge", registerMerge},
		{"push", registerPush},
		{"emit", registerEmit},
		{"endpoint", registerEndpoint},
		{"init", registerInit},
		{"layout", registerLayout},
		{"catalogs", registerCatalogs},
		{"land", registerLand},
		{"declare", registerDeclare},
		{"reserve", registerReserve},
		{"reconcile", registerReconcile},
		{"typed", registerTyped},
		{"fold", registerFold},
		{"fold_carried", registerFoldCarried},
		{"layout_format", registerLayoutFormat},
		{"bound", registerBound},
		{"clocks", registerClocks},
		{"folded", registerFolded},
		{"folded_damage", registerFoldedDamage},
		{"retain", registerRetain},
		{"query", registerQuery},
		{"reconcile_together", registerReconcileTogether},
		{"respond", registerRespond},
		{"vintage_landing", registerVintageLanding},
		{"capture", registerCapture},
		{"feed", registerFeed},
	}
}

// All lists every step; the error names a step that cannot be.
func All() ([]Definition, error) {
	s := &Suite{}
	for _, g := range groups() {
		s.file = g.name
		g.register(s)
	}
	seen := map[string]string{}
	for _, d := range s.defs {
		if strings.Contains(d.File, ": ") {
			return nil, fmt.Errorf("step of %s", d.File)
		}
		if other, dup := seen[d.Expr.String()]; dup {
			return nil, fmt.Errorf("%s and %s both define the step %s", other, d.File, d.Expr)
		}
		seen[d.Expr.String()] = d.File
		t := reflect.TypeOf(d.Fn)
		if t == nil || t.Kind() != reflect.Func || t.NumIn() == 0 || t.In(0) != reflect.TypeFor[context.Context]() || t.NumOut() != 1 || t.Out(0) != reflect.TypeFor[error]() {
			return nil, fmt.Errorf("the step %s of %s is no func(context.Context, …) error", d.Expr, d.File)
		}
		if want := t.NumIn() - 1; want != d.Expr.NumSubexp() && want != d.Expr.NumSubexp()+1 {
			return nil, fmt.Errorf("the step %s of %s has %d groups for %d arguments", d.Expr, d.File, d.Expr.NumSubexp(), want)
		}
	}
	return s.defs, nil
}

// A Panic is a step that panicked: an error of the kit.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("the step panicked: %v\n%s", p.Value, p.Stack) }

// Stuck is a step that did not end though its context had.
type Stuck struct{ Step string }

func (s *Stuck) Error() string { return "the step did not end: " + s.Step }

// Guarded wraps the function so that a panic is an error, and a step that does not end when its context does is left
// behind after grace.
func (d Definition) Guarded(grace time.Duration) any {
	fn := reflect.ValueOf(d.Fn)
	return reflect.MakeFunc(fn.Type(), func(in []reflect.Value) []reflect.Value {
		ctx := in[0].Interface().(context.Context)
		result := make(chan error, 1)
		go func() {
			defer func() {
				if v := recover(); v != nil {
					result <- &Panic{v, string(debug.Stack())}
				}
			}()
			err, _ := fn.Call(in)[0].Interface().(error)
			result <- err
		}()
		var err error
		select {
		case err = <-result:
		case <-ctx.Done():
			late := time.NewTimer(grace)
			defer late.Stop()
			select {
			case err = <-result:
			case <-late.C:
				err = &Stuck{d.Expr.String()}
			}
		}
		if err == nil {
			return []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
		}
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}).Interface()
}

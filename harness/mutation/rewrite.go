package mutation

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strconv"
	"strings"
)

// hook is the name under which a mutated file imports the package that reads the environment.
const hook = "mutant__"

// A Dead mutant cannot be compiled in, and why.
type Dead struct {
	ID  string
	Why string
}

// A change replaces a byte range of the original text.
type change struct {
	span
	text string
}

// A variant is one function with one mutant's changes.
type variant struct {
	id      string
	changes []change
}

// A file is one source file on its way to its mutated form.
type file struct {
	path     string // relative to the module's root
	text     string
	lexemes  []lexeme
	fset     *token.FileSet
	syntax   *ast.File
	variants map[*ast.FuncDecl][]variant
	imports  map[string]bool // what mutants add
}

func parseFile(name, text string) (*file, error) {
	f := &file{path: name, text: text, fset: token.NewFileSet(), variants: map[*ast.FuncDecl][]variant{}, imports: map[string]bool{}}
	var err error
	if f.syntax, err = parser.ParseFile(f.fset, name, text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	f.lexemes, err = lex(text)
	return f, err
}

func (f *file) offset(pos token.Pos) int { return f.fset.Position(pos).Offset }

// add places one replacement of a mutant.
func (f *file) add(id string, e Edit) error {
	at, err := find(f.lexemes, f.text, e.Find)
	if err != nil {
		return err
	}
	swap := strings.TrimSpace(e.Swap)
	if same(f.text[at.start:at.end], swap) {
		return errors.New("swap is what find is: it changes nothing")
	}
	decl, err := f.enclosing(at)
	if err != nil {
		return err
	}
	for _, imp := range e.Imports {
		f.imports[imp] = true
	}
	c := change{at, swap}
	list := f.variants[decl]
	for i := range list {
		if list[i].id == id {
			for _, o := range list[i].changes {
				if o.start < c.end && c.start < o.end {
					return errors.New("two of its replacements overlap")
				}
			}
			list[i].changes = append(list[i].changes, c)
			return nil
		}
	}
	f.variants[decl] = append(list, variant{id, []change{c}})
	return nil
}

func same(a, b string) bool {
	x, errX := lex(a)
	y, errY := lex(b)
	if errX != nil || errY != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !x[i].same(y[i]) {
			return false
		}
	}
	return true
}

// enclosing finds the function whose body holds the range.
func (f *file) enclosing(at span) (*ast.FuncDecl, error) {
	for _, d := range f.syntax.Decls {
		if at.end <= f.offset(d.Pos()) || at.start >= f.offset(d.End()) {
			continue
		}
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			return nil, errors.New("the snippet stands outside any function: only a function body can be mutated, so let a function give the value")
		}
		if fn.Body == nil || fn.Name.Name == "_" || fn.Name.Name == "init" {
			return nil, fmt.Errorf("the function %s cannot be mutated", fn.Name.Name)
		}
		if at.start <= f.offset(fn.Body.Lbrace) || at.end > f.offset(fn.Body.Rbrace) {
			return nil, fmt.Errorf("the snippet is not inside the body of %s: a signature cannot be mutated", fn.Name.Name)
		}
		return fn, nil
	}
	return nil, errors.New("the snippet spans no declaration")
}

// mutated gives the file's new text, and the mutants whose copy is no Go.
func (f *file) mutated(hookPath string) (string, []Dead) {
	var edits []change
	var copies strings.Builder
	var dead []Dead
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || len(f.variants[fn]) == 0 {
			continue
		}
		call, named := f.call(fn)
		var cases strings.Builder
		for _, v := range f.variants[fn] {
			text := f.copyOf(fn, v)
			if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution); err != nil {
				dead = append(dead, Dead{v.id, "with swap in place of find, " + fn.Name.Name + " is no Go: " + firstSyntaxError(err)})
				continue
			}
			fmt.Fprintf(&cases, "case %q: %s; ", v.id, call(copyName(v.id, fn.Name.Name)))
			fmt.Fprintf(&copies, "\n//line %s@%s:%d\n%s\n", v.id, path.Base(f.path), f.fset.Position(fn.Pos()).Line, text)
		}
		if cases.Len() == 0 {
			continue
		}
		edits = append(edits, named...)
		brace := f.offset(fn.Body.Lbrace) + 1
		edits = append(edits, change{span{brace, brace}, " switch " + hook + ".Active() { " + cases.String() + "}; "})
	}
	if len(edits) == 0 {
		return f.text, dead
	}
	after := f.offset(f.syntax.Name.End())
	edits = append(edits, change{span{after, after}, f.importClause(hookPath)})
	return apply(f.text, 0, edits) + copies.String(), dead
}

func firstSyntaxError(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if _, message, ok := strings.Cut(text, ": "); ok {
		return message
	}
	return text
}

func copyName(id, function string) string {
	return "mut_" + strings.ReplaceAll(id, "-", "_") + "__" + function
}

// copyOf is the function under the copy's name with the variant's changes in it.
func (f *file) copyOf(fn *ast.FuncDecl, v variant) string {
	start, end := f.offset(fn.Pos()), f.offset(fn.End())
	name := change{span{f.offset(fn.Name.Pos()), f.offset(fn.Name.End())}, copyName(v.id, fn.Name.Name)}
	return apply(f.text[start:end], start, append([]change{name}, v.changes...))
}

// apply replaces ranges of a text that begins at offset base of the file.
func apply(text string, base int, edits []change) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	var b strings.Builder
	at := base
	for _, e := range edits {
		b.WriteString(text[at-base : e.start-base])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(text[at-base:])
	return b.String()
}

// call gives how a copy is called with the function's own receiver and arguments, and the changes that name what the
// signature leaves without a name.
func (f *file) call(fn *ast.FuncDecl) (func(name string) string, []change) {
	n := &namer{f: f}
	receiver := ""
	if fn.Recv != nil {
		receiver = strings.Join(n.fields(fn.Recv), "") + "."
	}
	types := ""
	if fn.Type.TypeParams != nil {
		types = "[" + strings.Join(n.fields(fn.Type.TypeParams), ", ") + "]"
	}
	args := n.fields(fn.Type.Params)
	if list := fn.Type.Params.List; len(list) > 0 {
		if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
			args[len(args)-1] += "..."
		}
	}
	results := fn.Type.Results != nil && len(fn.Type.Results.List) > 0
	return func(name string) string {
		call := receiver + name + types + "(" + strings.Join(args, ", ") + ")"
		if results {
			return "return " + call
		}
		return call + "; return"
	}, n.changes
}

type namer struct {
	f       *file
	n       int
	changes []change
}

func (n *namer) fresh() string {
	n.n++
	return "mut__" + strconv.Itoa(n.n)
}

// fields lists the names of a field list, giving one to what has none.
func (n *namer) fields(list *ast.FieldList) []string {
	var out []string
	for _, field := range list.List {
		if len(field.Names) == 0 {
			name, at := n.fresh(), n.f.offset(field.Type.Pos())
			n.changes = append(n.changes, change{span{at, at}, name + " "})
			out = append(out, name)
		}
		for _, ident := range field.Names {
			name := ident.Name
			if name == "_" {
				name = n.fresh()
				n.changes = append(n.changes, change{span{n.f.offset(ident.Pos()), n.f.offset(ident.End())}, name})
			}
			out = append(out, name)
		}
	}
	return out
}

// importClause stands on the line of the package clause, so that no line moves.
func (f *file) importClause(hookPath string) string {
	has := map[string]bool{}
	for _, imp := range f.syntax.Imports {
		name := ""
		if imp.Name != nil {
			name = imp.Name.Name + " "
		}
		if p, err := strconv.Unquote(imp.Path.Value); err == nil {
			has[name+p] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "; import %s %q", hook, hookPath)
	var more []string
	for imp := range f.imports {
		if !has[imp] {
			more = append(more, imp)
		}
	}
	sort.Strings(more)
	for _, imp := range more {
		if name, p, ok := strings.Cut(imp, " "); ok {
			fmt.Fprintf(&b, "; import %s %q", name, strings.TrimSpace(p))
		} else {
			fmt.Fprintf(&b, "; import %q", imp)
		}
	}
	return b.String()
}

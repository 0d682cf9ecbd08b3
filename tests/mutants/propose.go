package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// propose draws n of the mutations of the targets and prints the survivors as
// lines for the list. A target is a package, ./folder, or a file of one; others
// after commas are packages whose tests are to notice, too.
func propose(ctx context.Context, out io.Writer, o options) (survived int, err error) {
	var all, noticing []Mutant
	for _, target := range o.words {
		target, others, _ := strings.Cut(target, ",")
		these, err := proposals(".", target)
		if err != nil {
			return 0, err
		}
		for _, m := range these {
			m.Package += "," + others
			all = append(all, m)
		}
	}
	r := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // no secret: a seed names its proposals
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	chosen := all[:min(o.propose, len(all))]
	for _, m := range chosen {
		noticing = append(noticing, m.apart()...)
	}
	t, start := &tester{limit: limit}, time.Now()
	if err := t.baseline(ctx, noticing); err != nil {
		return 0, err
	}
	t.limit = (10*time.Second + 2*time.Since(start)).Round(time.Second) // an endless loop dies of it
	died, broken := 0, 0
	for _, m := range chosen {
		by, err := "", error(nil)
		for _, one := range m.apart() {
			if by, err = t.deathOf(ctx, one); by != "" || err != nil {
				break
			}
		}
		switch {
		case ctx.Err() != nil:
			return survived, ctx.Err()
		case err != nil:
			broken++
		case by != "":
			died++
			fmt.Fprintf(out, "%s: %s\n\t%s\n", m.Name, by, oneLine(m.New))
		default:
			survived++
			fmt.Fprintf(out, "SURVIVED %s\n\t{Name: %q, File: %q, Package: %q,\n\t\tOld: `%s`, New: `%s`},\n",
				m.Name, m.Name, m.File, m.Package, m.Old, m.New)
		}
	}
	fmt.Fprintf(out, "of %d mutations %d died, %d survived, %d do not compile\n", len(all), died, survived, broken)
	return survived, nil
}

// apart is a proposal for each of the packages that are to notice it.
func (m Mutant) apart() (out []Mutant) {
	for folder := range strings.FieldsFuncSeq(m.Package, func(r rune) bool { return r == ',' }) {
		m.Package = folder
		out = append(out, m)
	}
	return out
}

// proposals are the mutations of a package or of one of its files, each of one place.
func proposals(root, target string) ([]Mutant, error) {
	folder, only := path.Clean(target), ""
	if strings.HasSuffix(target, ".go") {
		folder, only = path.Split(folder)
	}
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go")) // sorted
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s: it is no folder of this repository with Go files: %w", target, err)
	}
	var out []Mutant
	for _, name := range names {
		base := filepath.Base(name)
		built, err := build.Default.MatchFile(filepath.Dir(name), base)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(base, "_test.go") || !built || only != "" && base != only {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, base, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		at := func(p token.Pos) int { return fset.Position(p).Offset }
		text := func(n ast.Node) string { return string(src[at(n.Pos()):at(n.End())]) }
		var endless ast.Node // a loop without its step
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil || n == endless {
				return false
			}
			for _, e := range edits(n, text) {
				m := Mutant{File: path.Join(folder, base), Package: "./" + path.Clean(folder)}
				m.Name = fmt.Sprintf("%s:%d", m.File, fset.Position(e.from).Line)
				m.Old, m.New = around(src, at(e.from), at(e.to), e.text)
				out = append(out, m)
			}
			if loop, ok := n.(*ast.ForStmt); ok {
				endless = loop.Post
			}
			return !passed(n, text)
		})
	}
	return out, nil
}

// around returns the lines that hold src[from:to] with as many before them as make
// them the only such text, and the same with src[from:to] replaced by text.
func around(src []byte, from, to int, text string) (before, after string) {
	start, end := bytes.LastIndexByte(src[:from], '\n')+1, to+bytes.IndexByte(src[to:], '\n')
	for start > 0 && bytes.Count(src, bytes.TrimSpace(src[start:end])) > 1 {
		start = bytes.LastIndexByte(src[:start-1], '\n') + 1
	}
	before, after = string(src[start:end]), string(src[start:from])+text+string(src[to:end])
	return strings.TrimSpace(before), strings.TrimSpace(after)
}

type edit struct {
	from, to token.Pos
	text     string
}

var (
	operators = map[token.Token][]string{token.LSS: {"<=", ">"}, token.LEQ: {"<"}, token.GTR: {">=", "<"},
		token.GEQ: {">"}, token.EQL: {"!="}, token.NEQ: {"=="}, token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"},
		token.QUO: {"*"}, token.LAND: {"||"}, token.LOR: {"&&"}}
	constants = map[string]string{"1": "2", "2": "1", "0.5": "1", ".5": "1", "4": "2"}
	functions = map[string]string{"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min",
		"math.Abs": "", "math.Sqrt": "", "release.Up": "", "Up": "", "Down": ""}
)

// edits are the mutations at a node itself, not at those under it: an operator, a
// constant or a function for another one, a condition that is negated or decided, a
// statement that is left out.
func edits(n ast.Node, text func(ast.Node) string) (out []edit) {
	add := func(from, to token.Pos, text string) { out = append(out, edit{from, to, text}) }
	decide := func(c ast.Expr) {
		if s := text(c); !strings.HasSuffix(s, "!= nil") && !strings.HasSuffix(s, "== nil") {
			add(c.Pos(), c.End(), "!("+s+")")
			add(c.Pos(), c.End(), "false && ("+s+")")
			add(c.Pos(), c.End(), "true || "+s)
		}
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, o := range operators[n.Op] {
			if y := text(n.Y); y != "nil" {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), o)
			}
		}
	case *ast.BasicLit:
		if c, ok := constants[n.Value]; ok {
			add(n.Pos(), n.End(), c)
		}
	case *ast.CallExpr:
		if f, ok := functions[text(n.Fun)]; ok {
			add(n.Fun.Pos(), n.Fun.End(), f)
		}
	case *ast.IfStmt:
		decide(n.Cond)
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			if c := s.(*ast.CaseClause).List; n.Tag == nil && len(c) == 1 {
				decide(c[0])
			}
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && len(n.Rhs) == 1 && len(n.Lhs) == 1 && text(n.Lhs[0]) != "_" {
			add(n.Pos(), n.Rhs[0].Pos(), "_ = ")
		}
	case *ast.IncDecStmt, *ast.ExprStmt, *ast.BranchStmt:
		add(n.Pos(), n.End(), "")
	}
	return out
}

// passed tells a call whose arguments are left as they are, because they are the text of
// an error or the sign of an infinity.
func passed(n ast.Node, text func(ast.Node) string) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && notMutated.MatchString(text(call.Fun))
}

var notMutated = regexp.MustCompile(`^(fmt|errors)\.|^math\.(Is)?Inf$`)

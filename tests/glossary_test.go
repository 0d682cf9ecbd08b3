package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"privkern/tests/program"
)

var (
	glossaryRow  = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([^|]+) \| [^|]+ \|$`)
	glossaryType = regexp.MustCompile("`([a-z0-9/]+/[a-z0-9]+|runner)\\.([A-Z][A-Za-z]*)`")
	glossaryPack = regexp.MustCompile("package `([a-z0-9/]+)`|of `([a-z0-9/]+)`")
)

// The glossary defines each term once, and the Go types that it names are there.
func TestGlossary(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(program.Root(t), "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := glossaryRow.FindAllStringSubmatch(string(raw), -1)
	seen, types := map[string]bool{}, 0
	for _, row := range rows {
		term := row[1]
		if term == "term" {
			continue
		}
		t.Run(term, func(t *testing.T) {
			if seen[term] {
				t.Error("defined twice")
			}
			seen[term] = true
			for _, m := range glossaryType.FindAllStringSubmatch(row[2], -1) {
				types++
				if !declares(t, filepath.Join(program.Root(t), m[1]), m[2]) {
					t.Errorf("%s has no type %s", m[1], m[2])
				}
			}
			for _, m := range glossaryPack.FindAllStringSubmatch(row[2], -1) {
				if _, err := os.Stat(filepath.Join(program.Root(t), m[1]+m[2])); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, term := range []string{"sweep", "plan", "trial", "setting", "metric", "record", "store", "table", "cell",
		"claim", "verdict", "release", "budget", "mechanism", "program", "operation", "device"} {
		if !seen[term] {
			t.Errorf("%s is not defined", term)
		}
	}
	if lines := strings.Count(string(raw), "\n| "); len(seen) == 0 || types == 0 || len(rows) != lines {
		t.Errorf("%d rows of %d were read, and %d types", len(rows), lines, types)
	}
}

// declares reports whether a package declares an exported type.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range group.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.Name == name {
					return true
				}
			}
		}
	}
	return false
}

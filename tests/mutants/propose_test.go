package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProposals holds the mutations of a small file against a list of them all.
func TestProposals(t *testing.T) {
	const source = `package a

import "math"

func f(x, y float64) (out float64, err error) {
	if x < 0 {
		return 0, fmt.Errorf("x is %g", x+1)
	}
	out = math.Sqrt(x)
	for err != nil {
		out++
	}
	for i := 0; err == nil; i++ {
		out++
	}
	switch {
	case x > y && !ok:
		g(math.Inf(1))
	}
	return max(out, y) * 2, nil
}
`
	const others = "package a\n\nfunc notOfThisSystem(x int) bool { return x < 1 }\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"p/a.go": source, "p/a_test.go": others, "p/a_plan9.go": others,
		"p/b.go": "package a\n\nvar two = 2\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"if x <= 0 {", "if x > 0 {", "if !(x < 0) {", "if false && (x < 0) {", "if true || x < 0 {",
		"_ = math.Sqrt(x)", "out = (x)",
		"for err != nil {", "for i := 0; err == nil; i++ {", // out++ left out; the lines before it tell the two apart
		"case x > y || !ok:", "case x >= y && !ok:", "case x < y && !ok:", "case !(x > y && !ok):",
		"case false && (x > y && !ok):", "case true || x > y && !ok:",
		"", // g(math.Inf(1))
		"return max(out, y) / 2, nil", "return min(out, y) * 2, nil", "return max(out, y) * 1, nil",
	}
	got, err := proposals(dir, "./p/a.go")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range got {
		if _, err := m.mutated(dir); err != nil || m.Package != "./p" || !strings.HasPrefix(m.Name, "p/a.go:") {
			t.Errorf("%+v: %v", m, err)
		}
		lines = append(lines, strings.TrimSuffix(oneLine(m.New), " out++"))
	}
	slices.Sort(lines)
	slices.Sort(want)
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	all, err := proposals(dir, "./p")
	if err != nil || len(all) != len(got)+1 || all[len(got)].New != "var two = 1" {
		t.Errorf("of the package: %d, of the file: %d, %v", len(all), len(got), err)
	}
	if _, err := proposals(dir, "./q"); err == nil {
		t.Error("a folder that is not there is taken")
	}
}

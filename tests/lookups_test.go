package tests

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// settingsPackage is the one package that may look a setting or a metric up by name.
const settingsPackage = module + "runner/experiment"

// checker checks the types of this module's packages. Declarations of other modules are
// unknown to it, which leaves settings and metrics as they are.
type checker struct {
	files    *token.FileSet
	packages map[string]*types.Package
}

// Import returns a package of this module, or an empty one for other paths.
func (c *checker) Import(name string) (*types.Package, error) {
	if p, ok := c.packages[name]; ok {
		return p, nil
	}
	folder, own := strings.CutPrefix(name, module)
	if !own {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		c.packages[name] = p
		return p, nil
	}
	folder = filepath.Join("..", filepath.FromSlash(folder))
	sources, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	parsed, err := c.parse(folder, sources.GoFiles)
	if err != nil {
		return nil, err
	}
	c.packages[name] = c.check(name, parsed, nil)
	return c.packages[name], nil
}

func (c *checker) parse(folder string, names []string) ([]*ast.File, error) {
	var out []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(c.files, filepath.Join(folder, name), nil, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// check returns the package with all types that are known.
func (c *checker) check(name string, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: c, Error: func(error) {}, FakeImportC: true}
	p, _ := config.Check(name, c.files, files, info)
	return p
}

// lookups returns the places at which files look a setting or a metric up by a
// constant name: in experiment.Params, or in a field Params or Metrics.
func (c *checker) lookups(name string, files []*ast.File) []string {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	c.check(name, files, info)
	var out []string
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			x, ok := n.(*ast.IndexExpr)
			if !ok {
				return true
			}
			key := info.Types[x.Index].Value
			if key == nil || key.Kind() != constant.String {
				return true
			}
			of := info.Types[x.X].Type
			named, _ := types.Unalias(of).(*types.Named)
			field, _ := ast.Unparen(x.X).(*ast.SelectorExpr)
			if named != nil && types.TypeString(named, nil) == settingsPackage+".Params" ||
				field != nil && (field.Sel.Name == "Params" || field.Sel.Name == "Metrics") {
				out = append(out, fmt.Sprintf("%v looks up %v", c.files.Position(x.Pos()), key))
			}
			return true
		})
	}
	return out
}

// Settings and metrics are fields: a name that is misspelt does not compile.
func TestNoLookUpByName(t *testing.T) {
	c := &checker{token.NewFileSet(), map[string]*types.Package{}}
	looked := 0
	for _, folder := range []string{"experiments", "runner", "cmd", "tests"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" {
				return filepath.SkipDir
			}
			name := module + filepath.ToSlash(strings.TrimPrefix(at, ".."+string(filepath.Separator)))
			sources, err := build.ImportDir(at, 0)
			if none := (*build.NoGoError)(nil); errors.As(err, &none) || name == settingsPackage {
				return nil
			} else if err != nil {
				return err
			}
			for _, names := range [][]string{slices.Concat(sources.GoFiles, sources.TestGoFiles), sources.XTestGoFiles} {
				parsed, err := c.parse(at, names)
				if err != nil {
					return err
				}
				looked += len(parsed)
				for _, found := range c.lookups(name, parsed) {
					t.Error(found)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 100 {
		t.Errorf("only %d files were looked at", looked)
	}
}

func TestLookUpsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, expression string
		found            bool
	}{
		{"a setting", `p["x"]`, true},
		{"a constant", `p[name]`, true},
		{"an alias", `alias(p)["x"]`, true},
		{"a setting of a trial", `t.Params["x"]`, true},
		{"a setting of a record", `r.Params["x"]`, true},
		{"a metric", `r.Metrics["y"]`, true},
		{"a metric of a result", `(result.Metrics)["y"]`, true},
		{"a name that a user gave", `p[given]`, false},
		{"another map", `other["x"]`, false},
		{"an element", `t.Datasets["x"]`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := &checker{token.NewFileSet(), map[string]*types.Package{}}
			f, err := parser.ParseFile(check.files, "planted.go", `package planted
import (
	"errors"
	"privkern/runner/experiment"
	"privkern/runner/record"
)
type alias = experiment.Params
const name = "x"
func f(p experiment.Params, t *experiment.Trial, r *record.Record, result *experiment.Result, given string,
	other map[string]any) any {
	return `+c.expression+`
}`, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := check.lookups("planted", []*ast.File{f}); (len(got) == 1) != c.found {
				t.Errorf("found %q, want %v", got, c.found)
			}
		})
	}
}

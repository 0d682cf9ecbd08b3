package op

import (
	"cmp"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"gorgonia.org/gorgonia"
)

// elsewhere are the types of gorgonia's operations that have no launch, and why.
var elsewhere = map[string]string{
	"constantScalar": "a constant, which is uploaded before the runs",
	"constantTensor": "a constant, too",
	"letOp":          "a statement, which is refused",
	"readOp":         "a statement, which copies a value at the end of a run",
	"devTrans":       "an instruction of gorgonia's machines, of its own CUDA build",
	"clampOp":        "no function makes one, and it computes nothing",
	"scalarBinOp":    "a part of elemBinOp",
	"tBinOp":         "a part of elemBinOp",
	"ExternalOp":     "another operation with its device, of gorgonia's machines",
}

// Every type of gorgonia's sources that is an operation has a launch or a reason for having
// none: a version with others is noticed, and nothing is missed.
func TestEveryTypeOfGorgonia(t *testing.T) {
	types := operationTypes(t)
	if len(types) < 50 {
		t.Fatalf("%d types of gorgonia have the method Arity: the test does not see them", len(types))
	}
	for name := range types {
		launched, why := len(byKind[name]) > 0, cmp.Or(elsewhere[name], refused[name])
		switch {
		case launched && why != "":
			t.Errorf("%s has a launch, and is said to be elsewhere: %s", name, why)
		case !launched && why == "":
			t.Errorf("gorgonia's operation %s has no launch, and nothing says why", name)
		}
	}
	for _, reasons := range []map[string]string{elsewhere, refused} {
		for name := range reasons {
			if !types[name] {
				t.Errorf("gorgonia has no operation %s", name)
			}
		}
	}
	for name := range byKind {
		if !types[name] {
			t.Errorf("gorgonia has no operation %s, which has a launch", name)
		}
	}
}

// operationTypes returns the types in gorgonia's sources with the method Arity, promoted ones
// included.
func operationTypes(t *testing.T) map[string]bool {
	t.Helper()
	file, _ := runtime.FuncForPC(reflect.ValueOf(gorgonia.NewGraph).Pointer()).FileLine(0)
	if !filepath.IsAbs(file) {
		t.Skip("the paths of sources were left out of this test binary")
	}
	folder := filepath.Dir(file)
	found, err := build.ImportDir(folder, 0) // the files for this system
	if err != nil {
		t.Fatal(err)
	}
	types, embeds := map[string]bool{"Op": true}, map[string][]string{}
	for _, name := range found.GoFiles {
		source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && n.Name.Name == "Arity" {
					types[nameOf(n.Recv.List[0].Type)] = true
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						if len(f.Names) == 0 {
							embeds[n.Name.Name] = append(embeds[n.Name.Name], nameOf(f.Type))
						}
					}
				}
			}
			return true
		})
	}
	for more := true; more; {
		more = false
		for name, parts := range embeds {
			for _, part := range parts {
				if types[part] && !types[name] {
					types[name], more = true, true
				}
			}
		}
	}
	delete(types, "Op") // the interface
	return types
}

// nameOf returns the name of a type, or of the type that it points to.
func nameOf(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

package experiment

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"sync"
)

// comments are the first paragraphs of the comments on the fields of structs, by
// "package path.Struct.Field".
var comments sync.Map

// Document makes the comments on the fields of a package's structs the
// documentation of the settings and metrics that these are: what a reader of the
// code sees is what `run list` prints, and it is written once. T is any type of the
// package, source is the text of the file that has the structs, which the package
// embeds:
//
//	//go:embed settings.go
//	var source string
//
//	func init() { experiment.Document[Settings](source) }
//
// The first paragraph of a field's comment is its documentation, begins with a small
// letter, and has no full stop. What follows after an empty line is for readers of
// the code. Document panics on a text that is no Go source.
func Document[T any](source string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("experiment: the source of %s: %v", reflect.TypeFor[T]().PkgPath(), err))
	}
	path := reflect.TypeFor[T]().PkgPath()
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					comments.Store(path+"."+spec.Name.Name+"."+name.Name, firstParagraph(f.Doc.Text()))
				}
			}
		}
		return false
	})
}

func firstParagraph(comment string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(comment), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// commentOn returns the documentation of a struct's field; empty where there is none.
func commentOn(structure reflect.Type, field string) string {
	name, _, _ := strings.Cut(structure.Name(), "[") // of a generic type
	text, _ := comments.Load(structure.PkgPath() + "." + name + "." + field)
	s, _ := text.(string)
	return s
}

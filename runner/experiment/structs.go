package experiment

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"sync"
)

// separator stands between the entries of a tag on an embedded struct.
const separator = " || "

// leaf is a field that is a setting or a metric, of a struct or of one embedded in
// it at any depth.
type leaf struct {
	name  string
	field reflect.StructField
	index []int // for reflect.Value.FieldByIndex
	doc   string
	// changes are the entries for this leaf on the structs that embed it, the
	// innermost first.
	changes []change
}

// change is an entry of a tag on an embedded struct, which replaces the value of a key on
// the field itself.
type change struct{ key, value string }

// embeddedKeys are the tags that an embedded struct may have, each with entries
// "name: value" separated by " || ":
//
//	Budget `default:"delta: 1e-4" when:"epsilon: data is not original || delta: data is not original"`
var embeddedKeys = []string{"name", "default", "unit", "min", "max", "doc", "also", "when", "never", "choices", "later",
	"several", "words", "best", "result"}

// leavesOf returns the fields of a struct, with those of embedded structs in their
// place. It panics where a tag names a field that there is not.
func leavesOf(t reflect.Type) []leaf {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("experiment: settings and metrics are structs, %v is none", t))
	}
	var out []leaf
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous {
			out = append(out, ownLeaf(t, f))
			continue
		}
		inner := leavesOf(f.Type)
		for j := range inner {
			inner[j].index = append([]int{i}, inner[j].index...)
		}
		applyChanges(t, f, inner)
		out = append(out, inner...)
	}
	return out
}

func ownLeaf(t reflect.Type, f reflect.StructField) leaf {
	name := f.Tag.Get("name")
	switch {
	case !f.IsExported():
		panic(fmt.Sprintf("experiment: %v.%s is not exported", t, f.Name))
	case name == "":
		panic(fmt.Sprintf("experiment: %v.%s has no tag with its name", t, f.Name))
	}
	doc := cmp.Or(f.Tag.Get("doc"), commentOn(t, f.Name))
	if doc == "" {
		panic(fmt.Sprintf("experiment: %v.%s is not documented: it needs a comment, in a file that is given to Document, "+
			"or a tag doc", t, f.Name))
	}
	return leaf{name: name, field: f, index: f.Index, doc: doc}
}

// applyChanges gives the leaves of an embedded struct the entries of its tags. Names
// come last: entries go by the names that the embedded struct has.
func applyChanges(t reflect.Type, f reflect.StructField, leaves []leaf) {
	names := map[int]string{}
	for _, key := range embeddedKeys {
		tag, ok := f.Tag.Lookup(key)
		if !ok {
			continue
		}
		for entry := range strings.SplitSeq(tag, separator) {
			name, value, _ := strings.Cut(entry, ": ")
			at := -1
			for i := range leaves {
				if leaves[i].name == name {
					at = i
				}
			}
			switch {
			case at < 0:
				panic(fmt.Sprintf("experiment: the tag %s of %v.%s names %q, which is not in it", key, t, f.Name, name))
			case key == "name":
				names[at] = value
			default:
				leaves[at].changes = append(leaves[at].changes, change{key, value})
			}
		}
	}
	for at, name := range names {
		leaves[at].name = name
	}
}

// tag returns the value of a key: of the outermost struct that has an entry, or of
// the field itself.
func (l *leaf) tag(key string) (string, bool) {
	for i := len(l.changes) - 1; i >= 0; i-- {
		if l.changes[i].key == key {
			return l.changes[i].value, true
		}
	}
	return l.field.Tag.Lookup(key)
}

// tags returns all values of a key, the field's own first.
func (l *leaf) tags(key string) []string {
	var out []string
	if v, ok := l.field.Tag.Lookup(key); ok {
		out = append(out, v)
	}
	for _, c := range l.changes {
		if c.key == key {
			out = append(out, c.value)
		}
	}
	return out
}

// documentation returns the comment on the field, or its replacement by an embedding
// struct, with the additions of embedding structs.
func (l *leaf) documentation() string {
	doc := l.doc
	for _, c := range l.changes {
		switch c.key {
		case "doc":
			doc = c.value
		case "also":
			doc += "; " + c.value
		}
	}
	return doc
}

// comments are the first paragraphs of the comments on the fields of structs, by
// "package path.Struct.Field".
var comments sync.Map

// Document makes the comments on the fields of a package's structs the
// documentation of the settings and metrics that they declare, so that a reader of the
// code and `run list` have the same text. T is any type of the
// package, source is the text of the file that has the structs, which the package
// embeds:
//
//	//go:embed settings.go
//	var source string
//
//	func init() { experiment.Document[Settings](source) }
//
// The first paragraph of a field's comment is its documentation, begins with a small
// letter, and has no full stop. The paragraphs after it are for readers of
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

package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// includeKey is the member that names the files which a file goes on from.
const includeKey = "include"

// Bounds of composition: a file that needs more is a mistake, or meant to fill the memory.
const (
	maxIncludeDepth = 16
	maxIncludes     = 64
)

// mergedSections are the members that are merged name by name. A parameter stands in one of them only: where the
// including file gives it in one, it replaces that of the base in any.
var mergedSections = []string{"params", "sweep", "zip"}

// IncludedFile is a file that a sweep file includes.
type IncludedFile struct {
	Path   string
	Source []byte
}

// composition is shared by the readers of a sweep file and of the files that it includes.
type composition struct {
	open   func(path string) ([]byte, error) // nil where nothing may be included
	origin map[*token.Token]*reader          // of the places in included files
	files  []IncludedFile
	reads  int // of files; one that is included twice is read twice

	// Of interpolation: see there.
	state map[*ast.MappingValueNode]resolution
	bytes int
}

func newComposition(open func(path string) ([]byte, error)) *composition {
	return &composition{
		open: open, origin: map[*token.Token]*reader{}, state: map[*ast.MappingValueNode]resolution{},
	}
}

// compose returns the tree of a file with those of its includes merged into it and its references resolved.
func (r *reader) compose(n ast.Node) (ast.Node, error) {
	n, err := r.withIncludes(n)
	if err != nil {
		return nil, err
	}
	return n, r.interpolate(n)
}

// withIncludes merges the members of a file over those of the files that it includes.
func (r *reader) withIncludes(n ast.Node) (ast.Node, error) {
	own, _ := membersOf(n)
	i := slices.IndexFunc(own, func(m *ast.MappingValueNode) bool { return nameOf(m) == includeKey })
	if i < 0 {
		return n, nil
	}
	var merged []*ast.MappingValueNode
	include := func(at ast.Node) error {
		base, err := r.include(at)
		merged = merge(merged, base)
		return err
	}
	var err error
	if list, ok := own[i].Value.(*ast.SequenceNode); ok {
		err = r.list(list, includeKey, include)
	} else {
		err = include(own[i].Value)
	}
	if err != nil {
		return nil, err
	}
	return mapping(n, merge(merged, slices.Delete(slices.Clone(own), i, i+1))), nil
}

// include reads the file that a node names and returns its members.
func (r *reader) include(at ast.Node) ([]*ast.MappingValueNode, error) {
	refuse := func(err error) error { return r.errorAt(at.GetToken(), err) }
	name, err := r.text(at, "the path of an included file")
	if err != nil {
		return nil, err
	}
	// Only the environment is known before the files are.
	if name, err = r.expand(name, at, &scope{}); err != nil {
		return nil, err
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.path), path)
	}
	if r.shared.open == nil {
		return nil, refuse(errors.New("a text that is no file cannot include any"))
	}
	if err := r.checkInclude(path); err != nil {
		return nil, refuse(err)
	}
	src, err := r.shared.open(path)
	if err != nil {
		return nil, refuse(err)
	}
	src = bytes.TrimPrefix(src, byteOrderMark)
	if !slices.ContainsFunc(r.shared.files, func(f IncludedFile) bool { return f.Path == path }) {
		r.shared.files = append(r.shared.files, IncludedFile{Path: path, Source: src})
	}
	p := at.GetToken().Position
	child := &reader{path: path, names: r.names, parent: r, depth: r.depth + 1, shared: r.shared,
		included: fmt.Sprintf("\n  included by %s:%d:%d%s", r.path, p.Line, p.Column, r.included)}
	n, err := child.parse(src)
	if err != nil {
		return nil, err
	}
	ast.Walk(places{child}, n)
	if n, err = child.withIncludes(n); err != nil {
		return nil, err
	}
	members, ok := membersOf(n)
	if !ok {
		return nil, child.errorAt(n.GetToken(), errors.New("a sweep file must be a mapping (name: value)"))
	}
	return members, nil
}

// checkInclude refuses circles, and composition without end.
func (r *reader) checkInclude(path string) error {
	for of := r; of != nil; of = of.parent {
		if samePath(of.path, path) {
			return fmt.Errorf("the includes go round in a circle: %s is being read already", path)
		}
	}
	if r.depth >= maxIncludeDepth {
		return fmt.Errorf("includes are nested deeper than %d files", maxIncludeDepth)
	}
	if r.shared.reads++; r.shared.reads > maxIncludes {
		return fmt.Errorf("more than %d files are included", maxIncludes)
	}
	return nil
}

// samePath reports that two paths lead to one file, links aside: a circle through links ends at the depth.
func samePath(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// places notes to which reader the tokens of a tree belong.
type places struct{ of *reader }

// Visit notes one node.
func (p places) Visit(n ast.Node) ast.Visitor {
	p.of.shared.origin[n.GetToken()] = p.of
	return p
}

// merge returns the members of a base with those of the file that includes it over them. Members of both keep the place
// that they have in the base, so that the order of the sweep stays.
func merge(base, over []*ast.MappingValueNode) []*ast.MappingValueNode {
	base, over = lifted(base), lifted(over)
	out := withoutMoved(base, over)
	for _, m := range over {
		i := slices.IndexFunc(out, func(old *ast.MappingValueNode) bool { return nameOf(old) == nameOf(m) })
		switch {
		case i < 0:
			out = append(out, m)
		case slices.Contains(mergedSections, nameOf(m)):
			out[i] = with(m, mergedByName(out[i].Value, m.Value))
		default:
			out[i] = m
		}
	}
	return out
}

// mergedByName returns the mapping base with the members of over; over where either is none.
func mergedByName(base, over ast.Node) ast.Node {
	a, okA := membersOf(base)
	b, okB := membersOf(over)
	if !okA || !okB {
		return over
	}
	a = slices.Clone(a)
	for _, m := range b {
		i := slices.IndexFunc(a, func(old *ast.MappingValueNode) bool { return nameOf(old) == nameOf(m) })
		if i < 0 {
			a = append(a, m)
		} else {
			a[i] = m
		}
	}
	return mapping(over, a)
}

// withoutMoved returns the base without the parameters that the including file gives in another section.
func withoutMoved(base, over []*ast.MappingValueNode) []*ast.MappingValueNode {
	section := map[string]string{} // by parameter
	for _, m := range over {
		if members, ok := membersOf(m.Value); ok && slices.Contains(mergedSections, nameOf(m)) {
			for _, p := range members {
				section[nameOf(p)] = nameOf(m)
			}
		}
	}
	var out []*ast.MappingValueNode
	for _, m := range base {
		members, ok := membersOf(m.Value)
		if !ok || !slices.Contains(mergedSections, nameOf(m)) {
			out = append(out, m)
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(members), func(p *ast.MappingValueNode) bool {
			s := section[nameOf(p)]
			return s != "" && s != nameOf(m)
		})
		if len(kept) == len(members) {
			out = append(out, m)
		} else if len(kept) > 0 {
			out = append(out, with(m, mapping(m.Value, kept)))
		}
	}
	return out
}

// lifted moves zip and cases out of sweep, where they may stand, too.
func lifted(members []*ast.MappingValueNode) []*ast.MappingValueNode {
	var out, inner []*ast.MappingValueNode
	for _, m := range members {
		entries, ok := membersOf(m.Value)
		if !ok || nameOf(m) != "sweep" {
			out = append(out, m)
			continue
		}
		var kept []*ast.MappingValueNode
		for _, e := range entries {
			if name := nameOf(e); name == "zip" || name == "cases" {
				inner = append(inner, e)
			} else {
				kept = append(kept, e)
			}
		}
		if len(kept) == len(entries) {
			out = append(out, m)
		} else if len(kept) > 0 {
			out = append(out, with(m, mapping(m.Value, kept)))
		}
	}
	return append(out, inner...)
}

// membersOf returns the members of a mapping.
func membersOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// nameOf is the key of a member.
func nameOf(m *ast.MappingValueNode) string { return m.Key.GetToken().Value }

// mapping returns a mapping of these members at the place of another.
func mapping(at ast.Node, members []*ast.MappingValueNode) ast.Node {
	return ast.Mapping(at.GetToken(), false, members...)
}

// with returns a member with another value.
func with(m *ast.MappingValueNode, v ast.Node) *ast.MappingValueNode {
	return ast.MappingValue(m.Start, m.Key, v)
}

// unquoted explains an error of YAML at a reference that stands unquoted between brackets or braces.
func (r *reader) unquoted(err error) error {
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Source, "${") {
		return err
	}
	e.Err = fmt.Errorf("%w; between brackets or braces ${...} is quoted: [\"${name}\", 2]", e.Err)
	return err
}

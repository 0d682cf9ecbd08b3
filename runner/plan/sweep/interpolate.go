package sweep

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// A reference is ${name} for another value of the file, or ${env:NAME} and ${env:NAME:default} for the environment.
const (
	referenceStart = "${"
	referenceEnd   = "}"
	environment    = "env:"
)

// variableName is how variables of the environment are named.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// resolution is how far the references of a member are resolved.
type resolution int

const (
	unresolved resolution = iota
	resolving
	resolved
)

// scope has the values that references may name: those of a block under runs, and outside of it those of the file.
type scope struct {
	members map[string]*ast.MappingValueNode
	outer   *scope
	path    []string // the names that are being resolved, outermost first
}

func (s *scope) lookup(name string) (*ast.MappingValueNode, *scope) {
	for ; s != nil; s = s.outer {
		if m := s.members[name]; m != nil {
			return m, s
		}
	}
	return nil, nil
}

// names returns all that a reference may name.
func (s *scope) names() []string {
	var out []string
	for ; s != nil; s = s.outer {
		out = append(out, sortedKeys(s.members)...)
	}
	return out
}

// newScope returns the scope of a file or a block: its scalars and its params, which go first.
func newScope(members []*ast.MappingValueNode, outer *scope) *scope {
	s := &scope{members: map[string]*ast.MappingValueNode{}, outer: outer}
	for _, m := range members {
		if isScalar(m.Value) {
			s.members[nameOf(m)] = m
		}
	}
	for _, m := range members {
		if params, ok := membersOf(m.Value); ok && nameOf(m) == "params" {
			for _, p := range params {
				s.members[nameOf(p)] = p
			}
		}
	}
	return s
}

func isScalar(n ast.Node) bool {
	_, ok := n.(ast.ScalarNode)
	return ok
}

// interpolate resolves the references of a file in place.
func (r *reader) interpolate(n ast.Node) error {
	members, _ := membersOf(n)
	file := newScope(members, nil)
	for _, m := range members {
		if blocks, ok := m.Value.(*ast.SequenceNode); ok && nameOf(m) == "runs" {
			for _, b := range blocks.Values {
				inner, _ := membersOf(b)
				s := newScope(inner, file)
				for _, m := range inner {
					if err := r.resolve(m, s); err != nil {
						return err
					}
				}
			}
		} else if err := r.resolve(m, file); err != nil {
			return err
		}
	}
	return nil
}

// resolve resolves the references within a member.
func (r *reader) resolve(m *ast.MappingValueNode, s *scope) error {
	if r.shared.state[m] == resolved {
		return nil
	}
	r.shared.state[m] = resolving
	s.path = append(s.path, nameOf(m))
	v, err := r.resolvedNode(m.Value, s)
	if err != nil {
		return err
	}
	s.path = s.path[:len(s.path)-1]
	if raw, ok := v.(ast.ScalarNode); ok && v != m.Value && nameOf(m) == "title" { // 2024 is a title, too
		v = stringNode(raw.GetToken().Value, v)
	}
	m.Value, r.shared.state[m] = v, resolved
	return nil
}

// resolvedNode returns a node without references: itself, or the node in its place.
func (r *reader) resolvedNode(n ast.Node, s *scope) (ast.Node, error) {
	switch v := n.(type) {
	case *ast.StringNode:
		return r.resolvedText(v.Value, n, s)
	case *ast.LiteralNode:
		return r.resolvedText(v.Value.Value, n, s)
	case *ast.SequenceNode:
		for i, e := range v.Values {
			x, err := r.resolvedNode(e, s)
			if err != nil {
				return nil, err
			}
			v.Values[i] = x
		}
		return v, nil
	}
	members, _ := membersOf(n)
	for _, m := range members {
		if err := r.resolve(m, s); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// resolvedText returns the node of a text with references. One that is a single reference to a list is that list;
// others are read as a scalar of YAML, so that a number stays one.
func (r *reader) resolvedText(text string, at ast.Node, s *scope) (ast.Node, error) {
	if !strings.Contains(text, referenceStart) {
		return at, nil
	}
	if name, ok := single(text); ok {
		m, err := r.referred(name, at, s)
		if err != nil {
			return nil, err
		}
		if list, ok := m.Value.(*ast.SequenceNode); ok {
			return list, r.grow(len(list.Values), at)
		}
	}
	text, err := r.expand(text, at, s)
	if err != nil {
		return nil, err
	}
	n := scalarNode(text, at)
	if of := r.shared.origin[at.GetToken()]; of != nil {
		r.shared.origin[n.GetToken()] = of
	}
	return n, nil
}

// single returns the name in a text that is one reference to a value of the file.
func single(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, referenceStart)
	if !ok || strings.HasPrefix(name, environment) || strings.Index(name, referenceEnd) != len(name)-1 {
		return "", false
	}
	return strings.TrimSuffix(name, referenceEnd), true
}

// expand replaces the references in a text; $${ stands for ${.
func (r *reader) expand(text string, at ast.Node, s *scope) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(text, referenceStart)
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + referenceStart)
			text = text[i+len(referenceStart):]
			continue
		}
		name, rest, ok := strings.Cut(text[i+len(referenceStart):], referenceEnd)
		if !ok {
			return "", r.errorAt(at.GetToken(), fmt.Errorf("%q has no closing brace; $${ stands for a plain ${", text[i:]))
		}
		value, err := r.valueOf(name, at, s)
		if err == nil {
			err = r.grow(len(value), at)
		}
		if err != nil {
			return "", err
		}
		b.WriteString(text[:i] + value)
		text = rest
	}
}

// grow bounds the length that references add: texts that refer to each other may grow without end.
func (r *reader) grow(n int, at ast.Node) error {
	if r.shared.bytes += n; r.shared.bytes > maxFileBytes {
		return r.errorAt(at.GetToken(), fmt.Errorf("the values of ${...} add more than %d bytes to the file", maxFileBytes))
	}
	return nil
}

// valueOf is the text of a reference.
func (r *reader) valueOf(name string, at ast.Node, s *scope) (string, error) {
	if variable, ok := strings.CutPrefix(name, environment); ok {
		v, err := variableOf(variable)
		if err != nil {
			return "", r.errorAt(at.GetToken(), err)
		}
		return v, nil
	}
	m, err := r.referred(name, at, s)
	if err != nil {
		return "", err
	}
	switch v := m.Value.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	case *ast.NullNode:
		return "", r.errorAt(at.GetToken(), fmt.Errorf("${%s}: the value is missing", name))
	case ast.ScalarNode:
		return m.Value.GetToken().Value, nil
	}
	return "", r.errorAt(at.GetToken(),
		fmt.Errorf("${%s} is a list, which stands alone: `name: ${%[1]s}` or `name: \"${%[1]s}\"`", name))
}

// variableOf returns a variable of the environment, or the default behind its name.
func variableOf(reference string) (string, error) {
	name, otherwise, hasDefault := strings.Cut(reference, ":")
	if !variableName.MatchString(name) {
		return "", fmt.Errorf("%q is no name of a variable; write ${env:NAME} or ${env:NAME:default}", name)
	}
	v, ok := os.LookupEnv(name)
	switch {
	case !ok && hasDefault:
		return otherwise, nil
	case !ok:
		return "", fmt.Errorf("the variable %s is not set; set it, or write ${env:%[1]s:default}", name)
	case !utf8.ValidString(v):
		return "", fmt.Errorf("the variable %s is not UTF-8", name)
	}
	return v, nil
}

// referred returns the member that a reference names, resolved.
func (r *reader) referred(name string, at ast.Node, s *scope) (*ast.MappingValueNode, error) {
	m, of := s.lookup(name)
	if m == nil {
		if names := s.names(); len(names) > 0 {
			return nil, r.errorAt(at.GetToken(), experiment.Unknown("value of the file", name, names))
		}
		return nil, r.errorAt(at.GetToken(), errors.New("the path of an included file may refer to ${env:NAME} only"))
	}
	if r.shared.state[m] == resolving {
		from := max(0, slices.Index(of.path, name))
		return nil, r.errorAt(at.GetToken(),
			fmt.Errorf("the values refer to each other in a circle: %s", strings.Join(append(of.path[from:], name), ", ")))
	}
	return m, r.resolve(m, of)
}

// scalarNode reads a text as a scalar of YAML at the place of a node. It is a text unless it is a number or a truth
// value.
func scalarNode(text string, at ast.Node) ast.Node {
	t := token.New(text, text, at.GetToken().Position)
	switch t.Type {
	case token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType:
		return ast.Integer(t)
	case token.FloatType:
		return ast.Float(t)
	case token.BoolType:
		return ast.Bool(t)
	case token.InfinityType:
		return ast.Infinity(t)
	case token.NanType:
		return ast.Nan(t)
	}
	return stringNode(text, at)
}

func stringNode(text string, at ast.Node) ast.Node {
	return ast.String(token.String(text, text, at.GetToken().Position))
}

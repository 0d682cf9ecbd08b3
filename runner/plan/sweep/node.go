package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

var errAnchor = errors.New("anchors and aliases are not supported; write the value out")

// maxNesting bounds the nesting of values.
const maxNesting = 8

// each calls f for the members of a mapping; keys nil permits any key.
func (r *reader) each(n ast.Node, what string, keys []string,
	f func(key string, at *token.Token, v ast.Node) error) error {
	var members []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		members = m.Values
	case *ast.MappingValueNode:
		members = []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return r.errorAt(n.GetToken(), fmt.Errorf("%s is empty", what))
	case *ast.AnchorNode, *ast.AliasNode:
		return r.errorAt(n.GetToken(), errAnchor)
	default:
		return r.errorAt(n.GetToken(), fmt.Errorf("%s must be a mapping (name: value)", what))
	}
	for _, m := range members {
		kt := m.Key.GetToken()
		if _, ok := m.Key.(*ast.MergeKeyNode); ok {
			return r.errorAt(kt, errors.New("merge keys (<<) are not supported"))
		}
		key := kt.Value
		if keys != nil && !slices.Contains(keys, key) {
			return r.errorAt(kt, experiment.Unknown("key", key, keys))
		}
		if err := f(key, kt, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// list calls f for the elements of a sequence, which must not be empty.
func (r *reader) list(n ast.Node, what string, f func(ast.Node) error) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return r.errorAt(n.GetToken(), fmt.Errorf("%s must be a list", what))
	}
	if len(seq.Values) == 0 {
		return r.errorAt(n.GetToken(), fmt.Errorf("%s is an empty list", what))
	}
	for _, e := range seq.Values {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text(n ast.Node, what string) (string, error) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, nil
	case *ast.LiteralNode:
		return s.Value.Value, nil
	}
	return "", r.errorAt(n.GetToken(), fmt.Errorf("%s must be a text", what))
}

// dtype reads the name of an element type.
func (r *reader) dtype(n ast.Node) (string, error) {
	raw, err := r.raw(n)
	if err != nil {
		return "", err
	}
	name := fmt.Sprint(raw)
	if !slices.Contains(experiment.DTypes(), name) {
		return "", r.errorAt(n.GetToken(),
			fmt.Errorf("dtype: %q is not one of %s", name, strings.Join(experiment.DTypes(), ", ")))
	}
	return name, nil
}

// raw turns a node into a bool, number, string or list of these.
func (r *reader) raw(n ast.Node) (any, error) { return r.rawNested(n, 0) }

func (r *reader) rawNested(n ast.Node, depth int) (any, error) {
	if depth > maxNesting {
		return nil, r.errorAt(n.GetToken(), errors.New("lists are nested too deeply"))
	}
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	case *ast.BoolNode:
		return v.Value, nil
	case *ast.IntegerNode, *ast.FloatNode:
		// As it is written: YAML would read 010 as eight and 1_0 as ten, which
		// the command line does not either.
		return n.GetToken().Value, nil
	case *ast.InfinityNode:
		return v.Value, nil
	case *ast.NanNode:
		return math.NaN(), nil
	case *ast.NullNode:
		return nil, r.errorAt(n.GetToken(), errors.New("the value is missing"))
	case *ast.SequenceNode:
		if len(v.Values) == 0 {
			return nil, r.errorAt(n.GetToken(), errors.New("the list is empty"))
		}
		out := make([]any, len(v.Values))
		for i, e := range v.Values {
			x, err := r.rawNested(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, r.errorAt(n.GetToken(), errAnchor)
	}
	return nil, r.errorAt(n.GetToken(), errors.New("a number, a text, true, false or a list of these is expected"))
}

package ledger

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// Read decodes a ledger. Errors name the file as name. Unknown keys and wrong types
// are errors with line and column. Use Validate to check the ledger against the
// experiments.
func Read(name string, data []byte) (*Ledger, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, located(name, err)
	}
	switch {
	case len(file.Docs) > 1:
		return nil, fmt.Errorf("%s: more than one YAML document", name)
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return nil, fmt.Errorf("%s: empty", name)
	}
	l := &Ledger{}
	if err := decode(file.Docs[0].Body, l); err != nil {
		return nil, located(name, err)
	}
	l.source = &source{name: name, file: file}
	for i, t := range l.Tables {
		if t == nil {
			return nil, l.source.errorf(fmt.Sprintf("$.tables[%d]", i), "an empty table")
		}
		t.ledger, t.path = l, fmt.Sprintf("$.tables[%d]", i)
		for j, c := range t.Cells {
			if c == nil {
				return nil, l.source.errorf(fmt.Sprintf("%s.cells[%d]", t.path, j), "an empty cell")
			}
			c.path = fmt.Sprintf("%s.cells[%d]", t.path, j)
		}
	}
	return l, nil
}

// decode calls yaml.NodeToValue and recovers its panic on a tag without a value.
func decode(from ast.Node, to *Ledger) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a part of it cannot be read: %v", p)
		}
	}()
	return yaml.NodeToValue(from, to, yaml.Strict())
}

// source finds the line and column of an entry, for errors found after decoding.
type source struct {
	name string
	file *ast.File
}

// errorf returns an error that starts with "file:line:column: " of the entry at
// path, or of the nearest entry around it that is written in the file.
func (s *source) errorf(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w", s.at(path), fmt.Errorf(format, args...))
}

// keyErrorf is errorf at the key of an entry instead of its value.
func (s *source) keyErrorf(path, format string, args ...any) error {
	position := s.at(path)
	i := strings.LastIndex(path, ".")
	if m, ok := s.find(path[:i]).(*ast.MappingNode); ok {
		for _, v := range m.Values {
			if k := v.Key.GetToken(); k.Value == path[i+1:] {
				position = s.position(k)
			}
		}
	}
	return fmt.Errorf("%s: %w", position, fmt.Errorf(format, args...))
}

// find returns the node at path, nil where there is none.
func (s *source) find(path string) ast.Node {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	n, err := p.FilterFile(s.file)
	if err != nil {
		return nil
	}
	return n
}

func (s *source) position(t *token.Token) string {
	return fmt.Sprintf("%s:%d:%d", s.name, t.Position.Line, t.Position.Column)
}

func (s *source) at(path string) string {
	for path != "" && path != "$" {
		if n := s.find(path); n != nil {
			return s.position(start(n))
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return s.name
}

// start returns the first token of a node; a mapping's own token is the colon
// after its first key.
func start(n ast.Node) *token.Token {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return m.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return m.Key.GetToken()
	}
	return n.GetToken()
}

var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// located rewrites an error of the YAML library as "file:line:column: message".
func located(name string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	message := e.GetMessage()
	if m := unknownField.FindStringSubmatch(message); m != nil {
		message = fmt.Sprintf("unknown key %q", m[1])
		if n := experiment.Nearest(m[1], keys()); n != "" {
			message += fmt.Sprintf("; did you mean %q?", n)
		}
	}
	pos := e.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", name, pos.Line, pos.Column, message)
}

// keys lists every key that a ledger may have, for the nearest valid name.
func keys() []string {
	var names []string
	for _, v := range []any{Ledger{}, Erratum{}, Table{}, Settings{}, Variant{}, Cell{}, Holds{},
		Minus{}, MeanOf{}, Reference{}, Assumption{}, CellPlace{}, Tolerance{}, Pool{}, Joint{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if n := f.Tag.Get("yaml"); n != "" && !f.Anonymous && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// text is a scalar exactly as it is written: .98670 stays .98670.
type text string

// UnmarshalYAML takes the scalar's own characters, even where YAML reads a number.
func (t *text) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(ast.ScalarNode); !ok {
		return &yaml.SyntaxError{Message: "a printed text is expected; put it in quotes", Token: n.GetToken()}
	}
	*t = text(n.GetToken().Value)
	return nil
}

// Seeds is a list of seeds, written as "0..4", [0, 1, 2] or one number.
type Seeds []int64

// maxSeeds bounds the length of a range such as 0..1e9.
const maxSeeds = 1_000_000

// UnmarshalYAML reads the three notations.
func (s *Seeds) UnmarshalYAML(n ast.Node) error {
	fail := func(at ast.Node) error {
		return &yaml.SyntaxError{Message: `seeds are written as 0..4, [0, 1, 2] or one number, each not below 0`,
			Token: at.GetToken()}
	}
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, e := range list.Values {
			seed, err := strconv.ParseInt(e.GetToken().Value, 10, 64)
			if err != nil || seed < 0 || slices.Contains(*s, seed) {
				return fail(e)
			}
			*s = append(*s, seed)
		}
		if len(*s) == 0 {
			return fail(n)
		}
		return nil
	}
	low, high, ranged := strings.Cut(n.GetToken().Value, "..")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseInt(strings.TrimSpace(low), 10, 64)
	b, errB := strconv.ParseInt(strings.TrimSpace(high), 10, 64)
	if errA != nil || errB != nil || a < 0 || b < a || b-a >= maxSeeds || b == math.MaxInt64 {
		return fail(n)
	}
	for seed := a; seed <= b; seed++ {
		*s = append(*s, seed)
	}
	return nil
}

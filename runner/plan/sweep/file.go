// Package sweep reads sweep files and expands them into settings of trials.
//
// A sweep file is YAML. It names an experiment, parameters that stay fixed,
// and parameters that vary: sweep is a product of lists, zip pairs lists of
// equal length, cases is a union of explicit settings. A file may hold several
// such blocks under runs. Everything is checked before anything runs; every
// error names the file, the line and the column.
package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// maxFileBytes bounds a sweep file; a larger one is surely not a sweep file.
const maxFileBytes = 4 << 20

// File is a sweep file as it is written. The JSON Schema is made from these
// types (see [Schema]).
type File struct {
	Title string `json:"title,omitempty" jsonschema_description:"What the sweep is; shown above its tables."`
	// Include is composed before the rest is read (see reader.compose).
	Include any    `json:"include,omitempty" jsonschema_description:"Files that this one goes on from: one, or a list."`
	DType   string `json:"dtype,omitempty" jsonschema_description:"Element type, float64 by default; --dtype replaces it."`
	Block   `json:",inline"`
	Runs    []Block  `json:"runs,omitempty" jsonschema_description:"Several blocks, each with an experiment of its own."`
	Tables  []string `json:"tables,omitempty" jsonschema_description:"Tables of published values to print at the end."`

	Metrics []string `json:"metrics,omitempty" jsonschema_description:"Metrics to show; by default the results."`
}

// Block is one experiment with its settings. blockDocs has the documentation of its
// members in the schema.
type Block struct {
	Experiment string           `json:"experiment,omitempty"`
	Params     map[string]any   `json:"params,omitempty"`
	Sweep      map[string]any   `json:"sweep,omitempty"`
	Zip        map[string]any   `json:"zip,omitempty"`
	Cases      []map[string]any `json:"cases,omitempty"`
	Seeds      any              `json:"seeds,omitempty"`
	Program    `json:",inline"`
	Search     *Search `json:"search,omitempty"`
}

// blockDocs describes the members of a block.
var blockDocs = map[string]string{
	"experiment": "Name of the experiment; see run list.",
	"params":     "Parameters that stay fixed.",
	"sweep": "Parameters that vary: a list each, or linspace(a,b,n) or logspace(a,b,n); " +
		"all combinations are run.",
	"zip":    "Parameters that vary together: lists of equal length, paired.",
	"cases":  "Explicit settings, each a map of parameters.",
	"seeds":  "Seeds: one number, a list, or a range such as 0..19.",
	"search": "Settings are chosen in rounds, by the results of the rounds before.",
}

var (
	fileKeys = []string{"title", "dtype", "experiment", "params", "sweep", "zip", "cases", "seeds", "search", "runs",
		"tables", "metrics", includeKey}
	blockKeys = []string{"experiment", "params", "sweep", "zip", "cases", "seeds", "search"}
)

func init() {
	fileKeys, blockKeys = append(fileKeys, programKeys...), append(blockKeys, programKeys...)
}

// Error is a mistake in a sweep file, with its place.
type Error struct {
	File         string
	Line, Column int
	Source       string // the line of the file
	Included     string // by which includes the file is read, a line each; empty for the file that was asked for
	Err          error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
	// A line that is too long to be looked at, or is no text, is not shown.
	if e.Source != "" && len(e.Source) <= maxShown && !strings.ContainsFunc(e.Source, unicode.IsControl) {
		s += fmt.Sprintf("\n  %s\n  %s^", e.Source, strings.Repeat(" ", max(0, e.Column-1)))
	}
	return s + e.Included
}

// maxShown is the length of the longest line that an error shows.
const maxShown = 200

// Unwrap returns the mistake without its place.
func (e *Error) Unwrap() error { return e.Err }

// value is a parameter's value with its place in the file.
type value struct {
	v  any
	at *token.Token
}

// axis is a parameter with the values that it takes.
type axis struct {
	name   string
	at     *token.Token
	values []value
	from   string // the name=value argument that it is from; empty for the file
}

// block is a Block that has been read, with places for later errors.
type block struct {
	exp    *experiment.Experiment
	params []axis // one value each
	sweep  []axis
	zip    []axis
	cases  [][]axis // one value each
	seeds  []int64
	search *searched // nil for none
	at     *token.Token
	// program is that of an external experiment; nil for others.
	program *program
	// replaced reports that a part of the block comes from the command line: trials that
	// differ in the file may then be equal.
	replaced bool
}

// Sweep is a sweep file that has been read and checked against the
// experiments; Expand turns it into settings.
type Sweep struct {
	Title  string
	DType  string // float64 where the file names none
	Path   string
	Tables []string
	// Metrics are those to show, names or families such as confusion_*; none for the results
	// of the experiments.
	Metrics []string
	Source  []byte
	// Included are the files that this one includes, each once, in the order of reading.
	Included []IncludedFile
	blocks   []*block
	reader   *reader
}

// Names answers which experiments and tables exist.
type Names struct {
	Experiments *experiment.Registry
	Tables      func() ([]string, error) // asked where a file names tables
}

// ReadFile reads and checks a sweep file, and those that it includes.
func ReadFile(path string, names Names) (*Sweep, error) {
	src, err := readText(path)
	if err != nil {
		return nil, err
	}
	return read(path, src, names, readText)
}

// readText returns the text of a sweep file.
func readText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the sweep file cannot be read: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, not a sweep file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the sweep file cannot be read: %w", err)
	}
	src, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1)) // a device has no size
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("the sweep file cannot be read: %w", err)
	}
	if len(src) > maxFileBytes {
		return nil, fmt.Errorf("%s has more bytes than %d; a sweep file has at most so many", path, maxFileBytes)
	}
	return src, nil
}

// Read checks the text of a sweep file, which includes no other; path is used in errors only.
func Read(path string, src []byte, names Names) (*Sweep, error) { return read(path, src, names, nil) }

// read reads a sweep file, and those that it includes by open; nil refuses them.
func read(path string, src []byte, names Names, open func(path string) ([]byte, error)) (*Sweep, error) {
	src = bytes.TrimPrefix(src, byteOrderMark)
	r := &reader{path: path, names: names, shared: newComposition(open)}
	body, err := r.parse(src)
	if err == nil {
		body, err = r.compose(body)
	}
	if err != nil {
		return nil, err
	}
	s, err := r.file(body)
	if err != nil {
		return nil, err
	}
	s.Path, s.Source, s.reader, s.Included = path, src, r, r.shared.files
	return s, nil
}

// parse returns the YAML tree of a file.
func (r *reader) parse(src []byte) (ast.Node, error) {
	r.lines = strings.Split(lineBreaks.Replace(string(src)), "\n")
	if t := tooDeep(lexer.Tokenize(string(src))); t != nil {
		return nil, r.errorAt(t, fmt.Errorf("lists and maps are nested deeper than %d levels", maxDepth))
	}
	file, err := parser.ParseBytes(src, 0)
	if err != nil {
		var se yaml.Error
		if errors.As(err, &se) && se.GetToken() != nil {
			return nil, r.unquoted(r.errorAt(se.GetToken(), errors.New(se.GetMessage())))
		}
		return nil, r.whole(err)
	}
	if len(file.Docs) > 1 && file.Docs[1].Body != nil {
		return nil, r.errorAt(file.Docs[1].Body.GetToken(),
			errors.New("a sweep file is one YAML document; put several experiments under runs"))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, r.whole(errors.New("the file is empty; see `run help sweep-files`"))
	}
	return file.Docs[0].Body, nil
}

// byteOrderMark may begin a text.
var byteOrderMark = []byte("\ufeff")

// whole is the error of a file as a whole.
func (r *reader) whole(err error) error {
	return &Error{File: r.path, Line: 1, Column: 1, Err: err, Included: r.included}
}

// lineBreaks makes YAML's line breaks one kind.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// reader walks the YAML tree; its path and lines are for errors.
type reader struct {
	path  string
	lines []string
	names Names
	// included is the text of the includes by which the file is read (see Error), and depth their number.
	included string
	depth    int
	parent   *reader // of the file that includes this one
	shared   *composition
}

func (r *reader) errorAt(t *token.Token, err error) error {
	if of := r.shared.origin[t]; of != nil {
		r = of
	}
	e := &Error{File: r.path, Line: 1, Column: 1, Err: err, Included: r.included}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	if e.Line >= 1 && e.Line <= len(r.lines) {
		e.Source = r.lines[e.Line-1]
	}
	return e
}

func (r *reader) file(n ast.Node) (*Sweep, error) {
	s := &Sweep{DType: experiment.Float64}
	b := &block{at: n.GetToken(), seeds: []int64{0}}
	var runs []*block
	var fields []string
	var metrics []namedMetric
	err := r.each(n, "a sweep file", fileKeys, func(key string, k *token.Token, v ast.Node) error {
		switch key {
		case "title":
			t, err := r.text(v, "title")
			s.Title = t
			return err
		case "dtype":
			t, err := r.dtype(v)
			s.DType = t
			return err
		case "tables":
			return r.list(v, "tables", func(e ast.Node) error {
				name, err := r.text(e, "a table's name")
				if err != nil {
					return err
				}
				known, err := r.names.Tables()
				if err != nil {
					return err
				}
				if !slices.Contains(known, name) {
					return r.errorAt(e.GetToken(), experiment.Unknown("table", name, known))
				}
				s.Tables = append(s.Tables, name)
				return nil
			})
		case "metrics":
			m, err := r.metrics(v)
			metrics = m
			return err
		case "runs":
			return r.list(v, "runs", func(e ast.Node) error {
				rb := &block{at: e.GetToken(), seeds: []int64{0}}
				if err := r.experimentOf(rb, e); err != nil {
					return err
				}
				err := r.each(e, "an entry of runs", blockKeys, func(key string, k *token.Token, v ast.Node) error {
					return r.blockField(rb, key, k, v)
				})
				runs = append(runs, rb)
				return err
			})
		default:
			if err := misplaced(n, key); err != nil {
				return r.errorAt(k, err)
			}
			if len(fields) == 0 {
				if err := r.experimentOf(b, n); err != nil {
					return err
				}
			}
			fields = append(fields, key)
			return r.blockField(b, key, k, v)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(runs) > 0:
		s.blocks = runs
	case len(fields) > 0:
		s.blocks = []*block{b}
	case len(s.Tables) == 0:
		return nil, r.errorAt(n.GetToken(), errors.New("nothing to run: the file has no experiment, no runs and no tables"))
	}
	for _, b := range s.blocks {
		if err := r.checkBlock(b); err != nil {
			return nil, err
		}
		if err := r.checkSearch(b, len(s.blocks)); err != nil {
			return nil, err
		}
	}
	s.Metrics, err = r.checkMetrics(metrics, s.blocks)
	return s, err
}

// misplaced refuses a member of a block at the top of a file that has its blocks under runs, or tables alone.
func misplaced(file ast.Node, key string) error {
	members, _ := membersOf(file)
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m *ast.MappingValueNode) bool { return nameOf(m) == name })
	}
	or := ""
	if key == "seeds" {
		or = ", or is given by --seeds"
	}
	switch {
	case has("runs"):
		return fmt.Errorf("the file has both runs and %s at the top; %[1]s goes into the blocks under runs%s", key, or)
	case has("tables") && !has("experiment"):
		return fmt.Errorf("a file of tables alone has the settings of the tables; %s goes with an experiment%s", key, or)
	}
	return nil
}

// experimentOf looks ahead for the experiment, which decides what the other
// fields may hold.
func (r *reader) experimentOf(b *block, n ast.Node) error {
	err := r.each(n, "an entry of runs", nil, func(key string, _ *token.Token, v ast.Node) error {
		if key != "experiment" {
			return nil
		}
		name, err := r.text(v, "experiment")
		if err != nil {
			return err
		}
		e, err := r.names.Experiments.Lookup(name)
		if err != nil {
			return r.errorAt(v.GetToken(), err)
		}
		if b.exp = e; e.External {
			b.exp, b.program, err = r.program(n)
		}
		return err
	})
	if err == nil && b.exp == nil {
		return r.errorAt(n.GetToken(),
			errors.New("no experiment is named; add a line such as `experiment: privacygp/example1`"))
	}
	return err
}

func (r *reader) blockField(b *block, key string, k *token.Token, v ast.Node) error {
	switch key {
	case "params":
		return r.each(v, "params", nil, func(name string, at *token.Token, v ast.Node) error {
			a, err := r.single(b, name, at, v)
			b.params = append(b.params, a)
			return err
		})
	case "sweep":
		return r.each(v, "sweep", nil, func(name string, at *token.Token, v ast.Node) error {
			// zip and cases may also stand inside sweep: no parameter has
			// these names.
			if name == "zip" || name == "cases" {
				return r.blockField(b, name, at, v)
			}
			a, err := r.axis(b, name, at, v)
			if err == nil {
				err = r.once(a)
			}
			b.sweep = append(b.sweep, a)
			return err
		})
	case "zip":
		if b.zip != nil {
			return r.errorAt(k, errors.New("zip is given twice"))
		}
		return r.each(v, "zip", nil, func(name string, at *token.Token, v ast.Node) error {
			a, err := r.axis(b, name, at, v)
			if err == nil && len(b.zip) > 0 && len(a.values) != len(b.zip[0].values) {
				err = r.errorAt(at, fmt.Errorf("zip pairs lists of equal length, but %q has %d values and %q has %d", name,
					len(a.values), b.zip[0].name, len(b.zip[0].values)))
			}
			b.zip = append(b.zip, a)
			return err
		})
	case "cases":
		return r.list(v, "cases", func(e ast.Node) error {
			var c []axis
			err := r.each(e, "a case", nil, func(name string, at *token.Token, v ast.Node) error {
				a, err := r.single(b, name, at, v)
				c = append(c, a)
				return err
			})
			b.cases = append(b.cases, c)
			return err
		})
	case "seeds":
		raw, err := r.raw(v)
		if err != nil {
			return err
		}
		if b.seeds, err = ParseSeeds(raw); err != nil {
			return r.errorAt(v.GetToken(), err)
		}
	case "search":
		return r.search(b, k, v)
	default:
		if b.program == nil && slices.Contains(programKeys, key) {
			return r.errorAt(k, fmt.Errorf("%s is for `experiment: command`", key))
		}
	}
	return nil
}

// single reads one value of a parameter.
func (r *reader) single(b *block, name string, at *token.Token, v ast.Node) (axis, error) {
	a := axis{name: name, at: at}
	p, err := b.exp.Param(name)
	if err != nil {
		return a, r.errorAt(at, fmt.Errorf("%s: %w", b.exp.Name, err))
	}
	raw, err := r.raw(v)
	if err != nil {
		return a, err
	}
	if l, ok := raw.([]any); ok && !p.TakesList() {
		return a, r.errorAt(v.GetToken(),
			fmt.Errorf("parameter %q takes one value here, not a list of %d; lists go under sweep", name, len(l)))
	}
	c, err := p.Convert(raw)
	if err != nil {
		return a, r.errorAt(v.GetToken(), err)
	}
	a.values = []value{{v: c, at: v.GetToken()}}
	return a, nil
}

// axis reads the list of values of a parameter that varies.
func (r *reader) axis(b *block, name string, at *token.Token, v ast.Node) (axis, error) {
	a := axis{name: name, at: at}
	p, err := b.exp.Param(name)
	if err != nil {
		return a, r.errorAt(at, fmt.Errorf("%s: %w", b.exp.Name, err))
	}
	if s, ok := v.(*ast.StringNode); ok && isSpace(s.Value) {
		return a, r.values(&a, p, v, s.Value)
	} else if ok {
		if err := checkCut(s.Value); err != nil {
			return a, r.errorAt(v.GetToken(), fmt.Errorf("parameter %q: %w", name, err))
		}
	}
	seq, ok := v.(*ast.SequenceNode)
	if !ok {
		if _, err := r.raw(v); errors.Is(err, errAnchor) {
			return a, err
		}
		return a, r.errorAt(v.GetToken(),
			fmt.Errorf("parameter %q varies here and needs a list, linspace(a,b,n) or logspace(a,b,n); a single value goes "+
				"under params", name))
	}
	if len(seq.Values) == 0 {
		return a, r.errorAt(v.GetToken(), fmt.Errorf("the list of values of %q is empty", name))
	}
	for _, e := range seq.Values {
		raw, err := r.raw(e)
		if err != nil {
			return a, err
		}
		if err := r.values(&a, p, e, raw); err != nil {
			return a, err
		}
	}
	return a, nil
}

// values adds the values of a node to an axis.
func (r *reader) values(a *axis, p *experiment.Param, n ast.Node, raw any) error {
	if s, ok := raw.(string); ok {
		if err := checkCut(s); err != nil {
			return r.errorAt(n.GetToken(), fmt.Errorf("parameter %q: %w", p.Name, err))
		}
	}
	converted, err := convert(p, raw)
	if err != nil {
		return r.errorAt(n.GetToken(), err)
	}
	for _, c := range converted {
		a.values = append(a.values, value{v: c, at: n.GetToken()})
	}
	return nil
}

// checkBlock refuses parameters that are given in two places.
func (r *reader) checkBlock(b *block) error {
	where := map[string]string{}
	for _, part := range []struct {
		name string
		axes []axis
	}{{"params", b.params}, {"sweep", b.sweep}, {"zip", b.zip}} {
		for _, a := range part.axes {
			if w := where[a.name]; w != "" {
				return r.errorAt(a.at, fmt.Errorf("parameter %q is given under %s and under %s", a.name, w, part.name))
			}
			where[a.name] = part.name
		}
	}
	for _, c := range b.cases {
		for _, a := range c {
			// A case may override params, because it is an explicit setting.
			if w := where[a.name]; w == "sweep" || w == "zip" {
				return r.errorAt(a.at, fmt.Errorf("parameter %q is given under %s and in a case", a.name, w))
			}
		}
	}
	return nil
}

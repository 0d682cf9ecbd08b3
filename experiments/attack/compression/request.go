package compression

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/multikernel/projectionfile"
	"privkern/runner/experiment"
)

//go:embed request.go
var source string

func init() { experiment.Document[Settings](source) }

// Kind is the aim of an attack.
type Kind string

// The kinds.
const (
	Attribute      Kind = "attribute"
	Person         Kind = "person"
	Reconstruction Kind = "reconstruction"
)

// Kinds are all of them.
var Kinds = []string{string(Attribute), string(Person), string(Reconstruction)}

// Settings are the arguments of an attack.
type Settings struct {
	// the rows, which have the inputs of the file: csv:PATH, parquet:PATH or npy:PATH
	Dataset string `name:"dataset" default:""`
	// the column whose classes the adversary names
	Hidden string `name:"hidden" default:""`
	// the column that names the persons behind rows, all of whose rows are known or attacked; of kind=person it is hidden
	Person string `name:"person" default:""`
	// share of the rows, persons or blocks that are attacked
	Holdout float64 `name:"holdout" default:"0.5" above:"0" max:"0.9"`
	// most rows that are restored in a split, drawn at random
	Rows int `name:"rows" default:"100" min:"2" max:"100000"`

	table.Reading
}

// RefusedError is a mistake in the arguments.
type RefusedError struct{ error }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.error }

func refusedf(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }

// Request is an attack on a compression.
type Request struct {
	Kind     Kind
	Path     string // of the file
	Model    *projectionfile.Model
	Settings Settings
	Seeds    []int64
}

// Parse reads the arguments name=value of an attack.
func Parse(kind, path string, m *projectionfile.Model, args []string, seeds []int64) (*Request, error) {
	s, err := experiment.ReadSettings[Settings](args)
	if err != nil {
		return nil, &RefusedError{err}
	}
	r := &Request{Kind: Kind(kind), Path: path, Model: m, Settings: *s, Seeds: seeds}
	if s := &r.Settings; r.Kind == Person && s.Hidden == "" {
		s.Hidden, s.Person = s.Person, ""
	}
	return r, r.check()
}

// check refuses arguments that do not belong together.
func (r *Request) check() error {
	s := &r.Settings
	p := experiment.Param{Name: "kind", Kind: experiment.Text, Values: Kinds}
	if _, err := p.Convert(string(r.Kind)); err != nil {
		return &RefusedError{err}
	}
	if err := s.Valid(); err != nil {
		return &RefusedError{err}
	}
	switch {
	case s.Dataset == "":
		return refusedf("dataset is not given: name the rows, such as dataset=csv:PATH")
	case !table.Is(s.Dataset):
		return refusedf("dataset = %q: a compression is attacked on data of your own, such as csv:PATH", s.Dataset)
	case len(r.Seeds) == 0:
		return refusedf("there is no seed: each is a split, such as --seeds 0..4")
	case r.Kind == Reconstruction && s.Hidden != "":
		return refusedf("hidden = %s: a reconstruction restores the inputs of the file; leave hidden out", s.Hidden)
	case r.Kind != Reconstruction && s.Hidden == "":
		return refusedf("hidden is not given: name the column whose classes are to be named, hidden=COLUMN")
	case r.Kind == Person && s.Person != "" && s.Person != s.Hidden:
		return refusedf("person = %s and hidden = %s: with kind=person the hidden column names the persons; leave person out",
			s.Person, s.Hidden)
	}
	return nil
}

// streamOf is the random stream of a purpose.
type streamOf = func(purpose string) *rand.Rand

// stream has the random streams of a seed.
func stream(seed int64) streamOf {
	return func(purpose string) *rand.Rand {
		return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "privkern attack on a compression 1\n%d\n%s\n", seed,
			purpose))))
	}
}

// data are the rows of an attack.
type data struct {
	x       *mat.Dense // N×d, the inputs
	hidden  []int      // N, from 0; nil of a reconstruction
	classes []string
	persons []int // N, from 0; nil where no column names them
	notes   []string
}

// mostClasses bounds the classes, of which a machine decides between each two.
const mostClasses = 1000

// load reads the rows that lie at a path.
func (r *Request) load(path string) (*data, error) {
	s := &r.Settings
	inputs := r.Model.InputNames
	x, err := table.ReadPoints(s.Dataset, path, s.Reading, inputs)
	if unknown := (*experiment.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, fmt.Errorf("%w; the compression %s has the inputs %s", err, r.Path, strings.Join(inputs, ", "))
	}
	if err != nil {
		return nil, err
	}
	d := &data{x: x}
	var others []string
	for _, name := range []string{s.Hidden, s.Person} {
		if name != "" && (len(others) == 0 || name != others[0]) {
			others = append(others, name)
		}
	}
	if others == nil {
		return d, nil
	}
	// A table is read with an input: one that is no other column of the attack.
	at := slices.IndexFunc(inputs, func(in string) bool { return !slices.Contains(others, column(in, path, s)) })
	if at < 0 {
		return nil, refusedf("hidden = %s: the compression %s has no other input; kind=reconstruction restores it", s.Hidden,
			r.Path)
	}
	// All rows are kept, so that they are those of x.
	spec := table.Spec{Dataset: s.Dataset, Inputs: table.QuoteName(column(inputs[at], path, s)), Others: others,
		Reading: s.Reading, Invalid: table.Kept}
	read, err := spec.LoadFrom(&experiment.Trial{}, path)
	if err != nil {
		return nil, err
	}
	if s.Hidden != "" {
		if d.hidden, d.classes, err = read.Labels(s.Hidden); err != nil {
			return nil, err
		}
		if len(d.classes) > mostClasses {
			return nil, fmt.Errorf("hidden = %s: it has %d classes; at most %d are named", s.Hidden, len(d.classes), mostClasses)
		}
	}
	if s.Person != "" {
		if d.persons, _, err = read.Labels(s.Person); err != nil {
			return nil, err
		}
	}
	if r.Kind == Person {
		d.persons = d.hidden
	}
	return d.complete()
}

// column is the column of the table behind an input, which may be a level of a category.
func column(input, path string, s *Settings) string {
	base, _, level := strings.Cut(input, "=")
	if level && table.CheckPoints(s.Dataset, path, s.Reading, []string{base}) == nil {
		return base
	}
	return input
}

// complete leaves out rows without a hidden class or a person.
func (d *data) complete() (*data, error) {
	var kept []int
	n, _ := d.x.Dims()
	for i := range n {
		if (d.hidden == nil || d.hidden[i] >= 0) && (d.persons == nil || d.persons[i] >= 0) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("no row has a value in the columns hidden and person")
	}
	if len(kept) == n {
		return d, nil
	}
	out := &data{x: learn.SelectRows(d.x, kept), classes: d.classes,
		notes: []string{fmt.Sprintf("%d rows without a value in the columns hidden and person are left out", n-len(kept))}}
	if d.hidden != nil {
		out.hidden = learn.Select(d.hidden, kept)
	}
	if d.persons != nil {
		out.persons = learn.Select(d.persons, kept)
	}
	return out, nil
}

package regression

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

const (
	// simulatedData is the word for simulated data.
	simulatedData = "simulated"
	simulatedRows = 60
)

const (
	// maxExactRows bounds the rows without inducing inputs: there are a decomposition of their matrix for the noise of
	// every fold, and Cholesky factors of it for the likelihood.
	maxExactRows = 5000
	// maxPlacesTogether bounds the places, whose matrices are decomposed as well.
	maxPlacesTogether = 1000
)

// spec returns the columns that are read of the user's data.
func (s *Settings) spec() table.Spec {
	return table.Spec{Dataset: s.Dataset, Inputs: s.Inputs, Others: append([]string{s.Output}, s.beside()...),
		Reading: s.Reading}
}

// own reports whether the data are the user's.
func (s *Settings) own() bool { return table.Is(s.Dataset) }

// isOutput reports whether a name is that of the private column. Blanks around the setting are
// ignored. The output of simulated data is not private.
func (s *Settings) isOutput(name string) bool {
	return s.own() && strings.TrimSpace(name) == strings.TrimSpace(s.Output)
}

// files returns the user's files that a trial reads.
func (s *Settings) files() []string {
	names := s.spec().Files()
	if table.Is(s.Sensitive) && !slices.Contains(names, s.Sensitive) {
		names = append(names, s.Sensitive)
	}
	return names
}

// tables returns the columns that are looked up when a plan is made.
func (s *Settings) tables() []experiment.InputTable {
	tables := s.spec().Tables()
	if !table.Is(s.Sensitive) {
		return tables
	}
	names := s.inputNames()
	if s.hasColumn() {
		names = append(slices.Clone(names), s.XiColumn)
	}
	return append(tables, experiment.InputTable{Dataset: s.Sensitive, Columns: names, Check: func(path string) error {
		return table.CheckPoints(s.Sensitive, path, s.Reading.In(s.Dataset), names)
	}})
}

// inputNames returns the names in the setting; nil for *.
func (s *Settings) inputNames() []string {
	if !s.own() {
		return []string{"x"}
	}
	return table.Spec{Dataset: s.Dataset, Inputs: s.Inputs}.Names()
}

// rows are the data of a trial.
type rows struct {
	x        *mat.Dense // N×d
	y        []float64  // N
	names    []string   // d
	output   string
	dropped  int
	constant []string     // inputs with one value
	suspect  []string     // warnings about the inputs
	places   *mat.Dense   // γ×d, different from each other
	xi       []float64    // γ, tolerances in the unit of the setting
	listed   []float64    // tolerances of the rows of the file of places; nil without a column of them
	hidden   map[int]bool // the rows that lie at places
	data     *table.Data  // the data as read; nil for simulated data
	// forOthers reports that errors leave this machine: they show no output and no value of a
	// column that is not handed over.
	forOthers bool
	// predicates choose places; beside are their columns other than inputs and output.
	predicates, beside []string
}

// asked are the inputs.
func (r *rows) asked() []table.Input {
	if r.data == nil {
		return []table.Input{{Name: "x"}}
	}
	return r.data.Asked
}

// load reads or simulates the data and finds the sensitive places.
func load(t *experiment.Trial, s *Settings) (*rows, error) {
	r := &rows{names: []string{"x"}, output: "y", forOthers: t.ForOthers()}
	if s.own() {
		if err := r.read(t, s); err != nil {
			return nil, err
		}
	} else {
		r.simulate(t)
	}
	if err := r.check(s); err != nil {
		return nil, err
	}
	return r, r.find(t, s)
}

// check refuses rows that define no process.
func (r *rows) check(s *Settings) error {
	n := len(r.y)
	switch {
	case n < 3:
		return fmt.Errorf("%d rows: at least 3 are needed to predict some from others", n)
	case n > s.MostRows && s.own():
		return s.tooMany(n, len(r.names))
	}
	var errs []error
	for _, name := range r.constant {
		errs = append(errs, fmt.Errorf("the input %q is the same in all rows, and nothing depends on it: leave it out", name))
	}
	if slices.Min(r.y) == slices.Max(r.y) {
		errs = append(errs, fmt.Errorf("the output %s is the same in all %d rows: there is nothing to model", r.output, n))
	}
	if s.Folds > n {
		errs = append(errs, fmt.Errorf("folds = %d: there are %d rows", s.Folds, n))
	}
	if s.Hyperparameters == given && s.NoiseVariance == 0 {
		errs = append(errs, r.checkFunction())
	}
	return errors.Join(errs...)
}

// checkFunction refuses different outputs at one place, which no process without noise has.
func (r *rows) checkFunction() error {
	first := map[string]int{}
	for i, y := range r.y {
		key := placeKey(r.x.RawRowView(i))
		if j, seen := first[key]; seen && r.y[j] != y {
			outputs := fmt.Sprintf("the outputs %g and %g", r.y[j], y)
			if r.forOthers {
				outputs = "different outputs"
			}
			return fmt.Errorf("noise_variance = 0: two of the rows that are used, %d and %d, have the same inputs and %s, "+
				"which only noise can explain: give a noise_variance above 0", j+1, i+1, outputs)
		}
		first[key] = i
	}
	return nil
}

func (r *rows) read(t *experiment.Trial, s *Settings) error {
	data, err := s.spec().Load(t)
	if err != nil {
		return err
	}
	r.data, r.x, r.names, r.output, r.dropped = data, data.X, data.Names, data.Column(s.Output), data.Dropped
	r.constant, r.suspect = data.Constant, data.ColumnWarnings()
	r.y, err = data.Numbers(s.Output)
	return err
}

// simulate makes a wave with noise.
func (r *rows) simulate(t *experiment.Trial) {
	rng := t.Stream("observation noise")
	r.x, r.y = mat.NewDense(simulatedRows, 1, nil), make([]float64, simulatedRows)
	for i := range r.y {
		x := float64(i+1) / (simulatedRows + 1)
		r.x.Set(i, 0, x)
		r.y[i] = math.Sin(2*math.Pi*x) + 0.5*math.Cos(5*math.Pi*x) + 0.05*rng.NormFloat64()
	}
}

// find sets the sensitive places and the rows at them.
func (r *rows) find(t *experiment.Trial, s *Settings) error {
	wanted, err := parseSensitive(s.Sensitive)
	if err != nil {
		return err
	}
	if wanted.file != "" {
		if err := r.readPlaces(t, s); err != nil {
			return err
		}
	} else {
		if wanted.hasRows() && r.dropped > 0 {
			return fmt.Errorf("sensitive = %s: %d rows have no value in a column that is used and are left out, so that rows "+
				"cannot be named by their numbers: name a box in the inputs, or fill the values in", s.Sensitive, r.dropped)
		}
		// With inputs=* a text may turn out to be a predicate once the inputs are known.
		if err := s.checkPredicates(wanted, r.names); err != nil {
			return err
		}
		xi, err := s.tolerances(wanted.parts())
		if err != nil {
			return err
		}
		if r.places, r.xi, err = wanted.of(r, xi); err != nil {
			return err
		}
		r.predicates, _ = wanted.predicates(r.names)
		r.beside = s.beside()
	}
	if n, _ := r.places.Dims(); n > maxPlacesTogether {
		return fmt.Errorf("sensitive: %d places; at most %d are taken", n, maxPlacesTogether)
	}
	r.hide()
	return nil
}

// hide finds the rows at sensitive places. A row with the inputs of a sensitive row is sensitive,
// because the place is hidden.
func (r *rows) hide() {
	at := map[string]bool{}
	n, _ := r.places.Dims()
	for i := range n {
		at[placeKey(r.places.RawRowView(i))] = true
	}
	r.hidden = map[int]bool{}
	for i := range r.y {
		if at[placeKey(r.x.RawRowView(i))] {
			r.hidden[i] = true
		}
	}
}

// step returns the largest power of ten that divides all outputs up to rounding: the step in which
// they are written. It is 0 if that is below 1e-12 of the largest output.
func step(y []float64) float64 {
	largest := 0.0
	for _, v := range y {
		largest = math.Max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	top := math.Floor(math.Log10(largest))
	for e := top; e > top-12; e-- {
		if unit := math.Pow(10, e); multiples(y, unit, largest) {
			return unit
		}
	}
	return 0
}

func multiples(y []float64, unit, largest float64) bool {
	return !slices.ContainsFunc(y, func(v float64) bool {
		return math.Abs(v-unit*math.Round(v/unit)) > 8*0x1p-52*largest
	})
}

// tau returns the standard deviation of the independent part of the noise, in the unit of the
// output.
func (s *Settings) tau(y []float64, sd float64) (float64, error) {
	if s.Noise == none {
		return 0, nil
	}
	written := step(y)
	if s.Resolution.Is(auto) {
		return math.Max(written, sd/1000), nil
	}
	if given := s.Resolution.Number; given >= written {
		return given, nil
	}
	return 0, fmt.Errorf("resolution = %g: the outputs are written in steps of %g, and finer noise could be rounded off: "+
		"give at least that", s.Resolution.Number, written)
}

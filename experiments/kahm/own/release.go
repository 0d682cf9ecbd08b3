package own

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/kahm/machinefile"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Publishing are the settings of a release.
type Publishing struct {
	Dataset string
	*Table
	Kind wide.Data
	*wide.Pipeline
}

// Check refuses a release that would protect less than its statement.
func (s *Publishing) Check() error {
	switch {
	case s.Kind == wide.Original:
		return errors.New("data = original: what is released would be the rows themselves; use data=fabricated, or " +
			"data=noisy")
	case s.Noiseless():
		return release.ErrNoNoise
	case s.Kind == wide.Fabricated && s.Variant == wide.AsPublished:
		return errors.New("variant = as-published: the fabrication would stop at a radius of the private rows (Eq. 96); " +
			"use variant=corrected, which takes a public number of steps")
	case s.Clusters == wide.OriginalClusters && s.Branches != experiment.NumberOr[wide.Rounding](1):
		return errors.New("clusters = original: the clusters would be those of the private rows (Eq. 98); use clusters=noisy")
	case s.Variant == wide.AsPublished && s.Clusters == wide.AutoClusters &&
		s.Branches != experiment.NumberOr[wide.Rounding](1):
		return errors.New("variant = as-published: the clusters would be those of the private rows (Eq. 98); use " +
			"variant=corrected")
	case !s.hasRange(s.Dataset):
		return errors.New("low and high are not given: they are the public range of the inputs, such as low=0 high=1 or " +
			"one number for each; they decide the noise, and must not be read off the data")
	}
	if err := s.Spec(s.Dataset).CheckNamed(); err != nil {
		return err
	}
	_, err := release.Laplace(entries(1, s.D), s.Epsilon)
	return err
}

// Forms returns the forms of a release.
func (s *Publishing) Forms() []experiment.Form {
	forms := []experiment.Form{experiment.FormTable, experiment.FormArrays, experiment.FormModel}
	if s.wholePictures() {
		forms = append(forms, experiment.FormPictures)
	}
	return forms
}

// wholePictures reports whether a row is a picture with all of its pixels.
func (s *Publishing) wholePictures() bool {
	return arePictures(s.Dataset) && s.Spec(s.Dataset).Names() == nil
}

// unitError bounds the rounding error of scaling an input to [0, 1] in float64: three halves and
// a quotient, each with a relative error of 2^-53, of numbers up to the ends of the range.
const unitError = 0x1p-49

// entries returns the query of count entries in [0, 1], each a unit of protection of its own. An
// entry moves no other; the bound on the rounding to the grid is that of all entries, which
// increases the noise by a part in millions.
func entries(count int, d float64) release.Query {
	return release.Query{What: "an entry of the data, as a share of the public range of its input", Coordinates: count,
		Change: d, Error: unitError, Size: 1}
}

// Plan plans a release: samples of all rows, which depend on them through noisy entries
// alone.
func (s *Publishing) Plan(_ context.Context, t *experiment.Trial) (*release.Plan, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	r, err := s.read(t)
	if err != nil {
		return nil, err
	}
	ranges, err := s.rangesOf(s.Dataset, r, nil)
	if err != nil {
		return nil, err
	}
	n, p := r.X.Dims()
	noise, err := release.Laplace(entries(n*p, s.D), s.Epsilon)
	if err != nil {
		return nil, err
	}
	data := release.Data{Inputs: r.X, Account: dataset.LabelValues(r.Labels, r.Classes), People: r.People}
	spending := experiment.Spending{
		Dataset: s.Dataset, Epsilon: s.unitEpsilon(&s.Budget, p), Size: r.size(&s.Machine),
		Publishes: []string{experiment.UnitOutput},
		// An entry moves by at most its whole range, which is 1/d times the change that the noise is for.
		Losses: []experiment.Loss{{Law: "laplace", Size: s.Epsilon / s.D, Times: s.Rows() * p}},
	}
	return data.Plan(experiment.UnitInputs, spending,
		(&publication{s, t, r, ranges, noise}).publish), nil
}

// read reads all rows, of a release or of an export, and refuses inputs that it cannot have.
func (s *Publishing) read(t *experiment.Trial) (*Rows, error) {
	r, err := s.load(t, s.Dataset, "")
	if err != nil {
		return nil, err
	}
	if err := method.CheckNames(s.Inputs, r.Names, func(name string) bool {
		return slices.Contains(machinefile.Reserved, name)
	}); err != nil {
		return nil, err
	}
	if r.Private != nil && s.Kind != wide.Original {
		return nil, fmt.Errorf("the categories of %q would be released as they are read off the data; name them: "+
			"inputs=%[1]s[A|B|C]", r.Private[0])
	}
	r.dropEmptyClasses()
	return r, r.checkDirections(s.Pipeline)
}

// size returns the size of the rows and of the model, which has the same samples, the ranges, and λ of every layer.
func (r *Rows) size(m *wide.Machine) experiment.Size {
	n, p := r.X.Dims()
	size := release.SizeOfTable(n, r.Names)
	size.Numbers, size.Lists = n*p+2*p, n+2
	for _, rows := range groups(r.all(), r.Labels, len(r.Classes)) {
		machines := m.Count(len(rows))
		size.Numbers, size.Lists = size.Numbers+machines*m.Layers, size.Lists+machines
	}
	size.Names += release.LengthOf(r.Classes) + len(r.Output)
	for _, class := range r.Classes {
		size.Class = max(size.Class, len(class))
	}
	return size
}

// dropEmptyClasses removes the levels of the output that no row has.
func (r *Rows) dropEmptyClasses() {
	var kept []string
	for c, rows := range groups(r.all(), r.Labels, len(r.Classes)) {
		for _, i := range rows {
			r.Labels[i] = len(kept)
		}
		if rows != nil {
			kept = append(kept, r.Classes[c])
		}
	}
	r.Classes = kept
}

// publication is a release whose noise is calibrated.
type publication struct {
	*Publishing
	trial  *experiment.Trial
	rows   *Rows // only the public parts are read: names, labels, classes
	ranges *wide.Ranges
	noise  *release.Noise
}

// publish releases samples of rows (N×p), which it clips. Everything after the noise is
// post-processing.
func (p *publication) publish(ctx context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	x, _ := scaled(private, p.ranges)
	n, columns := x.Dims()
	values, err := source.Add(p.noise, x.RawMatrix().Data)
	if err != nil {
		return nil, err
	}
	noisy := mat.NewDense(n, columns, values)
	// The order of the rows in the file may depend on the private values.
	order := p.rows.all()
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(noisy.RawRowView(i), noisy.RawRowView(j)) })
	sources := p.rows.sources(noisy, order, 0)
	e := engine.Of(p.trial.Engine)
	parts, err := wide.NewBuilderOfNoisy(p.trial, e, p.Kind, p.Pipeline).Parts(ctx, sources)
	if err != nil {
		return nil, err
	}
	m, err := p.model(ctx, e, p.rows, p.ranges, parts)
	if err != nil {
		return nil, err
	}
	privacy := p.guarantee(&p.Budget, columns)
	privacy.Publish()
	privacy.Notes = append(privacy.Notes, release.ExactNoise,
		"what is released is computed from the noisy entries and public numbers alone: clusters, fabrication, machines, and "+
			"the order of the rows, which is that of their noisy values; another release spends another budget")
	m.Privacy = privacy
	out := &experiment.Release{
		Columns: p.rows.Names, ClassColumn: p.rows.Output, Model: m,
		Privacy: privacy, Warnings: e.Warnings(),
	}
	if p.wholePictures() {
		width, height, err := dataset.SizeOfPictures(p.Dataset)
		if err != nil {
			return nil, err
		}
		out.Picture = &experiment.Picture{Width: width, Height: height}
	}
	p.addRows(out, sources, parts)
	return out, nil
}

// addRows appends the samples in the units of the inputs, class by class.
func (p *publication) addRows(out *experiment.Release, sources []wide.Source, parts []wide.Part) {
	first := map[*wide.Source]int{}
	for c := range sources {
		first[&sources[c]] = len(out.Classes)
		n, _ := sources[c].Samples.Dims()
		out.Classes = append(out.Classes, slices.Repeat(p.rows.Classes[c:c+1], n)...)
	}
	out.Rows = make([][]float64, len(out.Classes))
	for _, part := range parts {
		for k, at := range part.Rows {
			row := slices.Clone(part.Samples.RawRowView(k))
			p.ranges.Restore(row)
			out.Rows[first[part.Source]+at] = row
		}
	}
}

// model returns the file of the classifier, without the statement of its protection. λ is a function of the samples.
func (s *Publishing) model(ctx context.Context, e *engine.Engine, r *Rows, ranges *wide.Ranges, parts []wide.Part,
) (*machinefile.Model, error) {
	m := &machinefile.Model{
		Format: machinefile.Format,
		About: "A classifier by the nearest kernel affine hull machine, made with differential privacy: run predict " +
			"THIS_FILE --at x.csv classifies; with the files of several parties, the nearest machine of any of them decides. " +
			"Samples are in [0, 1] but for their noise: inputs are brought there by low and high.",
		Inputs: r.Names, Low: ranges.Low, High: ranges.High, Output: r.Output, Classes: r.Classes,
		Data: experiment.NameOf(s.Kind), Directions: s.N, Layers: s.Layers,
	}
	for _, part := range parts {
		m.Machines = append(m.Machines, machinefile.Machine{Class: part.Source.Class,
			Samples: model.Rows(part.Samples)})
	}
	return m, m.Solve(ctx, e)
}

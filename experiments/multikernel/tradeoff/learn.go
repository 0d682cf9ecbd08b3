// Package tradeoff has the experiment multikernel/learn: the compressive multi-kernel of Chanyaswad,
// Chang and Kung (2017) on the user's own data. It measures how well its features predict some columns
// and another one, which they are to hide. The learnt compression is exported as a file, with which
// others compress their rows (package projectionfile).
package tradeoff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/recognise"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Learn returns the experiment multikernel/learn.
var Learn = experiment.Of(experiment.Declaration[*Settings, Metrics]{
	Name:     "multikernel/learn",
	Version:  4,
	Summary:  "your own rows compressed: what features tell of some columns, and reveal of another; exported for others",
	Source:   "Chanyaswad, Chang and Kung 2017, Sections III and V-A; the formula's rows are this project's",
	Datasets: (*Settings).datasets,
	Tables:   (*Settings).tables,
	Complete: (*Settings).complete,
	Check:    check,
	Memory:   memory,
	Run:      run,
	Written:  experiment.FormModel,
	Export:   export,
})

// tables returns the columns that are looked up when a plan is made.
func (s *Settings) tables() []experiment.InputTable {
	if !s.own() {
		return nil
	}
	tables := s.spec().Tables()
	if s.Landmarks != "" {
		marks := table.Spec{Dataset: s.Landmarks, Inputs: s.Inputs, Reading: s.Reading.In(s.Dataset)}
		if marks.Names() != nil { // * depends on the header of the data
			tables = append(tables, marks.Tables()...)
		}
	}
	return tables
}

// check refuses errors that show before the data are read.
func check(s *Settings) error {
	if err := s.checkData(); err != nil {
		return err
	}
	kernels, err := kernellist.Parse(s.Kernels)
	if err != nil {
		return fmt.Errorf("kernels: %w", err)
	}
	if _, err := recognise.NewSpec(kernels, s.Method, s.RhoSNR); err != nil {
		return err
	}
	if s.Gamma == crossValidated {
		if err := checkGrid("gamma_grid", s.GammaGrid); err != nil {
			return err
		}
		if err := checkAlike(kernels, s.GammaGrid); err != nil {
			return err
		}
	}
	if s.Rho.Is(recognise.CrossValidated) {
		return checkGrid("rho_grid", s.RhoGrid)
	}
	return nil
}

func checkGrid(name string, grid []float64) error {
	if len(grid) == 0 {
		return fmt.Errorf("%s: it is empty", name)
	}
	for i, v := range grid {
		if !(v > 0) || slices.Contains(grid[:i], v) {
			return fmt.Errorf("%s: %g is not positive, or there twice", name, v)
		}
	}
	return nil
}

// checkAlike refuses more kernels that differ in γ alone than the grid has values.
func checkAlike(kernels []kernellist.Kernel, grid []float64) error {
	count := map[string]int{}
	for _, k := range kernels {
		one, ok := k.WithGamma(1)
		if !ok {
			continue
		}
		name := one.Kernel.String()
		if count[name]++; count[name] > len(grid) {
			return fmt.Errorf("kernels: %d of them are %s with some gamma, and gamma_grid has %d values", count[name], k.Family,
				len(grid))
		}
	}
	return nil
}

// memory estimates the bytes that a trial takes: half a dozen matrices of the order of the training
// rows or, without kernels between all of them, of the landmarks, and the matrix and the cache of an
// adversary's machine; and a few numbers for each value of the user's data; 0 where these cannot be read,
// which the trial reports. With 225 to 4,500 training rows of 20 columns 66 to 763 MiB were measured, with 3,750 of
// 200 columns 668; trials without landmarks, with projection=rdca or gamma=cv take the most.
func memory(s *Settings) int64 {
	const process, float, matrices, copies = 96 << 20, 8, 7.5, 6
	if !s.own() {
		return process + 6*float*formulaRows*formulaRows
	}
	rows, inputs, err := s.spec().Size()
	if err != nil {
		return 0
	}
	share := 1 - s.TestShare
	if s.Folds > 1 {
		share = 1 - 1/float64(s.Folds)
	}
	if s.streamed() {
		return s.streamedMemory(rows, inputs, share*float64(rows))
	}
	train := min(share*float64(rows), mostRows) // a trial refuses more
	numbers := min(rows*(inputs+len(s.spec().Others)), table.MaxValues)
	return process + int64(float*(matrices*train*train+copies*float64(numbers)))
}

// streamedMemory is memory for kernels without matrices of all training rows: six matrices of the order of the
// landmarks and four of a block of rows; in a public file there are 5,000 at most, or as many as is guessed.
func (s *Settings) streamedMemory(rows, inputs int, train float64) int64 {
	const process, float, block, cache, copies = 96 << 20, 8, 2048, 256 << 20, 6
	marks := float64(max(s.Nystrom, inputs))
	if s.Landmarks != "" {
		marks = max(marks, 1000)
	}
	matrix := float * train * train // of an adversary, in float32
	switch most := float64(s.machineRows(int(train))); {
	case most > 0:
		matrix = float * min(train, most) * min(train, most)
	case train <= 6000: // two in float64 and that of test rows
		matrix *= 3
	}
	numbers := float64(min(rows*(inputs+len(s.spec().Others)), table.MaxValues))
	return process + int64(float*(6*marks*marks+4*block*marks+copies*numbers)+min(matrix, 2*cache)+matrix)
}

// learner is a trial with its data.
type learner struct {
	*experiment.Trial
	e          *engine.Engine
	settings   *Settings
	data       *data
	spec       recognise.Spec
	components int
	warnings   []string
	done, all  int
}

// newLearner reads the data of a trial.
func newLearner(t *experiment.Trial, s *Settings) (*learner, error) {
	kernels, err := kernellist.Parse(s.Kernels)
	if err != nil {
		return nil, err
	}
	l := &learner{Trial: t, e: engine.Of(t.Engine), settings: s}
	if l.spec, err = recognise.NewSpec(kernels, s.Method, s.RhoSNR); err != nil {
		return nil, err
	}
	if l.data, err = s.load(t); err != nil {
		return nil, err
	}
	l.warnings = l.data.warnings
	l.components = s.Components.Number
	switch most := l.data.jointCount - 1; {
	case s.Components.Is(byClasses):
		l.components = most
	case s.Projection == dca && l.components > most:
		return nil, fmt.Errorf("components = %d: %d (combinations of) utility classes have %d directions that distinguish "+
			"them; take at most %[3]d, or components=classes", l.components, most+1, most)
	}
	return l, nil
}

// columns returns the labels by which a split divides: the hidden ones first.
func (d *data) columns() [][]int {
	out := [][]int{d.privacy.labels}
	for _, u := range d.utilities {
		out = append(out, u.labels)
	}
	return out
}

// part is a set of training rows, scaled for compression.
type part struct {
	compressor
	scaling *learn.Scaling // nil for none
	drawn   *mat.Dense     // rows with which kernels compare, in the unit of the inputs; nil for all or for landmarks
}

// part scales rows and landmarks.
func (l *learner) part(rows []int, rho float64) (*part, error) {
	train := l.data.samples(rows)
	p := &part{compressor: compressor{Trial: l.Trial, e: l.e, projection: l.settings.Projection, train: train,
		options: discriminant.Options{Ridge: rho, SignalRidge: l.settings.RhoPrime, Components: l.components}}}
	if recognise.ConstantColumns(train.X) == len(l.data.names) {
		return nil, errors.New("every input has the same value in all training rows; there is nothing to compress")
	}
	if l.settings.Nystrom > 0 {
		marks := l.Stream("landmarks").Perm(len(rows))[:min(l.settings.Nystrom, len(rows))]
		p.drawn = learn.SelectRows(train.X, marks)
	}
	if l.settings.Standardise {
		p.scaling = learn.ScalingOf(train.X)
		p.scaling.Apply(train.X)
	}
	for _, marks := range []*mat.Dense{p.drawn, l.data.landmarks} {
		if marks != nil {
			p.landmarks = l.scaled(p.scaling, mat.DenseCopyOf(marks))
		}
	}
	return p, nil
}

// scaled scales rows, in place.
func (l *learner) scaled(s *learn.Scaling, x *mat.Dense) *mat.Dense {
	if s != nil {
		s.Apply(x)
	}
	return x
}

// step reports that a step is done.
func (l *learner) step(what string) {
	l.done++
	l.Progress(l.done, max(l.all, l.done), what)
}

// stepsOfFold counts the choice, the machines and three adversaries.
const stepsOfFold = 5

func run(ctx context.Context, t *experiment.Trial, s *Settings) (*experiment.Outcome[Metrics], error) {
	l, err := newLearner(t, s)
	if err != nil {
		return nil, err
	}
	folds := division{folds: s.Folds, share: s.TestShare, how: s.Split}.divide(l.data.columns(), l.data.groups,
		t.Stream("split"))
	l.all = len(folds) * (len(l.spec.Kernels) + stepsOfFold)
	var all []*Metrics
	for i, f := range folds {
		m, err := l.fold(ctx, f)
		if err != nil {
			if len(folds) > 1 {
				err = fmt.Errorf("fold %d of %d: %w", i+1, len(folds), err)
			}
			return nil, err
		}
		all = append(all, m)
	}
	return &experiment.Outcome[Metrics]{Metrics: *method.MeanOf(all), Privacy: l.data.privacyOf(),
		Warnings: compact(slices.Concat(l.warnings, l.e.Warnings()))}, nil
}

// compact removes repeated warnings.
func compact(warnings []string) []string {
	var out []string
	for _, w := range warnings {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// fold trains on one part of the rows and tests on the other.
func (l *learner) fold(ctx context.Context, f learn.Fold) (*Metrics, error) {
	if err := l.settings.checkRows(len(f.Train)); err != nil {
		return nil, err
	}
	if err := l.data.checkFold(f, l.settings); err != nil {
		return nil, err
	}
	c, err := l.choose(ctx, l.spec.Kernels, f.Train)
	if err != nil {
		return nil, err
	}
	l.step("kernels chosen")
	l.warnings = append(l.warnings, c.edges...)
	p, err := l.part(f.Train, c.rho)
	if err != nil {
		return nil, err
	}
	test := l.data.samples(f.Test)
	l.scaled(p.scaling, test.X)
	factors, tests := make([]*mat.Dense, len(c.kernels)), make([]*mat.Dense, len(c.kernels))
	for _, k := range c.kernels { // before the first one takes its time
		if err := p.check(ctx, k); err != nil {
			return nil, err
		}
	}
	for i, k := range c.kernels {
		if factors[i], tests[i], err = p.features(ctx, k, test.X); err != nil {
			return nil, err
		}
		l.step("kernels compressed")
	}
	features, err := l.spec.Combine(ctx, l.e, factors, tests, p.train.Utility, p.train.Privacy)
	if err != nil {
		return nil, err
	}
	if w := recognise.NotCompressed(l.components, features.Weights, len(l.data.names)); w != "" {
		l.warnings = append(l.warnings, w)
	}
	m := &Metrics{Components: float64(l.components), Rank: float64(features.Rank), TrainSamples: float64(len(f.Train)),
		TestSamples: float64(len(f.Test)), Weight: map[string]float64{}}
	if l.settings.Projection != pca {
		m.Rho = &c.rho
	}
	for i, name := range kernellist.MetricNames(c.kernels) {
		m.Weight[name] = features.Weights[i]
		if l.settings.Gamma == crossValidated && len(c.kernels[i].Parameters) > 0 {
			if m.Gamma == nil {
				m.Gamma = map[string]float64{}
			}
			m.Gamma[name] = c.kernels[i].Parameters[0]
		}
	}
	if err := l.judge(ctx, m, features, p.train, test, f); err != nil {
		return nil, err
	}
	return m, nil
}

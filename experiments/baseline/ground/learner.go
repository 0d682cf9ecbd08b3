package ground

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Problem is the public part of a trial, from which an [Algorithm] is prepared.
type Problem struct {
	*Data
	Trial  *experiment.Trial
	Engine *engine.Engine
	Rows   *method.Rows
	// Dims is d, the number of columns of the inputs; Classes is C, 0 of a regression.
	Dims, Classes int
	// Slots is N, the public number of places for rows: of all, of which a split trains on fewer.
	Slots int
}

// Algorithm is a baseline of which all that is public is computed: the noise of its queries too.
type Algorithm[B Body] interface {
	// Fit learns of rows by sums over them. Their inputs are in [-1, 1], and their outputs too.
	Fit(ctx context.Context, rows *method.Part, sums *Sums) (B, error)
	// Losses are the privacy losses of a fit, for one protected unit.
	Losses() []experiment.Loss
	// Mechanism describes it, with its source.
	Mechanism() string
	// Public names the settings that must not be read off the data, besides the public ranges.
	Public() string
	// Size counts the numbers in lists of a body, and its lists of numbers.
	Size() (numbers, lists int)
}

// Viewer is an [Algorithm] that sees other numbers of a row than its inputs, such as features of them.
type Viewer interface {
	// View returns rows with those numbers in place of their inputs, each computed from its row alone.
	View(ctx context.Context, rows *method.Part) (*method.Part, error)
}

// Baseline declares a baseline with the settings S and the body B. Name, Version, Summary, Source and Check of the
// declaration are given.
type Baseline[S any, B Body] struct {
	Name            string
	Version         int
	Summary, Source string
	Data            func(*S) *Data
	// Check refuses settings that no data can have, and CheckRelease those that no release has; nil for none.
	Check, CheckRelease func(*S) error
	// Unit is the unit of protection: empty for [experiment.UnitRow], or [experiment.UnitOutput], which takes inputs to
	// be public: then the settings have [OutputData].
	Unit    string
	Prepare func(*Problem, *S) (Algorithm[B], error)
	// Held is how many numbers a fit holds for each row besides those that are read, for the estimate of its memory.
	Held int
	// More is how many numbers it holds besides those with some settings; nil for none.
	More   func(*S) int
	Format string // of a file, such as "baseline/adassp/1"
	About  string // describes it to the reader of a file, and how it predicts
	Advice method.Advice
}

// mostClasses bounds the classes of a user's own data.
const mostClasses = 100

// Regression returns the definition of a baseline of regressions, whose settings have a range of the output.
func Regression[S any, B Body](b Baseline[S, B], output func(*S) *method.OutputRange) *method.Definition[S,
	RegressionMetrics, *Learner[B]] {
	m := method.Method[S, RegressionMetrics, *Learner[B]]{Task: method.Regression, Simulate: simulateValues}
	m.Settings = func(s *S) method.Settings { return b.Data(s).settings(output(s)) }
	m.Metrics = func(_ *Learner[B], s *method.Scores) RegressionMetrics { return regressionMetrics(s) }
	return of(b, m)
}

// Classification returns the definition of a baseline of classifications.
func Classification[S any, B Body](b Baseline[S, B]) *method.Definition[S, method.ClassificationScores, *Learner[B]] {
	m := method.Method[S, method.ClassificationScores, *Learner[B]]{Task: method.Classification, Simulate: simulateClasses}
	m.Settings = func(s *S) method.Settings { return b.Data(s).settings(nil) }
	m.Metrics = func(_ *Learner[B], s *method.Scores) method.ClassificationScores { return s.Classification }
	return of(b, m)
}

// of completes the declaration of a method.
func of[S, M any, B Body](b Baseline[S, B], m method.Method[S, M, *Learner[B]]) *method.Definition[S, M, *Learner[B]] {
	task := m.Task
	m.Declaration = experiment.Declaration[*S, M]{
		Name: b.Name, Version: b.Version, Summary: b.Summary, Source: b.Source, Written: experiment.FormModel,
		Check: func(s *S) error {
			if err := b.Data(s).check(b.Unit); err != nil || b.Check == nil {
				return err
			}
			return b.Check(s)
		},
		CheckRelease: func(s *S) error {
			if err := b.Data(s).checkRelease(task); err != nil || b.CheckRelease == nil {
				return err
			}
			return b.CheckRelease(s)
		},
		Memory: func(s *S) int64 {
			held := b.Held
			if b.More != nil {
				held += b.More(s)
			}
			return b.Data(s).memory(process, held)
		},
	}
	m.Unit, m.Advice = b.Unit, b.Advice
	m.Taken = func(name string, classes []string) bool { return slices.Contains(taken(task, classes), name) }
	m.Prepare = func(_ context.Context, t *experiment.Trial, s *S, rows *method.Rows) (*Learner[B], error) {
		l := &Learner[B]{Problem: &Problem{Data: b.Data(s), Trial: t, Engine: engine.Of(t.Engine), Rows: rows,
			Dims: len(rows.Inputs), Classes: len(rows.Classes), Slots: rows.Slots}, format: b.Format, about: b.About,
			unit: b.Unit}
		if b.Unit == experiment.UnitOutput { // of every row: empty places are none, as the number of rows is public
			l.Slots = rows.Len()
		}
		var err error
		if l.low, l.high, err = l.ends(task); err != nil {
			return nil, err
		}
		l.algorithm, err = b.Prepare(l.Problem, s)
		return l, err
	}
	return method.Of(m)
}

// ends returns the public range of the inputs, and refuses classes that none can tell apart. It adds warnings to those
// of the rows.
func (p *Problem) ends(task method.Task) (low, high []float64, err error) {
	if task == method.Classification {
		switch n := p.Classes; {
		case n < 2:
			return nil, nil, fmt.Errorf("output = %s: all rows are of one class, and there is nothing to tell apart",
				p.Rows.Output)
		case n > mostClasses:
			return nil, nil, fmt.Errorf("output = %s: it has %d different labels; at most %d classes are possible",
				p.Rows.Output, n, mostClasses)
		}
	}
	if low, high, err = p.inputRange().Of(p.Rows.Asked, simulatedEnd); err != nil {
		return nil, nil, err
	}
	if p.IsOwn() && !p.Trial.ForOthers() {
		p.Rows.Suspect = append(p.Rows.Suspect, p.inputRange().Warnings(p.Rows)...)
	}
	return low, high, nil
}

// Learner is a baseline that is prepared for rows.
type Learner[B Body] struct {
	*Problem
	algorithm     Algorithm[B]
	low, high     []float64 // d, the public range of the inputs
	format, about string
	unit          string // of protection
}

// seen returns rows as the algorithm sees them, with inputs in [−1, 1] or what it takes for these.
func (l *Learner[B]) seen(ctx context.Context, rows *method.Part) (*method.Part, error) {
	rows = scaled(rows, l.low, l.high)
	if v, ok := l.algorithm.(Viewer); ok {
		return v.View(ctx, rows)
	}
	return rows, nil
}

// scaled returns rows with inputs in [−1, 1], by their range.
func scaled(rows *method.Part, low, high []float64) *method.Part {
	out := *rows
	out.X = boxed(rows.X, low, high)
	return &out
}

// fit is a body for each of the sources of noise.
type fit[B Body] struct {
	*Learner[B]
	bodies []B
}

// Fit implements [method.Learner].
func (l *Learner[B]) Fit(ctx context.Context, rows *method.Part, noise ...*rand.Rand) (method.Fit, error) {
	out := &fit[B]{Learner: l}
	rows, err := l.seen(ctx, rows)
	if err != nil {
		return nil, err
	}
	for _, rng := range noise {
		body, err := l.algorithm.Fit(ctx, rows, l.Judging(ctx, rows, rng))
		if err != nil {
			return nil, err
		}
		out.bodies = append(out.bodies, body)
	}
	return out, nil
}

// Predict implements [method.Fit].
func (f *fit[B]) Predict(ctx context.Context, x *mat.Dense) ([]method.Prediction, error) {
	x = boxed(x, f.low, f.high)
	var out []method.Prediction
	for _, body := range f.bodies {
		values, err := body.Evaluate(ctx, f.Engine, x)
		if err != nil {
			return nil, err
		}
		p := method.Prediction{}
		if f.Classes > 0 {
			p.Scores, p.Probabilities = values, values
		} else {
			p.Mean = values[0]
			if s, ok := any(body).(Spread); ok {
				if p.Variance, p.Noise, err = s.Variance(ctx, f.Engine, x); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// Guarantee states the protection by a release; nil without noise.
func (l *Learner[B]) Guarantee() *experiment.Privacy {
	if l.Noiseless() {
		return nil
	}
	p := l.rowsProtected()
	if l.unit == experiment.UnitOutput {
		p = l.outputsProtected()
	}
	p.Mechanism = l.algorithm.Mechanism()
	p.State(l.Epsilon, l.Delta)
	l.Neighbours.State(p)
	return p
}

// rowsProtected describes the protection of whole rows.
func (l *Learner[B]) rowsProtected() *experiment.Privacy {
	s := l.settings(nil)
	return &experiment.Privacy{
		Unit: l.rowUnit(fmt.Sprintf("inputs (%s) and %s (%s)", strings.Join(l.Rows.Inputs, ", "), l.outputWord(),
			l.Rows.Output)),
		Notes: []string{
			"protects inputs and outputs of " + s.Person.Whose() + "; " + s.Counted(),
			l.publicNote("the range of the inputs"),
		},
	}
}

// outputsProtected describes the protection of outputs alone, in words like those of cloaking.
func (l *Learner[B]) outputsProtected() *experiment.Privacy {
	s := l.settings(nil)
	output := fmt.Sprintf("%s (%s)", l.outputWord(), l.Rows.Output)
	p := &experiment.Privacy{Unit: "the " + output + " of one row, substituted by any other", Notes: []string{
		fmt.Sprintf("protects the %s of %s alone: inputs (%s) and who is in the data are taken as public, and so is which "+
			"rows have a value", output, s.Person.Whose(), strings.Join(l.Rows.Inputs, ", "))}}
	if l.Classes > 0 {
		p.Notes = append(p.Notes, l.publicNote("which classes there are"))
	} else {
		p.Notes = append(p.Notes, l.publicNote())
	}
	if s.Person.Given() {
		p.Unit = fmt.Sprintf("every %s of %s, each substituted by any other; inputs and which person has which row are "+
			"public", output, s.Person.Whom())
		p.Notes = append(p.Notes, s.Person.Drawn())
	}
	return p
}

// outputWord names the predicted column's kind.
func (l *Learner[B]) outputWord() string {
	if l.Classes > 0 {
		return "class"
	}
	return "output"
}

// publicNote lists all that is taken as public: the range of the output of a regression, and settings, too.
func (l *Learner[B]) publicNote(public ...string) string {
	if l.Classes == 0 {
		public = append(public, "the range of the output")
	}
	if p := l.algorithm.Public(); p != "" {
		public = append(public, p)
	}
	return "public, and so not to be read off the data: " + strings.Join(public, ", ") + "; the guarantee does not " +
		"cover choosing them by the data"
}

// publishes are the parts of rows of which a release discloses functions without noise: where outputs alone are
// protected, a body depends on the inputs, and they may be computed from it.
func (l *Learner[B]) publishes() []string {
	if l.unit == experiment.UnitOutput {
		return []string{experiment.UnitInputs}
	}
	return nil
}

// Publication implements [method.Publisher].
func (l *Learner[B]) Publication(context.Context) (*method.Publication, error) {
	numbers, lists := l.algorithm.Size()
	return &method.Publication{
		Losses: l.algorithm.Losses(), Publishes: l.publishes(),
		Size: experiment.Size{Numbers: numbers + 2*l.Dims, Lists: lists + 2,
			Names: release.LengthOf(l.Rows.Inputs) + len(l.Rows.Output) + release.LengthOf(l.Rows.Classes)},
		Publish: func(ctx context.Context, rows *method.Part, privacy *experiment.Privacy, source *release.Source) (
			*experiment.Release, error) {
			rows, err := l.seen(ctx, rows)
			if err != nil {
				return nil, err
			}
			body, err := l.algorithm.Fit(ctx, rows, &Sums{ctx: ctx, engine: l.Engine, rows: rows, source: source})
			if err != nil {
				return nil, err
			}
			return &experiment.Release{Model: l.file(body, privacy)}, nil
		},
	}, nil
}

// file is that of a released model.
func (l *Learner[B]) file(body B, privacy *experiment.Privacy) *File[B] {
	return &File[B]{Format: l.format, About: l.about, Inputs: l.Rows.Inputs, Low: l.low, High: l.high,
		Output:     Output{Name: l.Rows.Output, Centre: l.Rows.Centre, Scale: l.Rows.Scale, Classes: l.Rows.Classes},
		Parameters: body, Privacy: privacy}
}

package choose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/compare"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Candidate is a method that may be chosen.
type Candidate struct {
	*compare.Entry
	// Trained and Released are the ε, at the δ of the whole, with which it is trained for the choice, and is released.
	Trained, Released float64

	planner           planner
	params            experiment.Params // of its release with the whole budget
	trained, released *method.Planned
}

// planned is a choice of which all that is public is computed.
type planned struct {
	*Choice
	t               *experiment.Trial
	full            *method.Planned // the release of all units by the first candidate, for the rows
	units           string          // [experiment.UnitRow] or [experiment.UnitOutput]
	training, tests []int           // A and B
	perUnit         int             // the most rows of a unit
}

// prepare divides the units, and plans the candidates' releases. Its errors are for the operator.
func (c *Choice) prepare(ctx context.Context, t *experiment.Trial) (*planned, error) {
	p := &planned{Choice: c, t: t, units: experiment.UnitRow}
	if c.contest.Unit == experiment.UnitOutput {
		p.units = experiment.UnitOutput
	}
	var err error
	if p.full, err = c.Candidates[0].at(ctx, p, c.Budget.Epsilon, nil); err != nil {
		return nil, err
	}
	p.perUnit = p.full.Rows.People.Most()
	if err := p.divide(); err != nil {
		return nil, err
	}
	counter := experiment.NewCounter(t.Progress, len(c.Candidates), "candidates")
	for _, candidate := range c.Candidates {
		if err := candidate.plan(ctx, p); err != nil {
			return nil, fmt.Errorf("%s: %w; methods= names those among which to choose", candidate.Experiment, err)
		}
		counter.Step()
	}
	return p, nil
}

// plan is that of the choice and of the release after it.
func (p *planned) plan() *release.Plan {
	return &release.Plan{Private: p.full.Private, People: p.full.People, Spending: p.spending(), Publish: p.publish}
}

// mostHeldOut is the largest number of rows by which is chosen, each of which is predicted alone: more tell methods no
// better apart.
const mostHeldOut = 4096

// divide draws the units that are held out: all divisions are equally likely.
func (p *planned) divide() error {
	n := p.full.Rows.Units()
	tests := min(int(math.Round(p.HeldOut*float64(n))), max(1, mostHeldOut/p.perUnit))
	if tests < 1 || tests >= n {
		return fmt.Errorf("holding out %g of %d %s leaves none to train on, or none to choose by", p.HeldOut, n, p.Whose())
	}
	order := p.t.Stream("division").Perm(n)
	p.tests, p.training = order[:tests], order[tests:]
	slices.Sort(p.tests)
	slices.Sort(p.training)
	p.Tests, p.Training = len(p.tests), len(p.training)
	return nil
}

// at plans the release of some of the units, or of all, by a candidate at an ε.
func (c *Candidate) at(ctx context.Context, p *planned, epsilon float64, units []int) (*method.Planned, error) {
	params, err := p.contest.ReleaseParams(c.Entry, epsilon)
	if err != nil {
		return nil, err
	}
	t := *p.t
	t.Experiment, t.ResultVersion, t.Params = c.Experiment, c.Definition.Version, params
	return c.planner(ctx, &t, p.units, units)
}

// plan plans the candidate's training for the choice, and its release.
func (c *Candidate) plan(ctx context.Context, p *planned) (err error) {
	c.trained, c.Trained, err = c.within(ctx, p, p.Budget.Candidate, p.training)
	if err != nil || p.Budget.Release == 0 {
		return err
	}
	c.released, c.Released, err = c.within(ctx, p, p.Budget.Release, nil)
	return err
}

const (
	// closeEnough is the part of a μ that is, and mostPlans how many plans are made to come as close to it.
	closeEnough = 0.999
	mostPlans   = 24
)

// within plans a release of μ-Gaussian differential privacy at most, at the ε that comes close to it. For queries with
// Gaussian noise that is the ε of μ; the μ of others is looked for.
func (c *Candidate) within(
	ctx context.Context, p *planned, mu mechanism.GDP, units []int,
) (best *method.Planned, epsilon float64, err error) {
	next, err := mu.Epsilon(p.Budget.Delta)
	if err != nil {
		return nil, 0, err
	}
	next, high := next*below, math.Inf(1)
	for range mostPlans {
		out, err := c.at(ctx, p, next, units)
		if err != nil {
			return nil, 0, err
		}
		is, err := gdpOf(out.Spending.Losses)
		if err != nil {
			return nil, 0, err
		}
		if is > mu {
			high = next
		} else if best, epsilon = out, next; is >= closeEnough*mu {
			break
		}
		if next *= below * float64(mu/is); !(epsilon < next && next < high) {
			next = epsilon + (min(high, 4*epsilon)-epsilon)/2
		}
	}
	if best == nil {
		return nil, 0, fmt.Errorf("no release was found with noise of mu = %.3g", float64(mu))
	}
	return best, epsilon, nil
}

// spending is that of the whole: it follows from no private number which candidate is released.
func (p *planned) spending() experiment.Spending {
	s := p.full.Spending
	s.Epsilon, s.Delta = p.Budget.Epsilon, p.Budget.Delta
	s.Losses = []experiment.Loss{{Law: gaussian, Size: float64(p.Budget.Whole), Times: 1}}
	s.Publishes, s.Size = nil, experiment.Size{}
	for _, c := range p.Candidates {
		for _, part := range c.trained.Spending.Publishes {
			if !slices.Contains(s.Publishes, part) {
				s.Publishes = append(s.Publishes, part)
			}
		}
		if c.released != nil {
			s.Size = largest(s.Size, c.released.Spending.Size)
		}
	}
	return s
}

// largest is the size of the larger of two releases, member by member.
func largest(a, b experiment.Size) experiment.Size {
	return experiment.Size{Rows: max(a.Rows, b.Rows), Columns: max(a.Columns, b.Columns), Class: max(a.Class, b.Class),
		Numbers: max(a.Numbers, b.Numbers), Lists: max(a.Lists, b.Lists), Names: max(a.Names, b.Names)}
}

// publish chooses by private rows, and releases the chosen method.
func (p *planned) publish(
	ctx context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	utilities, err := p.utilities(ctx, private, source)
	if err != nil {
		return nil, err
	}
	i, err := source.Choose(release.Choice{What: "method", Epsilon: p.Budget.Exponential, Change: float64(p.perUnit)},
		utilities)
	if err != nil {
		return nil, err
	}
	p.Winner = p.Candidates[i]
	if p.Budget.Release == 0 {
		return p.chosen(), nil
	}
	out, err := p.Winner.released.Publish(ctx, private, source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Winner.Experiment, err)
	}
	out.Metrics = nil // those of a trial of the method
	p.state(out.Privacy)
	return out, nil
}

// utilities trains the candidates on A, and returns the sums of their losses on B with a minus. Predictions have an
// engine of their own, because a release shows the warnings of the trial's.
func (p *planned) utilities(
	ctx context.Context, private *mat.Dense, source *release.Source,
) (out []float64, err error) {
	e, err := engine.Open("cpu", experiment.Float64, p.t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	a, truth := p.rows(private, p.training), p.truths(private)
	for _, c := range p.Candidates {
		trained, err := c.trained.Publish(ctx, a, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Experiment, err)
		}
		payload, ok := trained.Model.(model.Payload)
		if !ok {
			return nil, fmt.Errorf("a defect in %s: its release is no model", c.Experiment)
		}
		query := model.Query{Engine: e, Files: []model.File{{Payload: payload}}}
		sum, err := truth.sum(ctx, p.loss, &query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Experiment, err)
		}
		out = append(out, -float64(sum)/unit) // exact
	}
	return out, nil
}

// rows are the rows of some of the units in the private matrix, places of a unit one after the other.
func (p *planned) rows(private *mat.Dense, units []int) *mat.Dense {
	n, columns := private.Dims()
	out := mat.NewDense(len(units)*p.perUnit, columns, nil)
	count := 0
	for _, u := range units {
		for row := u * p.perUnit; row < min(n, (u+1)*p.perUnit); row++ {
			out.SetRow(count, private.RawRowView(row))
			count++
		}
	}
	return out.Slice(0, count, 0, columns).(*mat.Dense)
}

// truths are the rows that are held out. Of outputs alone the inputs are public.
func (p *planned) truths(private *mat.Dense) *truths {
	r := p.full.Rows
	held := p.rows(private, p.tests)
	n, columns := held.Dims()
	out := &truths{values: mat.Col(nil, columns-1, held), scale: r.Scale, classes: r.Classes}
	if p.units == experiment.UnitOutput {
		out.inputs = p.rows(r.X, p.tests)
		return out
	}
	out.inputs = mat.DenseCopyOf(held.Slice(0, n, 0, columns-1))
	for i, v := range out.values {
		if math.IsNaN(v) {
			out.inputs.SetRow(i, make([]float64, columns-1))
		}
	}
	return out
}

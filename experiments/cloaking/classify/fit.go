package classify

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/graphs/engine"
	"privkern/graphs/laplace"
)

// publicFit holds the public inputs of a fit: all but the labels.
type publicFit struct {
	inputs cloak.Groups
	cov    *covariances
	// units are the distinct inputs of the labels of each protected person; nil where one label is protected.
	units [][]int
	// first is the release of the first Newton step, where it is calibrated
	// already.
	first *cloak.Mechanism
}

// prepare computes the public part of a fit at the training inputs (N×d) whose latent function is
// wanted at the test inputs (P×d). The purpose names the random streams; "" where there is one fit
// only.
func (c *classifier) prepare(ctx context.Context, train, test *mat.Dense, purpose string) (*publicFit, error) {
	train, err := c.settings.Scaled(train)
	if err != nil {
		return nil, err
	}
	if test, err = c.settings.Scaled(test); err != nil {
		return nil, err
	}
	p := &publicFit{inputs: cloak.Group(train)}
	p.cov, err = c.covariances(ctx, train, p.inputs, test, purpose)
	return p, err
}

// sums are those of labels at the distinct training inputs.
func (p *publicFit) sums(labels []float64) []float64 {
	sums := make([]float64, len(p.inputs.Count))
	for i, u := range p.inputs.Of {
		sums[u] += labels[i]
	}
	return sums
}

// predict fits the classifier to the labels (±1) of the training inputs and
// returns the latent function at the test inputs.
func (c *classifier) predict(ctx context.Context, train *mat.Dense, labels []float64,
	test *mat.Dense) (*prediction, error) {
	p, err := c.prepare(ctx, train, test, "")
	if err != nil {
		return nil, err
	}
	defer p.cov.model.Close()
	return c.fit(ctx, p, labels, "")
}

// fit is predict after prepare.
//
// Labels at equal inputs are taken together, which changes nothing but the size of the matrices:
// each still is an output of its own, that moves a step by the column of its input.
//
// The labels are used through the releases of the Newton steps alone: at each, in the whitened
// coordinates B of the cloaking matrix's range, the vector w = By + noise. [design.Range.Labels]
// turns it into labels with noise, with which the step is the ordinary one.
func (c *classifier) fit(ctx context.Context, p *publicFit, labels []float64, purpose string) (*prediction, error) {
	if c.scale == 0 {
		fits, _, err := c.fitModes(ctx, []*publicFit{p}, [][]float64{labels})
		if err != nil {
			return nil, err
		}
		return fits[0], nil
	}
	sums := p.sums(labels)
	out := new(prediction)
	modes := [][]float64{make([]float64, len(sums))} // f at the training inputs: one until the draws part
	var duals []*mat.Dense
	var err error
	for out.steps = 0; out.steps < c.steps.Number; out.steps++ {
		if c.source != nil {
			modes, duals, err = c.publish(ctx, p, modes[0], sums, out)
		} else {
			modes, duals, err = c.step(ctx, p, modes, sums, purpose, out)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d of the Laplace approximation: %w", out.steps+1, err)
		}
	}
	return out, c.posterior(ctx, p.cov, modes, duals, out)
}

// calibrated returns the release of a Newton step from a mode, which is public.
func (c *classifier) calibrated(ctx context.Context, p *publicFit, mode []float64) (*cloak.Mechanism, error) {
	ranges, designs, err := c.designs(ctx, p.cov.model, [][]float64{mode}, "release", true)
	if err != nil {
		return nil, err
	}
	return cloak.NewLabelMechanism(ranges[0], designs[0], &c.settings.GaussianBudget, c.steps, p.inputs.Count, p.units)
}

// publish takes a Newton step of a release from a mode.
func (c *classifier) publish(ctx context.Context, p *publicFit, mode, sums []float64,
	out *prediction) (next [][]float64, duals []*mat.Dense, err error) {
	s := p.first
	if out.steps > 0 || s == nil {
		if s, err = c.calibrated(ctx, p, mode); err != nil {
			return nil, nil, err
		}
	}
	w, err := s.NoisySums(sums, c.source)
	if err != nil {
		return nil, nil, err
	}
	step, err := p.cov.model.Step(ctx, mode, s.Directions.Labels(w))
	if err != nil {
		return nil, nil, err
	}
	out.releases = append(out.releases, cloak.QualityOf(s.Directions, s.Design))
	c.t.Progress(out.steps+1, c.steps.Number, "releases")
	return columns(step.Latent), []*mat.Dense{step.Dual}, nil
}

// drawsTogether bounds how many draws have their ranges and designs in memory, and rangeElements the elements of one
// factor of all of these, 64 MiB; of ranges of up to maxInputsStandard inputs any sixteen.
const (
	drawsTogether = 16
	rangeElements = 1 << 23
)

// drawsAtOnce is how many draws have theirs in memory for n different training inputs.
func (c *classifier) drawsAtOnce(n int) int {
	if n <= maxInputsStandard {
		return drawsTogether
	}
	return max(1, min(drawsTogether, rangeElements/(n*c.settings.Inducing)))
}

// step takes a Newton step from each of the modes. While there is one, its
// release is drawn as often as there are draws; from then on each draw has a
// cloaking matrix, a design and a release of its own.
func (c *classifier) step(ctx context.Context, p *publicFit, modes [][]float64, labels []float64, purpose string,
	out *prediction) (next [][]float64, duals []*mat.Dense, err error) {
	m, together := p.cov.model, c.drawsAtOnce(len(labels))
	for first := 0; first < len(modes); first += together {
		block := modes[first:min(first+together, len(modes))]
		ranges, designs, err := c.designs(ctx, m, block,
			purposed(fmt.Sprintf("step %d, draws from %d", out.steps+1, first), purpose), c.t.Secure)
		if err != nil {
			return nil, nil, err
		}
		steps := make([]*laplace.Step, len(block))
		err = c.e.ParallelFor(ctx, len(block), 1, func(i, _ int) (err error) {
			noise := c.noise(designs[i], out.steps+1, first+i, purpose)
			if p.units != nil {
				noise.Scale(cloak.Moves(ranges[i], designs[i], p.units), noise)
			}
			steps[i], err = m.Step(ctx, block[i], ranges[i].Labels(ranges[i].Coordinates(labels, noise)))
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range steps {
			next, duals = append(next, columns(s.Latent)...), append(duals, s.Dual)
		}
		for i, d := range designs {
			out.releases = append(out.releases, cloak.QualityOf(ranges[i], d))
		}
		c.t.Progress(out.steps*len(modes)+first+len(block), c.steps.Number*len(modes), "releases")
	}
	return next, duals, nil
}

// designs are those of a Newton step from each of the modes. The purpose names the stream of random
// first weights; onHost is that of [cloak.Work].
func (c *classifier) designs(ctx context.Context, m *laplace.Model, modes [][]float64, purpose string,
	onHost bool) ([]*design.Range, []*design.Design, error) {
	ranges := make([]*design.Range, len(modes))
	err := c.e.ParallelFor(ctx, len(modes), 1, func(i, _ int) error {
		values, vectors, err := m.Spectrum(ctx, modes[i])
		if err != nil {
			return err
		}
		ranges[i], err = design.FromSpectrum(values, vectors, c.settings.Directions(), cloak.RankTolerance(c.e))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	designs, err := cloak.SolveRanges(ctx, &cloak.Work{Engine: c.e, Solver: &c.settings.Solver, MaxSteps: c.caps.Design,
		OnHost: onHost, Stream: func(what string) *rand.Rand { return c.t.Stream(purposed(what, purpose)) }}, ranges)
	return ranges, designs, err
}

// noise draws that of a Newton step, counted from 1: all draws together of the first,
// and the one of that number of a later step.
func (c *classifier) noise(d *design.Design, step, draw int, purpose string) *mat.Dense {
	name, draws := fmt.Sprintf("noise, step %d", step), c.draws
	if step > 1 {
		name, draws = fmt.Sprintf("%s, draw %d", name, draw), 1
	}
	noise := d.Coordinates(c.t.Stream(purposed(name, purpose)), draws)
	noise.Scale(c.scale, noise)
	return noise
}

// posterior computes the mean at the test inputs from the released modes alone,
// E[f_*] = k_*ᵀK⁻¹f (Section 3), and where probabilities need it the variance with W at f.
func (c *classifier) posterior(ctx context.Context, cov *covariances, modes [][]float64, duals []*mat.Dense,
	out *prediction) error {
	dual := duals[0]
	for _, d := range duals[1:] {
		wider := new(mat.Dense)
		wider.Augment(dual, d)
		dual = wider
	}
	out.mean = new(mat.Dense)
	out.mean.Mul(cov.cross.T(), dual)
	if c.settings.Probability != Averaged {
		return nil
	}
	out.variance = mat.NewDense(len(cov.prior), len(modes), nil)
	parts, err := cov.model.Variances(ctx, modes, cov.cross)
	for j, part := range parts {
		for i, v := range part {
			out.variance.Set(i, j, max(0, cov.prior[i]+cov.sign*v))
		}
	}
	return err
}

// short is the error of a mode that had to converge and has not.
func short(m *laplace.Mode, e *engine.Engine) error {
	return fmt.Errorf("the Laplace approximation stopped after %d Newton steps, the most that are allowed, of which the "+
		"last one moved the latent function by %.1e of its size or of 1, and at most %.0e is wanted; use a smaller "+
		"kernel_variance or another lengthscale", m.Steps, m.Change, laplace.Tolerance(e))
}

// converged reports that the last step moved f by rounding errors only.
func converged(m *laplace.Mode, e *engine.Engine) bool { return m.Change <= laplace.Tolerance(e) }

// modeElements bounds the elements of the covariances of fits whose modes are found together,
// 64 MiB in float64.
const modeElements = 1 << 23

// together is how many fits to some training rows have their modes found together.
func (c *classifier) together(rows int) int {
	columns := rows
	if c.method != cloak.Standard {
		columns = c.settings.Inducing
	}
	return max(1, modeElements/(rows*columns))
}

// fitModes fits without noise to labels of several training sets, whose modes are found in common
// runs. An error comes with the number of its fit, -1 for all of them.
func (c *classifier) fitModes(ctx context.Context, fits []*publicFit, labels [][]float64) ([]*prediction, int, error) {
	problems := make([]laplace.Problem, len(fits))
	for i, p := range fits {
		problems[i] = laplace.Problem{Model: p.cov.model, Sums: p.sums(labels[i])}
	}
	modes, err := laplace.Modes(ctx, c.e, problems, c.steps.Number)
	if err != nil {
		return nil, -1, err
	}
	out := make([]*prediction, len(fits))
	for i := range modes {
		if out[i], err = c.atMode(ctx, fits[i].cov, &modes[i]); err != nil {
			return nil, i, err
		}
	}
	return out, -1, nil
}

// atMode is the prediction at a mode.
func (c *classifier) atMode(ctx context.Context, cov *covariances, m *laplace.Mode) (*prediction, error) {
	if m.Err != nil {
		return nil, m.Err
	}
	out := &prediction{steps: m.Steps}
	if !converged(m, c.e) {
		if c.converge {
			return nil, short(m, c.e)
		}
		out.moved = m.Change
	}
	return out, c.posterior(ctx, cov, [][]float64{m.Latent}, []*mat.Dense{mat.NewDense(len(m.Dual), 1, m.Dual)}, out)
}

// columns returns the columns of a.
func columns(a *mat.Dense) [][]float64 {
	_, c := a.Dims()
	out := make([][]float64, c)
	for j := range out {
		out[j] = mat.Col(nil, j, a)
	}
	return out
}

// purposed names the stream of one of several fits.
func purposed(name, purpose string) string {
	if purpose == "" {
		return name
	}
	return name + ", " + purpose
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

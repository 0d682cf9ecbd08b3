package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// How the classes share the budget: a row has a part in the sums of every class.
const (
	// compositionJoint takes the sums of all classes for one query.
	compositionJoint = "joint"
	// compositionSplit gives each class the same share of ε and of δ.
	compositionSplit = "split"
	// compositionPublished gives each class the whole budget, as the paper's text
	// amounts to: C classes then spend C budgets.
	compositionPublished = "as-published"
)

// What is taken off the transformed labels of Eq. (21).
const (
	centrePublished = "as-published" // nothing
	centreBalanced  = "balanced"     // what makes |ỹ|/σ̃ alike for both labels
	centreLeast     = "least"        // what makes the sensitivity least
)

func classification() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "dpgp/classification",
		Version: 2,
		Summary: "classes predicted with protection of inputs and labels, through Dirichlet likelihoods",
		Source:  "Honkela 2021, Section 5, Appendix D",
		Params: slices.Concat(budgetParams(true),
			[]experiment.Param{
				choice("composition", compositionJoint, "how the classes share the budget: their sums are one query, each has an equal share, or, as the text has it, each has the whole with the sensitivity of Appendix D, and the guarantee is that of all together", compositionJoint, compositionSplit, compositionPublished),
				choice("centre", centreBalanced, "what is taken off the transformed labels: what makes |y|/sigma alike for "+
					"both labels, what makes the sensitivity least for the composition, or nothing, as published; it is "+
					"public, and the same for all classes. balanced is more sensitive than nothing for joint and split, "+
					"and has the best accuracy where epsilon is small",
					centreBalanced, centreLeast, centrePublished),
				{Name: "alpha", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(1e-6), Max: experiment.Bound(1), OpenMax: true, Doc: "the regularisation constant alpha_epsilon of Eq. (21)"},
				count("classes", 3, 2, 20, "classes"),
			},
			experiment.When(inducingParams(9, -3.5, 3.5), []string{"low", "high"}, isCount),
			[]experiment.Param{count("n", 2048, 2, maxData, "labels, drawn by the softmax of 4 cos(pi x/4 - 2 pi c/classes), c = 0, 1, ..., at inputs uniform on [-4, 4]; the first half is for training")},
			slices.DeleteFunc(experiment.When(updateParams(1, string(sparsegp.Exact), string(sparsegp.Printed)),
				[]string{"covariance"}, experiment.Never("classes and series follow from posterior means alone")), func(p experiment.Param) bool { return p.Name == "r_y" || p.Name == "strict" }),
			[]experiment.Param{count("repeats", 10, 1, maxRepeats, "data sets, each simulated and fitted anew; metrics are means over them, the series are of the first")}),
		Metrics: []experiment.Metric{
			{Name: "accuracy", Doc: "share of the test rows whose class has the largest posterior mean"},
			{Name: "accuracy_without_noise", Doc: "the same from sums without noise"},
			{Name: "accuracy_best", Doc: "the same of who knows the probabilities from which labels are drawn, in expectation"},
			{Name: "accuracy_chance", Doc: "share of the test rows in the largest class"},
			{Name: "sensitivity", Doc: "by how much a substituted row moves the sums that share one budget: those of all classes (joint), or of one"},
			{Name: "sigma_a", Doc: "standard deviation of the noise in every element of A; that of the diagonal of B is sigma_a/ratio"},
		},
		Check:  checkClassification,
		Memory: rowMemory(10),
		Run:    runClassification,
	}
}

func checkClassification(p experiment.Params) error {
	if total := p.Float("delta") * p.Float("classes"); p.Text("composition") == compositionPublished && total >= 1 {
		return fmt.Errorf("delta = %s for each of %d classes is %s in all, which guarantees nothing", experiment.FormatNumber(p.Float("delta")), p.Int("classes"), experiment.FormatNumber(total))
	}
	return checkModel(p)
}

// dirichlet is the transformation of labels (Eq. 21): what stands for "is of the
// class" (index 1) and "is not" (0), in each class's regression.
type dirichlet struct {
	y      [2]float64 // outputs, less the centre
	w      [2]float64 // 1/σ̃²: bounded, as α is 1 + α_ε or α_ε
	centre float64
}

// newDirichlet takes the centre off. That of least sensitivity is for the given
// one, a convex function of it: the largest norm of what is affine in it.
func newDirichlet(alpha float64, centre string, sensitivity func(dirichlet) float64) dirichlet {
	var d dirichlet
	for i := range 2 {
		a := float64(i) + alpha
		variance := math.Log1p(1 / a)
		d.y[i], d.w[i] = math.Log(a)-variance/2, 1/variance
	}
	switch centre {
	case centreBalanced:
		r0, r1 := math.Sqrt(d.w[0]), math.Sqrt(d.w[1])
		return d.less((r0*d.y[0] + r1*d.y[1]) / (r0 + r1))
	case centreLeast:
		reach := math.Abs(d.y[1] - d.y[0])
		c := minimise(func(c float64) float64 { return sensitivity(d.less(c)) },
			min(d.y[0], d.y[1])-reach, max(d.y[0], d.y[1])+reach)
		return d.less(c)
	}
	return d
}

// less takes a centre off outputs from which none has been taken off.
func (d dirichlet) less(centre float64) dirichlet {
	d.y[0], d.y[1], d.centre = d.y[0]-centre, d.y[1]-centre, centre
	return d
}

// minimise returns a minimiser of a convex function between low and high, by
// golden sections.
func minimise(f func(float64) float64, low, high float64) float64 {
	const golden = 0.6180339887498949
	left, right := high-golden*(high-low), low+golden*(high-low)
	fl, fr := f(left), f(right)
	for range 80 { // until the interval is 2e-17 of its length
		if fl <= fr {
			high, right, fr = right, left, fl
			left = high - golden*(high-low)
			fl = f(left)
		} else {
			low, left, fl = left, right, fr
			right = low + golden*(high-low)
			fr = f(right)
		}
	}
	return (low + high) / 2
}

// moved bounds by how much a substitution moves the sums (A, ratio·B̂) of classes
// whose labels are i before and j after it, for pairs (i, j). With t = ⟨k, k'⟩ and
// c = ratio² the square is, summed over the classes,
//
//	w²y²‖k‖² + w'²y'²‖k'‖² − 2ww'yy't + c (w²‖k‖⁴ + w'²‖k'‖⁴ − 2ww't²),
//
// as Eqs. (25) to (29) have it without weights. The bound is its largest value
// for norms up to √kk and 0 ≤ t ≤ kk, as the kernel is positive.
func (d dirichlet) moved(ratio, kk float64, pairs ...[2]int) float64 {
	c := ratio * ratio
	square, linear, quadratic := 0.0, 0.0, 0.0
	for _, p := range pairs {
		wi, wj, yi, yj := d.w[p[0]], d.w[p[1]], d.y[p[0]], d.y[p[1]]
		square += kk*(wi*wi*yi*yi+wj*wj*yj*yj) + c*kk*kk*(wi*wi+wj*wj)
		linear -= 2 * wi * wj * yi * yj
		quadratic += 2 * c * wi * wj
	}
	t := max(0, min(kk, linear/(2*quadratic)))
	return math.Sqrt(square + (linear-quadratic*t)*t)
}

// jointSensitivity bounds by how much a substituted row moves the sums of all
// classes together: its label stays, or changes in two of the classes.
func (d dirichlet) jointSensitivity(classes int, ratio, kk float64) float64 {
	others := make([][2]int, classes-2)
	return max(
		d.moved(ratio, kk, append(others, [2]int{1, 1}, [2]int{0, 0})...),
		d.moved(ratio, kk, append(others, [2]int{1, 0}, [2]int{0, 1})...))
}

// classSensitivity is that of one class.
func (d dirichlet) classSensitivity(ratio, kk float64) float64 {
	return max(d.moved(ratio, kk, [2]int{0, 0}), d.moved(ratio, kk, [2]int{0, 1}), d.moved(ratio, kk, [2]int{1, 1}))
}

// publishedSensitivity is that of Appendix D: Eq. (6) times a bound on 1/σ̃² (it
// prints one on σ̃²).
func (d dirichlet) publishedSensitivity(ratio, kk float64) float64 {
	return max(d.w[0], d.w[1]) * jointSensitivity(ratio, max(math.Abs(d.y[0]), math.Abs(d.y[1])), kk)
}

// classifier is a trial of dpgp/classification but for the data.
type classifier struct {
	*problem
	labels  dirichlet
	classes int
	total   mechanism.Guarantee // of all classes together
}

// newClassifier opens the engine, which the caller closes.
func newClassifier(t *experiment.Trial) (*classifier, error) {
	p, m := t.Params, modelOf(t.Params)
	m.noise = 1 // the weights carry it
	c := &classifier{classes: p.Int("classes")}
	kk, err := m.normSquared(p.Text("bound"), spacingOf(p))
	if err != nil {
		return nil, err
	}
	noise := mechanismNoise{normSquared: kk}
	budget := mechanism.Guarantee{Epsilon: p.Float("epsilon"), Delta: p.Float("delta")}
	c.total = budget
	many := float64(c.classes)
	var sensitivity func(dirichlet) float64
	switch p.Text("composition") {
	case compositionJoint:
		sensitivity = func(d dirichlet) float64 { return d.jointSensitivity(c.classes, p.Float("ratio"), kk) }
	case compositionSplit:
		budget = mechanism.Guarantee{Epsilon: budget.Epsilon / many, Delta: budget.Delta / many}
		sensitivity = func(d dirichlet) float64 { return d.classSensitivity(p.Float("ratio"), kk) }
	default:
		c.total = mechanism.Guarantee{Epsilon: many * budget.Epsilon, Delta: many * budget.Delta}
		sensitivity = func(d dirichlet) float64 { return d.publishedSensitivity(p.Float("ratio"), kk) }
	}
	c.labels = newDirichlet(p.Float("alpha"), p.Text("centre"), sensitivity)
	noise.sensitivity = sensitivity(c.labels)
	if !privacyless(p) {
		factor, err := mechanism.AnalyticGaussian(budget.Epsilon, budget.Delta)
		if err != nil {
			return nil, err
		}
		noise.sigmaA = factor * noise.sensitivity
		noise.sigmaB = noise.sigmaA / p.Float("ratio")
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	c.problem = &problem{t: t, e: e, model: m, noise: noise, update: update{p.Float("rho"), p.Text("regularisation"), sparsegp.Form(p.Text("covariance"))}}
	return c, nil
}

// classSums are the sums of the regression for one class.
func (c *classifier) classSums(ctx context.Context, x *mat.Dense, labels []int, class int) (sparsegp.Sums, error) {
	y, w := make([]float64, len(labels)), make([]float64, len(labels))
	for i, l := range labels {
		is := 0
		if l == class {
			is = 1
		}
		y[i], w[i] = c.labels.y[is], c.labels.w[is]
	}
	// In float64 also for float32: the fit without noise has nothing to cover
	// rounding with.
	return sparsegp.SumDouble(ctx, c.e, c.model.inducing, x, y, w)
}

// probabilities are those with which the classes are drawn at x.
func probabilities(x float64, classes int) []float64 {
	out, sum := make([]float64, classes), 0.0
	for c := range out {
		out[c] = math.Exp(4 * math.Cos(math.Pi*x/4-2*math.Pi*float64(c)/float64(classes)))
		sum += out[c]
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}

func drawClass(p []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for c, v := range p {
		if u -= v; u < 0 {
			return c
		}
	}
	return len(p) - 1
}

// classified is what one data set gives.
type classified struct {
	noisy, exact, best, chance float64
	withoutNoise               error             // why there is no exact
	series                     experiment.Series // of the first
}

// largest is the index of the class with the largest mean at every point.
func largest(means [][]float64) []int {
	out := make([]int, len(means[0]))
	for i := range out {
		for c := range means {
			if means[c][i] > means[out[i]][i] {
				out[i] = c
			}
		}
	}
	return out
}

func rightShare(got, want []int) float64 {
	right := 0
	for i := range got {
		if got[i] == want[i] {
			right++
		}
	}
	return float64(right) / float64(len(got))
}

func (c *classifier) classifyOnce(ctx context.Context, repeat int) (out classified, err error) {
	n := c.t.Params.Int("n")
	x := uniformInputs(n, c.t.Stream(stream("inputs", repeat)))
	rng := c.t.Stream(stream("labels", repeat))
	labels, half := make([]int, n), n/2
	counts := make([]int, c.classes)
	for i := range labels {
		p := probabilities(x.At(i, 0), c.classes)
		if labels[i] = drawClass(p, rng); i >= half {
			out.best += slices.Max(p) / float64(n-half)
			counts[labels[i]]++
		}
	}
	out.chance = float64(slices.Max(counts)) / float64(n-half)
	at, err := sparsegp.Project(ctx, c.e, c.model.inducing, x.Slice(half, n, 0, 1).(*mat.Dense))
	if err != nil {
		return out, err
	}
	noise := c.t.Stream(stream("mechanism", repeat))
	if repeat == 0 {
		out.series = experiment.Series{"x": mat.Col(nil, 0, grid(inputsLow, inputsHigh))}
	}
	var noisy, exact [][]float64
	for class := range c.classes {
		s, err := c.classSums(ctx, x.Slice(0, half, 0, 1).(*mat.Dense), labels[:half], class)
		if err != nil {
			return out, err
		}
		r, mean, err := c.fitClass(ctx, at, c.noise.noisyCopy(s, noise), c.noise)
		if err != nil {
			return out, fmt.Errorf("class %d: %w", class, err)
		}
		noisy = append(noisy, mean)
		if repeat == 0 {
			if out.series[fmt.Sprintf("mean_%d", class)], _, err = r.predict(ctx, c.e, grid(inputsLow, inputsHigh)); err != nil {
				return out, err
			}
		}
		if c.publishes() {
			continue // whether a fit without noise succeeds would tell of the data
		}
		// What it is compared with may fail where the private one, which has λ, does
		// not.
		if _, mean, err = c.fitClass(ctx, at, s, mechanismNoise{}); err != nil {
			out.withoutNoise = err
			continue
		}
		exact = append(exact, mean)
	}
	out.noisy = rightShare(largest(noisy), labels[half:])
	if len(exact) == c.classes {
		out.exact = rightShare(largest(exact), labels[half:])
	}
	return out, nil
}

// fitClass returns the model of one class from sums with that noise in them, and
// its means at the test inputs.
func (c *classifier) fitClass(ctx context.Context, at *sparsegp.Projection, s sparsegp.Sums, noise mechanismNoise) (*released, []float64, error) {
	r, err := c.model.infer(ctx, c.e, s, noise, c.update)
	if err != nil {
		return nil, nil, err
	}
	mean, _, err := at.Predict(ctx, c.e, r.Mean, r.Cov)
	return r, mean, err
}

func runClassification(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	out, err := repeated(ctx, c.problem, c.classifyOnce)
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{}
	warnings := c.e.Warnings()
	comparable := !c.publishes()
	for _, o := range out {
		if o.withoutNoise != nil && comparable {
			comparable = false
			warnings = append(warnings, "accuracy_without_noise is left out: "+o.withoutNoise.Error())
		}
	}
	for _, o := range out {
		k := 1 / float64(len(out))
		metrics["accuracy"] += k * o.noisy
		if comparable {
			metrics["accuracy_without_noise"] += k * o.exact
		}
		metrics["accuracy_best"] += k * o.best
		metrics["accuracy_chance"] += k * o.chance
	}
	metrics["sensitivity"], metrics["sigma_a"] = c.noise.sensitivity, c.noise.sigmaA
	return &experiment.Result{Metrics: metrics, Series: map[string]experiment.Series{"classes": out[0].series}, Privacy: c.privacy(), Warnings: warnings}, nil
}

// rounded takes off what multiplying has left in the last digits.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// privacy tells what the published posteriors of all classes protect; nil without
// noise.
func (c *classifier) privacy() *experiment.Privacy {
	if c.noise.sigmaA == 0 {
		return nil
	}
	classes := map[string]string{
		compositionJoint:     "the sums of all classes are released as one query, whose sensitivity counts them all",
		compositionSplit:     "each class has an equal share of epsilon and of delta: a row has a part in the sums of all",
		compositionPublished: "as published, each class is given the whole budget; a row has a part in the sums of all, so that the guarantee is that of all classes composed",
	}
	privacy := &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", experiment.FormatNumber(rounded(c.total.Epsilon)), experiment.FormatNumber(rounded(c.total.Delta))),
		Unit:      "one row, input and class, substituted by any other",
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the weighted sums A and B of a sparse GP for each class (Honkela 2021, Section 5, Appendix D), bound " + c.t.Params.Text("bound"),
		Notes: []string{
			"this record itself is not private: its metrics are computed from the data, or from the probabilities " +
				"that they were simulated with, without noise; noise covers the released series alone",
			classes[c.t.Params.Text("composition")],
			fmt.Sprintf("the weights 1/sigma² of Appendix D depend on the private labels; they are at most %.4g, which the sensitivity takes into account", slices.Max(c.labels.w[:])),
			"how many rows there are, which classes there are, the kernel, alpha and the inducing inputs are taken as public",
			"every data set that is fitted (repeats) spends a budget of its own",
		},
	}
	if c.t.Params.Text("centre") == centreLeast {
		privacy.Notes = append(privacy.Notes, fmt.Sprintf("%.6g is taken off the transformed labels, "+
			"which depends on public settings alone", c.labels.centre))
	}
	return privacy
}

package regress

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// checkPrediction refuses combinations of settings, for training sets of at least that
// number of rows. NoList is why no list of inducing inputs can be given, see
// [inducing.check].
func checkPrediction(s *prediction, m cloak.Method, rows int, noList string) error {
	if err := cloak.CheckNoise(&s.GaussianBudget, &s.Solver); err != nil {
		return err
	}
	if m != cloak.Sparse {
		return nil
	}
	return s.inducing.check("inducing", rows, noList)
}

// check refuses inducing inputs that the sparse method cannot have: more than the
// smallest training set has rows, the same twice, which makes K_mm singular, and given
// ones where there are several inputs, since a list of numbers names no pairs. NoList
// is the reason then, and empty otherwise; name is that of the setting.
func (i *inducing) check(name string, rows int, noList string) error {
	z := i.Inducing
	if n := max(z.Count, len(z.Values)); n > rows {
		return fmt.Errorf("%s: %d inducing inputs, but there are only %d training rows", name, n, rows)
	}
	if z.Values != nil && noList != "" {
		return fmt.Errorf("%s = %s: %s; give how many k-means is to place", name, experiment.FormatValue(z), noList)
	}
	for i, v := range z.Values {
		if slices.Contains(z.Values[:i], v) {
			return fmt.Errorf("%s: %g is given twice; equal inducing inputs make their kernel matrix singular", name, v)
		}
	}
	return nil
}

// noList returns the reason why a list of numbers names no inducing inputs; empty for one input.
func noList(x cloak.Inputs) string {
	if x != cloak.AgeAndWeight {
		return ""
	}
	return fmt.Sprintf("a list gives ages, but with inputs=%s an inducing input is a pair of weight and age",
		experiment.NameOf(x))
}

// checkPoints refuses too many test points, and a rank above their number. what names them.
func checkPoints(s *cloak.Solver, points int, what string) error {
	switch {
	case points > cloak.MaxPoints:
		return fmt.Errorf("%s has %d elements; at most %d predictions are released together", what, points, cloak.MaxPoints)
	case s.Directions() > points:
		return fmt.Errorf("rank = %s: there are only %d %s", s.Rank, points, what)
	}
	return nil
}

// predictor holds the model and the mechanism of the trials that predict outputs.
type predictor struct {
	t        *experiment.Trial
	e        *engine.Engine
	settings *prediction
	own      *cloak.OwnData // nil where heights are predicted alone
	caps     cloak.Caps
	data     *cloak.Problem
	scale    float64      // sensitivity times the calibration's factor; 0 for no noise
	model    *cloak.Model // without inducing inputs
}

func newPredictor(t *experiment.Trial, s *prediction, m cloak.Method, data *cloak.Problem) (*predictor, error) {
	factor, err := s.Factor()
	if err != nil {
		return nil, err
	}
	return &predictor{
		t: t, e: engine.Of(t.Engine), settings: s, caps: cloak.DefaultCaps(), data: data, scale: factor * data.Width,
		model: cloak.NewModel(m, s.Hyperparameters, s.Density, data.Inputs),
	}, nil
}

// newHeightPredictor reads the census.
func newHeightPredictor(t *experiment.Trial, s *prediction, m cloak.Method, x cloak.Inputs) (*predictor, error) {
	census, err := cloak.LoadCensus(t.Dataset(cloak.Census), x, &s.Heights)
	if err != nil {
		return nil, err
	}
	return newPredictor(t, s, m, census)
}

// allRows are the places of all rows.
func (r *predictor) allRows() []int {
	return learn.AllRows(len(r.data.Output))
}

// trainingSet are rows of the data to predict from, with the rows of test (P×d), and the
// random stream by which inducing inputs are placed that are not given.
type trainingSet struct {
	train  []int
	test   *mat.Dense
	stream string
}

// scaled are inputs as the model takes them, see [cloak.Kernel.Scaled]. The methods that follow
// the density of the inputs take them as they are: they have no lengthscale for each.
func (r *predictor) scaled(x *mat.Dense) (*mat.Dense, error) {
	if r.model.Method.ByDensity() {
		return x, nil
	}
	return r.model.Scaled(x)
}

// posterior is the posterior of a training set, without noise.
type posterior struct {
	linear   cloak.Linear // P×N, the cloaking matrix
	inducing *mat.Dense   // M×d, scaled, if any
	variance []float64    // P, of the latent function, in the unit of the kernel's; nil where it is not asked for
}

// mapsOf are the maps from the outputs.
func mapsOf(all []posterior) []cloak.Linear {
	out := make([]cloak.Linear, len(all))
	for i, p := range all {
		out[i] = p.linear
	}
	return out
}

// posteriors returns that of each training set; judged asks for variances.
func (r *predictor) posteriors(ctx context.Context, sets []trainingSet, judged bool) ([]posterior, error) {
	inputs := make([]*mat.Dense, len(sets))
	var err error
	for i, s := range sets {
		if inputs[i], err = r.scaled(learn.SelectRows(r.data.Inputs, s.train)); err != nil {
			return nil, err
		}
	}
	inducing := make([]*mat.Dense, len(sets))
	if r.model.Method == cloak.Sparse {
		streams := make([]*rand.Rand, len(sets))
		for i, s := range sets {
			streams[i] = r.t.Stream(s.stream)
		}
		inducing, err = cloak.InducingInputs(ctx, r.e, r.settings.Inducing, inputs, streams, r.caps.Clusters)
		if err != nil {
			return nil, err
		}
	}
	out := make([]posterior, len(sets))
	err = r.e.ParallelFor(ctx, len(sets), 1, func(i, _ int) error {
		m := *r.model
		test, err := r.scaled(sets[i].test)
		if err != nil {
			return err
		}
		m.Inducing, out[i].inducing = inducing[i], inducing[i]
		out[i].linear, out[i].variance, err = m.Linear(r.e, inputs[i], test, judged)
		return cloak.InBatch(err, i, len(sets))
	})
	return out, err
}

// observed turns variances of the latent function, in the unit of the kernel's, into standard
// deviations of an observation, Eq. (3), in the unit of the outputs.
func (r *predictor) observed(variances []float64) []float64 {
	for i, v := range variances {
		variances[i] = r.data.Unit * math.Sqrt(v+r.settings.NoiseVariance)
	}
	return variances
}

// linear is the map from the outputs of all rows of the data, with the inducing inputs.
func (r *predictor) linear(ctx context.Context, test *mat.Dense) (l cloak.Linear, inducing *mat.Dense, err error) {
	all, err := r.posteriors(ctx, []trainingSet{{r.allRows(), test, "k-means"}}, false)
	if err != nil {
		return l, nil, err
	}
	return all[0].linear, all[0].inducing, nil
}

// posteriorSD is the standard deviation of the latent function at the rows of test (P×d), in
// the unit of the outputs, for the given inducing inputs, if any, which are scaled. It takes no
// noise.
func (r *predictor) posteriorSD(inducing, test *mat.Dense) ([]float64, error) {
	m := *r.model
	m.Inducing = inducing
	train, err := r.scaled(r.data.Inputs)
	if err != nil {
		return nil, err
	}
	if test, err = r.scaled(test); err != nil {
		return nil, err
	}
	_, sd, err := m.Posterior(r.e, train, test)
	for i, v := range sd {
		sd[i] = r.data.Unit * math.Sqrt(v)
	}
	return sd, err
}

// single is one release of predictions at P test inputs from the whole census.
type single struct {
	predictionSet

	matrix   *mat.Dense // P×N, the cloaking matrix: the census has few rows
	inducing *mat.Dense // the inducing inputs, if any
	warnings []string
}

// single finds the noise for predictions at the rows of test, released together.
func (r *predictor) single(ctx context.Context, test *mat.Dense) (*single, error) {
	all := r.allRows()
	c, inducing, err := r.linear(ctx, test)
	if err != nil {
		return nil, err
	}
	releases, err := r.releases(ctx, 0, []cloak.Linear{c}, [][]int{all})
	if err != nil {
		return nil, err
	}
	return &single{predictionSet: releases[0], matrix: c.Matrix, inducing: inducing, warnings: r.warnings(releases)}, nil
}

// metrics are those of the release.
func (s *single) metrics(r *predictor) singleMetrics {
	m := singleMetrics{ClippedHeights: cloak.ClippedHeights{ClippedHeights: new(float64(r.data.Clipped))}}
	if s.design != nil {
		m.Rank, m.Gap = new(s.rank()), new(s.quality.Gap)
	}
	return m
}

// noisy holds the published values of a single release.
func (s *single) noisy(r *predictor) []float64 {
	noise := s.noise(r.t.Stream("noise"), 1)
	return added(s.mean, mat.Col(nil, 0, noise), 1)
}

// predictionSet is one set of P predictions, with the numbers for its publication: the mean plus
// scale·F·z, with F (P×r) the factor of the design's covariance M = FFᵀ and z of r standard normal
// numbers. Lengths are in the unit of the outputs.
type predictionSet struct {
	mean    []float64 // P, the released predictions without noise
	noiseSD []float64 // P
	// observationSD is that of an observation without the privacy noise, P, where results are
	// judged.
	observationSD []float64
	// Nil without noise.
	quality *cloak.Quality
	design  *design.Design
	scale   float64 // the multiplier of the design's factor
}

// releases finds the noise for sets of predictions, the first of which has that number, given by their maps from
// outputs and training rows (N). All designs are solved in one batch.
func (r *predictor) releases(ctx context.Context, first int, maps []cloak.Linear, train [][]int) ([]predictionSet,
	error) {
	out := make([]predictionSet, len(maps))
	for i := range maps {
		out[i].mean = r.data.PredictBy(&maps[i], train[i])
		out[i].noiseSD = make([]float64, len(out[i].mean))
	}
	if r.scale == 0 {
		return out, nil
	}
	work := r.work()
	if first > 0 {
		work.Stream = func(purpose string) *rand.Rand { return r.t.Stream(fmt.Sprintf("%s, sets from %d", purpose, first)) }
	}
	ranges, designs, err := cloak.SolveLinear(ctx, work, maps)
	if err != nil {
		return nil, err
	}
	for i, d := range designs {
		scale := r.scale * cloak.Moves(ranges[i], d, cloak.UnitsOf(r.data.People, train[i], nil))
		out[i] = predictionSet{
			mean:    projected(ranges[i], out[i].mean, r.data.Prior),
			noiseSD: cloak.NoiseSD(d, scale),
			quality: new(cloak.QualityOf(ranges[i], d)),
			design:  d,
			scale:   scale * d.NoiseScale,
		}
	}
	return out, nil
}

// work holds the resources of the solution of designs.
func (r *predictor) work() *cloak.Work {
	return &cloak.Work{Engine: r.e, Solver: &r.settings.Solver, MaxSteps: r.caps.Design, Stream: r.t.Stream,
		OnHost: r.t.Secure, Progress: func(done, total int) { r.t.Progress(done, total, "steps") }}
}

// rank is the number of released directions where there is noise.
func (r *predictionSet) rank() float64 { return float64(r.quality.Rank) }

// noise returns draws of the noise (P×draws), zeros where there is none.
// Asking for more draws continues the stream.
func (r *predictionSet) noise(stream *rand.Rand, draws int) *mat.Dense {
	if r.design == nil {
		return mat.NewDense(len(r.mean), draws, nil)
	}
	factor := r.design.Factor()
	_, rank := factor.Dims()
	z := mat.NewDense(rank, draws, nil)
	for j := range draws {
		for i := range rank {
			z.Set(i, j, stream.NormFloat64())
		}
	}
	noise := new(mat.Dense)
	noise.Mul(factor, z)
	noise.Scale(r.scale, noise)
	return noise
}

// projected returns the part of P predictions that a release of rank r shows, prior + U·Uᵀ(mean −
// prior) with U (P×r): the projection acts on the part that depends on the data, not on the prior
// mean.
func projected(r *design.Range, mean []float64, prior float64) []float64 {
	f := make([]float64, len(mean))
	for i, v := range mean {
		f[i] = v - prior
	}
	f = r.Project(f)
	for i := range f {
		f[i] += prior
	}
	return f
}

// warnings returns the warnings about a trial with these releases that is computed but suspect.
func (r *predictor) warnings(releases []predictionSet) []string {
	var people []string
	if r.data.People != nil {
		people = r.data.People.Warnings(r.own.Person.Column())
	}
	return slices.Concat(r.publicWarnings(releases), r.data.ClippingWarnings(), people,
		method.DroppedWarnings(r.data.Dropped, len(r.data.Output), r.data.People, "an input or the output"))
}

// publicWarnings are the warnings that do not depend on the outputs.
func (r *predictor) publicWarnings(releases []predictionSet) []string {
	var all []cloak.Quality
	for _, s := range releases {
		if s.quality != nil {
			all = append(all, *s.quality)
		}
	}
	return slices.Concat(r.e.Warnings(), r.data.Warnings,
		cloak.PrecisionWarnings(r.e, all, &r.settings.Solver), cloak.DesignWarnings(all))
}

// publishes is whether the trial's record leaves out the outputs and the predictions
// without noise: where the noise protects somebody, because it comes from the
// operating system's entropy.
func (r *predictor) publishes() bool { return r.t.Secure && r.scale > 0 }

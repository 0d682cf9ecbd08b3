package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// scoreSteps are the steps in which a block's score of a candidate is counted, from 0 to
// this: whole numbers have no rounding for the sensitivity to take in.
const scoreSteps = 1 << 20

// method returns the settings that every method has.
func (s *searchSettings) method() method.Settings {
	c := s.ownColumns.method(&s.Budget.Budget, s.Repeats)
	c.Range = &method.OutputRange{Low: s.OutputLow, High: s.OutputHigh}
	return c
}

func (s *searchSettings) checkOwn() error {
	c := s.method()
	for _, check := range []func() error{c.CheckDataset, s.checkGrid, s.checkSquares} {
		if err := check(); err != nil {
			return err
		}
	}
	low, high := s.OutputLow, s.OutputHigh
	switch {
	case s.Features != sparse.WhitenedFeatures:
		return errors.New("features=kernel: a choice from your own data scores models of whitened features")
	case low.Is(method.Absent) || high.Is(method.Absent):
		return errors.New("output_low and output_high are not given: they are the public range of the output, to which it " +
			"is clipped; it must not be read off the data")
	case !(low.Number < high.Number && !math.IsInf(high.Number-low.Number, 0)):
		return fmt.Errorf("output_low = %g and output_high = %g: output_low must be below output_high", low.Number,
			high.Number)
	}
	if err := c.Spec().Check(); err != nil {
		return err
	}
	return s.checkColumns(s.Inducing)
}

// completeSearch gives own data the defaults of dpgp/regression.
func completeSearch(s *searchSettings, given func(field any) bool) error {
	if !s.isOwn() {
		return nil
	}
	if !given(&s.Inducing) && s.InducingFile == withoutFile {
		s.Inducing = experiment.Points{Word: experiment.NameOf(sparse.Auto(0))}
	}
	experiment.Default(given, &s.Features, sparse.WhitenedFeatures)
	experiment.Default(given, &s.KernelVariance, own.Variance)
	if !given(&s.Jitter) {
		s.Jitter *= max(1, s.KernelVariance)
	}
	return nil
}

// points are the inducing inputs of the models of dpgp/regression.
func (s *searchSettings) points() own.Inducing {
	out := s.inducing(s.Inducing)
	out.Whitened = true
	return out
}

// fewRows refuses blocks of fewer than four rows; how many rows there are is public.
func fewRows(blocks, rows int, what string) error {
	if rows < 4 {
		return fmt.Errorf("%d %s are too few: a block has at least four", rows, what)
	}
	return fmt.Errorf("blocks = %d: %d %s are fewer than four in each; use at most %d blocks", blocks, rows, what, rows/4)
}

// checkSquares refuses candidates whose squares cannot be computed with.
func (s *hyperparameterSettings) checkSquares() error {
	for _, list := range []struct {
		name   string
		values []float64
	}{{"lengthscales", s.Lengthscales}, {"sigmas", s.Sigmas}} {
		for _, v := range list.values {
			if square := v * v; math.IsInf(square, 1) || math.IsInf(1/square, 1) {
				return fmt.Errorf("%s: the square of %g is beyond double precision; bring inputs and outputs to a scale nearer "+
					"one", list.name, v)
			}
		}
	}
	return nil
}

// ownCandidate is a pair of hyperparameters of the grid.
type ownCandidate struct {
	sigma, lengthscale float64
	model              *sparse.Model
	noise              sparse.Noise // of a release of all rows
}

// releaseDelta is δ of the release whose noise is in the models that are scored; its ε is that of the choice.
const releaseDelta = 1e-6

// ownSearch chooses hyperparameters for a user's own data by the exponential mechanism
// (McSherry and Talwar 2007).
//
// The protected units, rows or persons with all of their rows, are drawn into blocks. Of each block a
// model as that of dpgp/regression is fitted to three quarters of its units for every candidate, with the noise of a
// release of all units, scaled to these: its numbers are fixed, and protect nothing. It is scored by the
// mean log-likelihood of the rest: 1 for the block's best candidate, 0 for one that is score_range or
// more below it, in whole steps; all are 0 where either part has no rows. A candidate's utility is the
// sum over the blocks. A substituted unit is in one block: each utility moves by at most 1, for any
// number of rows of a person, and whole numbers add up exactly. Which block a unit is in is drawn
// without looking at it.
type ownSearch struct {
	*sparse.Problem
	settings   *searchSettings
	rows       *method.Rows
	z          *mat.Dense // M×d, the inducing inputs
	y          []float64  // scaled to [−1, 1] by the public range, not clipped
	candidates []ownCandidate
}

func newOwnSearch(ctx context.Context, t *experiment.Trial, s *searchSettings, released bool) (*ownSearch, error) {
	c := s.method()
	rows, err := c.Load(t, method.Regression, released)
	if err != nil {
		return nil, err
	}
	out := &ownSearch{settings: s, rows: rows}
	if out.z, err = s.points().Place(ctx, t, rows); err != nil {
		return nil, err
	}
	out.y = scaled(rows, rows.Values)
	if n, least := rows.Units(), 4*s.Blocks; n < least {
		return nil, fewRows(s.Blocks, n, out.noun())
	}
	for _, sigma := range s.Sigmas {
		for _, l := range s.Lengthscales {
			m := sparse.NewModel(out.z, l, s.KernelVariance, sigma*sigma, s.Jitter)
			if m.Whitened, err = sparse.NewWhitening(m); err != nil {
				return nil, fmt.Errorf("lengthscale %s: %w", experiment.FormatNumber(l), err)
			}
			noise, err := m.Calibrate(sparse.Calibration{Epsilon: s.Epsilon, Delta: releaseDelta, OutputBound: 1,
				Ratio: own.FilteredRatio(s.KernelVariance), Bound: sparse.Exact, Unit: c.Person.Rows()})
			if err != nil {
				return nil, err
			}
			out.candidates = append(out.candidates, ownCandidate{sigma, l, m, noise})
		}
	}
	out.Problem = &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine), Model: out.candidates[0].model}
	return out, nil
}

// noun names the protected units.
func (s *ownSearch) noun() string {
	_, name := s.rows.People.Units(0)
	return name
}

// scaled returns outputs in units of half the public range, from its middle.
func scaled(rows *method.Rows, y []float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = rows.Scaled(v)
	}
	return out
}

// predict fits a candidate to rows, whose outputs it clips, with noise of a share of a release's size, and predicts at
// others. ok is false where there is no such model, which depends on the rows.
func (s *ownSearch) predict(
	ctx context.Context, c ownCandidate, share float64, rng *rand.Rand, x *mat.Dense, y []float64, at *mat.Dense,
) (mean, variance []float64, ok bool, err error) {
	clipped := make([]float64, len(y))
	for i, v := range y {
		clipped[i] = max(-1, min(1, v))
	}
	sums, err := sparsegp.SumDouble(ctx, s.Engine, c.model.Inducing, x, clipped, nil)
	if err != nil {
		return nil, nil, false, err
	}
	noise := c.noise
	noise.SigmaA, noise.SigmaB = share*noise.SigmaA, share*noise.SigmaB
	p, err := c.model.Infer(ctx, s.Engine, noise.NoisyCopy(c.model.Whitened.Sums(sums), rng), noise, sparse.Update{
		Rho: own.Rho, Regularisation: sparse.RegularisationCorrected, Covariance: sparse.CovarianceCorrected, Raise: true,
		Filtered: true})
	if err == nil {
		var variances [][]float64
		if mean, variances, err = p.Predict(ctx, s.Engine, at); err == nil {
			return sparse.Clip(mean), variances[0], true, nil
		}
	}
	return nil, nil, false, ctx.Err() // other errors have no part in the release
}

// score returns the steps of every candidate in block b, whose units have each some of the rows of x (N×D): the last
// quarter of them are held out. all is the number of units of a release.
func (s *ownSearch) score(
	ctx context.Context, x *mat.Dense, y []float64, units [][]int, b, all int,
) ([]int64, error) {
	train := len(units) - max(1, len(units)/4)
	fitted, held := slices.Concat(units[:train]...), slices.Concat(units[train:]...)
	if len(fitted) == 0 || len(held) == 0 {
		return make([]int64, len(s.candidates)), nil
	}
	fit, at := learn.SelectRows(x, fitted), learn.SelectRows(x, held)
	yFit, yHeld := learn.Select(y, fitted), learn.Select(y, held)
	likelihoods, best := make([]float64, len(s.candidates)), math.Inf(-1)
	for i, c := range s.candidates {
		likelihoods[i] = math.Inf(-1)
		rng := rand.New(rand.NewPCG(20210330, uint64(b))) // the same for all candidates
		mean, variance, ok, err := s.predict(ctx, c, float64(train)/float64(all), rng, fit, yFit, at)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		sum := 0.0
		for k, v := range variance {
			v += c.model.Noise
			miss := max(-1, min(1, yHeld[k])) - mean[k]
			sum -= (math.Log(2*math.Pi*v) + miss*miss/v) / 2
		}
		if likelihoods[i] = sum / float64(len(held)); likelihoods[i] > best {
			best = likelihoods[i]
		}
	}
	steps := make([]int64, len(likelihoods))
	for i, v := range likelihoods {
		if share := 1 - (best-v)/s.settings.ScoreRange; share > 0 { // not NaN either
			steps[i] = int64(math.RoundToEven(min(1, share) * scoreSteps))
		}
	}
	return steps, nil
}

// utilities are the sums over the blocks of the units, which come in a drawn order.
func (s *ownSearch) utilities(ctx context.Context, x *mat.Dense, y []float64, units [][]int) ([]float64, error) {
	blocks, n := s.settings.Blocks, len(units)
	scores := make([][]int64, blocks)
	err := s.Engine.ParallelFor(ctx, blocks, 1, func(b, _ int) (err error) {
		low, high := b*n/blocks, (b+1)*n/blocks
		scores[b], err = s.score(ctx, x, y, units[low:high], b, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(s.candidates))
	for i := range out {
		total := int64(0)
		for _, steps := range scores {
			total += steps[i]
		}
		out[i] = float64(total) / scoreSteps // exact, below 2^53
	}
	return out, nil
}

// ownChoice is the result of one split.
type ownChoice struct {
	candidate                   int
	chosen, best, drawn, centre float64
}

// chooseOnce chooses by some of the rows and tests on the others.
func (s *ownSearch) chooseOnce(ctx context.Context, repeat int) (out ownChoice, err error) {
	train, test, err := s.settings.method().Split(s.Trial, repeat, len(s.y), s.rows.People)
	if err != nil {
		return out, err
	}
	units := s.units(repeat, train)
	if len(units) < 4*s.settings.Blocks {
		return out, fewRows(s.settings.Blocks, len(units), s.noun()+" for choosing")
	}
	y, want := learn.Select(s.y, train), learn.Select(s.y, test)
	x, at := learn.SelectRows(s.rows.X, train), learn.SelectRows(s.rows.X, test)
	u, err := s.utilities(ctx, s.rows.X, s.y, units)
	if err != nil {
		return out, err
	}
	if s.settings.Noiseless() {
		out.candidate = slices.Index(u, slices.Max(u))
	} else {
		m := mechanism.Exponential{Epsilon: s.settings.Epsilon, Sensitivity: 1}
		if out.candidate, err = m.Choose(u, s.Stream("mechanism", repeat)); err != nil {
			return out, err
		}
	}
	rmse := func(mean []float64) float64 {
		sum := 0.0
		for i, v := range want {
			miss := v
			if mean != nil {
				miss -= mean[i]
			}
			sum += miss * miss
		}
		return s.rows.Scale * math.Sqrt(sum/float64(len(want)))
	}
	out.best, out.centre = math.Inf(1), rmse(nil)
	for i, c := range s.candidates {
		mean, _, ok, err := s.predict(ctx, c, 1, s.Stream("noise of a model", repeat), x, y, at)
		if err != nil {
			return out, err
		}
		v := out.centre // a candidate without a model predicts nothing
		if ok {
			v = rmse(mean)
		}
		out.best, out.drawn = min(out.best, v), out.drawn+v/float64(len(s.candidates))
		if i == out.candidate {
			out.chosen = v
		}
	}
	return out, nil
}

// units are the protected units of some rows that judging splits, in a drawn order.
func (s *ownSearch) units(repeat int, rows []int) [][]int {
	units := make([][]int, 0, len(rows))
	if s.rows.People == nil { // the split has drawn the order
		for _, row := range rows {
			units = append(units, []int{row})
		}
		return units
	}
	chosen := map[int]bool{}
	for _, row := range rows {
		chosen[row] = true
	}
	for _, own := range s.rows.People.Groups() {
		if chosen[own[0]] {
			units = append(units, own)
		}
	}
	s.Stream("blocks", repeat).Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	return units
}

func runOwnSearch(
	ctx context.Context, t *experiment.Trial, s *searchSettings,
) (*experiment.Outcome[hyperparameterMetrics], error) {
	search, err := newOwnSearch(ctx, t, s, false)
	if err != nil {
		return nil, err
	}
	choices, err := sparse.Repeat(ctx, search.Problem, s.Repeats, search.chooseOnce)
	if err != nil {
		return nil, err
	}
	m := hyperparameterMetrics{Sigmas: map[string]float64{}, Lengthscales: map[string]float64{}}
	for _, c := range search.candidates {
		m.Sigmas[sparse.MemberOf(c.sigma)], m.Lengthscales[sparse.MemberOf(c.lengthscale)] = 0, 0
	}
	var chosen, best, drawn, centre float64
	k := 1 / float64(len(choices))
	for _, o := range choices {
		c := search.candidates[o.candidate]
		m.Sigmas[sparse.MemberOf(c.sigma)] += k
		m.Lengthscales[sparse.MemberOf(c.lengthscale)] += k
		chosen, best, drawn, centre = chosen+k*o.chosen, best+k*o.best, drawn+k*o.drawn, centre+k*o.centre
	}
	m.RMSEChosen, m.RMSEBest, m.RMSEDrawn, m.RMSECentre = &chosen, &best, &drawn, &centre
	m.SearchRows, m.SearchDropped = new(float64(len(search.y))), new(float64(search.rows.Dropped))
	warnings := append(search.Engine.Warnings(), search.rows.Warnings("a column that is used")...)
	for _, warning := range []string{
		table.FitWarning(chosen, table.Constants{Middle: centre}, "use other lengthscales, more inducing inputs, or, where "+
			"the noise is most of it, a larger epsilon"),
		table.ScalesWarning(search.rows.Inputs, search.rows.X, "bring the columns to one scale: a candidate has one "+
			"lengthscale"),
	} {
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	if chosen >= drawn && best < drawn {
		warnings = append(warnings, fmt.Sprintf("computed but suspect: the chosen candidates have an error of %.3g, one "+
			"drawn evenly, which costs no privacy, has %.3g, and the best %.3g; use a larger epsilon, more blocks, or a "+
			"smaller score_range", chosen, drawn, best))
	}
	privacy := search.guarantee()
	if privacy != nil {
		privacy.Notes = append([]string{"this record itself is not private: its errors are computed from the data; what " +
			"may be published is what --release writes"}, append(privacy.Notes,
			"every split (repeats) spends a budget of its own")...)
	}
	return &experiment.Outcome[hyperparameterMetrics]{Metrics: m, Privacy: privacy, Warnings: warnings}, nil
}

// guarantee states the protection by a released choice; nil without noise.
func (s *ownSearch) guarantee() *experiment.Privacy {
	if s.settings.Noiseless() {
		return nil
	}
	number, c := experiment.FormatNumber, s.settings.method()
	one := strings.TrimSuffix(s.noun(), "s")
	out := &experiment.Privacy{
		Unit: c.Person.Unit(fmt.Sprintf("inputs (%s) and output (%s)", strings.Join(s.rows.Inputs, ", "),
			s.rows.Output)),
		Mechanism: fmt.Sprintf("exponential mechanism (McSherry and Talwar 2007) over a grid, by the scores of blocks of "+
			"%s, each of which a substituted %s moves in one block alone, by at most 1", s.noun(), one),
		Notes: []string{
			"protects inputs and outputs of " + c.Person.Whose() + "; " + c.Counted(),
			"public, and so not to be read off the data: the candidates, " +
				s.settings.points().Public(s.rows.Asked) + ", the kernel's variance, the range of the " +
				"output, blocks and score_range",
			fmt.Sprintf("outputs are clipped to [%s, %s]; scores are of models of a block of about %d %s, with the "+
				"noise of a release of the same epsilon and delta = %g for as many: its numbers are fixed, and protect nothing",
				number(s.settings.OutputLow.Number), number(s.settings.OutputHigh.Number), s.rows.Units()/s.settings.Blocks,
				s.noun(), releaseDelta),
			"the scores of the candidates, that of the chosen one included, are not released",
			"a model that is made with the choice spends a budget of its own",
		},
	}
	return out.State(s.settings.Epsilon, 0)
}

// leastEpsilon is well above the part of ε that the rounding of exponents costs, some 2⁻²⁸
// ([release.Source.Choose]).
const leastEpsilon = 1e-7

// checkSearchRelease refuses a release of a choice that has no guarantee.
func checkSearchRelease(s *searchSettings) error {
	switch {
	case s.Noiseless():
		return release.ErrNoNoise
	case !s.isOwn():
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	case s.Dataset == s.InducingFile:
		return errors.New("inducing_file names the file of the data: inducing inputs are taken as public")
	case s.Epsilon < leastEpsilon:
		return fmt.Errorf("epsilon = %g: a release takes %g and more, for which the rounding of its draw is known", s.Epsilon,
			leastEpsilon)
	}
	c := s.method()
	return c.Spec().CheckNamed()
}

// PlanSearch plans a release of a trial of dpgp/hyperparameters, for audits.
func PlanSearch(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return planSearch(ctx, t, hyperparameters().Settings(t.Params))
}

// planSearch plans a release: one candidate, chosen from all rows.
func planSearch(ctx context.Context, t *experiment.Trial, s *searchSettings) (*release.Plan, error) {
	if err := checkSearchRelease(s); err != nil {
		return nil, err
	}
	o, err := newOwnSearch(ctx, t, s, true)
	if err != nil {
		return nil, err
	}
	if err := s.points().CheckApart(t, s.Dataset, o.z, o.rows); err != nil {
		return nil, err
	}
	return o.rows.Data().Plan(experiment.UnitRow, experiment.Spending{Dataset: s.Dataset, Epsilon: s.Epsilon,
		Points: s.method().Points,
		Losses: []experiment.Loss{{Law: "exponential mechanism", Size: s.Epsilon, Times: 1}}}, o.publish), nil
}

// publish chooses a candidate by rows (N×(D+1), the output last), whose units it draws into blocks. The
// rows of a person are next to each other, and rows of NaN are none.
func (s *ownSearch) publish(
	ctx context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	n, columns := private.Dims()
	size := s.settings.method().Person.Rows()
	units := make([][]int, n/size)
	for i := range units { // evenly among all orders (Fisher and Yates)
		var rows []int
		for row := i * size; row < (i+1)*size; row++ {
			if !math.IsNaN(private.At(row, columns-1)) {
				rows = append(rows, row)
			}
		}
		j := source.IntN(i + 1)
		units[i], units[j] = units[j], rows
	}
	u, err := s.utilities(ctx, mat.DenseCopyOf(private.Slice(0, n, 0, columns-1)),
		scaled(s.rows, mat.Col(nil, columns-1, private)), units)
	if err != nil {
		return nil, err
	}
	i, err := source.Choose(release.Choice{What: "configuration", Epsilon: s.settings.Epsilon, Change: 1}, u)
	if err != nil {
		return nil, err
	}
	privacy := s.guarantee()
	privacy.Publish()
	privacy.Notes = append(privacy.Notes,
		"the choice is drawn by exact Bernoulli trials; utilities are sums of whole numbers")
	c := s.candidates[i]
	settings := map[string]float64{"sigma": c.sigma, "lengthscale": c.lengthscale}
	return &experiment.Release{
		Model: &release.Configuration{
			Format: release.ConfigurationFormat, Experiment: "dpgp/hyperparameters", Privacy: privacy,
			About: "Hyper-parameters chosen with differential privacy: give them to run trial dpgp/regression, with " +
				"--tuning THIS_FILE.",
			Settings: settings,
		},
		Chosen:  settings,
		Privacy: privacy,
	}, nil
}

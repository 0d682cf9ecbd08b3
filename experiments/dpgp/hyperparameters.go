package dpgp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// CoinPress as Section 4.1 has it.
const (
	coinPressSteps = 12
	coinPressLast  = 0.75
)

// maxCandidates bounds the grid of hyperparameters.
const maxCandidates = 400

func hyperparameters() *experiment.Experiment {
	candidates := func(name, def, doc string) experiment.Param {
		return experiment.Param{Name: name, Kind: experiment.Numbers, Default: def, Doc: doc, Min: experiment.Bound(0), OpenMin: true}
	}
	// No metric has the sensitivity, and without noise nothing else depends on it.
	update := experiment.When(updateParams(1, string(sparsegp.Exact), string(sparsegp.Printed)),
		[]string{"ratio", "bound"}, noisy)
	for i := range update {
		if update[i].Name == "jitter" {
			// The inducing inputs are near each other for the longest lengthscale.
			update[i].Default = 1e-8
		}
	}
	return &experiment.Experiment{
		Name:    "dpgp/hyperparameters",
		Version: 2,
		Summary: "noise level and lengthscale chosen by private validation likelihoods",
		Source:  "Honkela 2021, Sections 4 and 6.3, Fig. 3, Algorithm 2",
		Params: slices.Concat(budgetParams(true),
			[]experiment.Param{
				experiment.Param{Name: "gamma", Kind: experiment.Number, Default: 0.01, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), Doc: "probability to stop after a draw: 1/gamma draws are made on the average"}.Where(noisy),
				choice("rule", string(mechanism.SelectionCorrected), "which scores are taken: those that the bound of one log-likelihood allows for their sum, or, as Algorithm 2 is printed, those below the bound of a single one", string(mechanism.SelectionCorrected), string(mechanism.SelectionAsPublished)).Where(noisy),
				candidates("sigmas", "0.03333333333333333, 0.1, 0.3", "standard deviations of the observation noise to choose from"),
				candidates("lengthscales", "0.3333333333333333, 1, 3", "lengthscales to choose from"),
			},
			slices.DeleteFunc(experiment.When(inducingParams(9, -3, 3), []string{"low", "high"}, isCount), func(p experiment.Param) bool { return p.Name == "lengthscale" }),
			[]experiment.Param{
				count("n", 2048, 2, maxData, "observations of sin(2x)/(2x), at inputs uniform on [-4, 4]; the first half is for training, the other for validation"),
				positive("sigma", 0.1, "standard deviation of the observation noise that is simulated"),
			},
			slices.DeleteFunc(update, func(p experiment.Param) bool { return p.Name == "strict" }),
			[]experiment.Param{count("repeats", 100, 1, maxRepeats, "data sets, each simulated and searched anew")}),
		Metrics: []experiment.Metric{
			{Name: "p_sigma_*", Doc: "share of the repeats in which this noise level was chosen, in three digits with _ for the point"},
			{Name: "p_lengthscale_*", Doc: "share of the repeats in which this lengthscale was chosen"},
			{Name: "p_none", Doc: "share of the repeats in which no score was taken, and nothing chosen"},
			{Name: "candidate_epsilon", Doc: "epsilon of each draw, model and score together (with noise only)"},
			{Name: "candidate_delta", Doc: "delta of each draw (with noise only)"},
			{Name: "draws_most", Doc: "after so many draws the search stops (with noise only)"},
			{Name: "draws_mean", Doc: "draws that were made, mean over the repeats; the guarantee needs them to be secret, and a record that protects does not tell"},
			{Name: "indefinite_mean", Doc: "draws whose noise exceeded lambda, so that there was no model to score, mean over the repeats; secret like them"},
		},
		Check:         checkHyperparameters,
		Memory:        rowMemory(10),
		Run:           runHyperparameters,
		PrivateTiming: true,
	}
}

// metricName is that of a family's member for a value.
func metricName(family string, v float64) string {
	return family + strings.NewReplacer(".", "_", "-", "m", "+", "").Replace(fmt.Sprintf("%.3g", v))
}

// withHyperparameters are the parameters of one candidate's model.
func withHyperparameters(p experiment.Params, sigma, lengthscale float64) experiment.Params {
	out := maps.Clone(p)
	out["sigma"], out["lengthscale"] = sigma, lengthscale
	return out
}

func checkHyperparameters(p experiment.Params) error {
	sigmas, lengthscales := p.Numbers("sigmas"), p.Numbers("lengthscales")
	for name, values := range map[string][]float64{"sigmas": sigmas, "lengthscales": lengthscales} {
		seen := map[string]bool{}
		for _, v := range values {
			if as := metricName("", v); seen[as] {
				return fmt.Errorf("%s: two values are %.3g in three digits; candidates must differ in them", name, v)
			}
			seen[metricName("", v)] = true
		}
	}
	if n := len(sigmas) * len(lengthscales); n > maxCandidates {
		return fmt.Errorf("%d noise levels and %d lengthscales are %d candidates; at most %d are possible", len(sigmas), len(lengthscales), n, maxCandidates)
	}
	for _, l := range lengthscales {
		if err := checkModel(withHyperparameters(p, sigmas[0], l)); err != nil {
			return err
		}
	}
	if privacyless(p) {
		return nil
	}
	_, err := mechanism.NewSelectionBudget(p.Float("epsilon"), p.Float("delta"), p.Float("gamma"))
	return err
}

// candidate is one pair of hyperparameters with the noise of its draws.
type candidate struct {
	model  *model
	length int // index of its lengthscale
	noise  mechanismNoise
	// score is how the private mean of log-likelihoods is taken; its interval is
	// Eqs. (32) and (33).
	score mechanism.CoinPress
}

// search is Algorithm 2 but for the data.
type search struct {
	*problem
	candidates []candidate
	budget     mechanism.SelectionBudget
}

// newSearch opens the engine, which the caller closes.
func newSearch(t *experiment.Trial) (_ *search, err error) {
	p := t.Params
	s := &search{}
	each := mechanism.Guarantee{Epsilon: math.Inf(1)}
	var steps []mechanism.ZCDP
	if !privacyless(p) {
		if s.budget, err = mechanism.NewSelectionBudget(p.Float("epsilon"), p.Float("delta"), p.Float("gamma")); err != nil {
			return nil, err
		}
		each = s.budget.Candidate
		rho, err := mechanism.ClassicZCDPFor(each.Epsilon, each.Delta)
		if err != nil {
			return nil, err
		}
		if steps, err = mechanism.SplitZCDP(rho, coinPressSteps, coinPressLast); err != nil {
			return nil, err
		}
	}
	bound := p.Float("r_y")
	for _, sigma := range p.Numbers("sigmas") {
		for i, l := range p.Numbers("lengthscales") {
			c := candidate{model: modelOf(withHyperparameters(p, sigma, l)), length: i}
			if c.noise, err = c.model.calibrate(each.Epsilon, each.Delta, bound, p.Float("ratio"), p.Text("bound"), spacingOf(p)); err != nil {
				return nil, err
			}
			radius := bound * bound / (sigma * sigma)
			c.score = mechanism.CoinPress{Centre: -math.Log(2*math.Pi)/2 - math.Log(sigma) - radius, Radius: radius, Steps: steps}
			s.candidates = append(s.candidates, c)
		}
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	s.problem = &problem{t: t, e: e, model: s.candidates[0].model, noise: s.candidates[0].noise,
		update: update{p.Float("rho"), p.Text("regularisation"), sparsegp.Form(p.Text("covariance"))}}
	return s, nil
}

// searched is the data of one repeat, with what of them no noise changes, by
// lengthscale, computed when it is first needed.
type searched struct {
	search     *search
	x          *mat.Dense // for training
	y          []float64
	validation *mat.Dense
	truth      []float64
	known      map[int]*known
}

type known struct {
	sums sparsegp.Sums
	at   *sparsegp.Projection // at the validation inputs
}

func (d *searched) of(ctx context.Context, c candidate) (*known, error) {
	if k := d.known[c.length]; k != nil {
		return k, nil
	}
	sum := sparsegp.Sum
	if c.noise.sigmaB == 0 {
		sum = sparsegp.SumDouble // nothing covers the rounding of float32
	}
	s, err := sum(ctx, d.search.e, c.model.inducing, d.x, d.y, nil)
	if err != nil {
		return nil, err
	}
	at, err := sparsegp.Project(ctx, d.search.e, c.model.inducing, d.validation)
	var notPD *op.NotPositiveDefiniteError
	if errors.As(err, &notPD) {
		return nil, fmt.Errorf("lengthscale %s: the covariance of the inducing inputs: %w; use fewer inducing inputs, shorter lengthscales, or more jitter", experiment.FormatNumber(c.model.lengthscale), err)
	}
	if err != nil {
		return nil, err
	}
	d.known[c.length] = &known{s, at}
	return d.known[c.length], nil
}

// noisyCopy is the sums with noise from rng.
func (n mechanismNoise) noisyCopy(s sparsegp.Sums, rng *rand.Rand) sparsegp.Sums {
	out := sparsegp.Sums{A: slices.Clone(s.A), B: mat.DenseCopyOf(s.B)}
	if n.sigmaB > 0 {
		n.perturb(out, rng)
	}
	return out
}

// draw trains a candidate's model, with noise from rng, and returns the
// log-likelihoods of the validation set (Eq. 18). There are none where the noise
// is beyond λ: the noisy sums alone decide that.
func (d *searched) draw(ctx context.Context, c candidate, rng *rand.Rand) (*released, []float64, error) {
	k, err := d.of(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	r, err := c.model.infer(ctx, d.search.e, c.noise.noisyCopy(k.sums, rng), c.noise, d.search.update)
	var notPD *op.NotPositiveDefiniteError
	if errors.As(err, &notPD) && c.noise.sigmaB > 0 {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	mean, variance, err := k.at.Predict(ctx, d.search.e, r.Mean, r.Cov)
	var negative *sparsegp.VarianceError
	if errors.As(err, &negative) && c.noise.sigmaB > 0 {
		return nil, nil, nil // at a validation row, which is private
	}
	if err != nil {
		return nil, nil, err
	}
	out := make([]float64, len(mean))
	for i, v := range variance {
		v += c.model.noise
		miss := d.truth[i] - mean[i]
		out[i] = -(math.Log(2*math.Pi*v) + miss*miss/v) / 2
	}
	return r, out, nil
}

// chosen is the result of one repeat.
type chosen struct {
	mechanism.Selected[*released]
	indefinite int // draws without a model; as secret as their number
}

func (s *search) searchOnce(ctx context.Context, repeat int) (chosen, error) {
	p := s.t.Params
	n, half := p.Int("n"), p.Int("n")/2
	x := uniformInputs(n, s.t.Stream(stream("inputs", repeat)))
	y := observe(values(sinc, x), p.Float("sigma"), s.t.Stream(stream("observation noise", repeat)))
	bound := p.Float("r_y")
	for i, v := range y[:half] {
		y[i] = max(-bound, min(bound, v))
	}
	d := &searched{search: s, known: map[int]*known{},
		x: x.Slice(0, half, 0, 1).(*mat.Dense), y: y[:half], validation: x.Slice(half, n, 0, 1).(*mat.Dense), truth: y[half:]}
	// What may fail or be warned of depends on public inputs; doing it for the
	// lengthscales that are drawn would tell which ones were.
	for _, c := range s.candidates {
		if _, err := d.of(ctx, c); err != nil {
			return chosen{}, err
		}
	}
	if privacyless(p) {
		return d.best(ctx)
	}
	var out chosen
	selected, err := mechanism.Select(s.budget, len(s.candidates), mechanism.SelectionRule(p.Text("rule")),
		func(i int, rng *rand.Rand) (*released, mechanism.Score, error) {
			if err := ctx.Err(); err != nil {
				return nil, mechanism.Score{}, err
			}
			c := s.candidates[i]
			score := mechanism.Score{Value: math.NaN(), Count: n - half, Centre: c.score.Centre, Radius: c.score.Radius}
			r, likelihoods, err := d.draw(ctx, c, rng)
			if err != nil {
				return nil, score, err
			}
			if r == nil {
				out.indefinite++ // NaN is never taken
				return nil, score, nil
			}
			mean, err := c.score.Mean(likelihoods, rng)
			score.Value = float64(n-half) * mean
			return r, score, err
		}, s.t.Stream(stream("mechanism", repeat)))
	out.Selected = selected
	return out, err
}

// best scores every candidate once, without noise.
func (d *searched) best(ctx context.Context) (chosen, error) {
	var out chosen
	for i, c := range d.search.candidates {
		r, likelihoods, err := d.draw(ctx, c, nil)
		if err != nil {
			return out, err
		}
		sum := 0.0
		for _, v := range likelihoods {
			sum += max(c.score.Centre-c.score.Radius, min(c.score.Centre+c.score.Radius, v))
		}
		if out.Draws++; !out.Found || sum > out.Value {
			out.Found, out.Candidate, out.Model, out.Value = true, i, r, sum
		}
	}
	return out, nil
}

func runHyperparameters(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	s, err := newSearch(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.e.Close()) }()
	out, err := repeated(ctx, s.problem, s.searchOnce)
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{"p_none": 0}
	for _, v := range t.Params.Numbers("sigmas") {
		metrics[metricName("p_sigma_", v)] = 0
	}
	for _, v := range t.Params.Numbers("lengthscales") {
		metrics[metricName("p_lengthscale_", v)] = 0
	}
	series := experiment.Series{}
	for _, name := range []string{"x", "sigma", "lengthscale", "log_likelihood"} {
		series[name] = make([]float64, len(out))
	}
	draws, indefinite := 0, 0
	for i, c := range out {
		draws, indefinite = draws+c.Draws, indefinite+c.indefinite
		sigma, lengthscale, value := math.NaN(), math.NaN(), math.NaN()
		if c.Found {
			m := s.candidates[c.Candidate].model
			sigma, lengthscale, value = math.Sqrt(m.noise), m.lengthscale, c.Value
			metrics[metricName("p_sigma_", sigma)]++
			metrics[metricName("p_lengthscale_", lengthscale)]++
		} else {
			metrics["p_none"]++
		}
		series["x"][i], series["sigma"][i], series["lengthscale"][i], series["log_likelihood"][i] = float64(i), sigma, lengthscale, value
	}
	for name := range metrics {
		metrics[name] /= float64(len(out))
	}
	if !privacyless(t.Params) {
		metrics["candidate_epsilon"], metrics["candidate_delta"] = s.budget.Candidate.Epsilon, s.budget.Candidate.Delta
		metrics["draws_most"] = float64(s.budget.Steps)
	}
	if !s.publishes() {
		repeats := float64(len(out))
		metrics["draws_mean"], metrics["indefinite_mean"] = float64(draws)/repeats, float64(indefinite)/repeats
	}
	return &experiment.Result{Metrics: metrics, Series: map[string]experiment.Series{"selections": series}, Privacy: s.searchPrivacy(), Warnings: s.e.Warnings()}, nil
}

// searchPrivacy tells what a published selection protects; nil without noise.
func (s *search) searchPrivacy() *experiment.Privacy {
	if privacyless(s.t.Params) {
		return nil
	}
	p := s.t.Params
	number := func(name string) string { return experiment.FormatNumber(p.Float(name)) }
	record := "this record itself is not private: how many draws were made depends on the data, and the guarantee needs it to be secret"
	if s.publishes() {
		record = "its shares and series follow from selections alone; it has no timing, since how long the trial took tells how many draws were made, which the guarantee needs to be secret: do not let others watch it run"
	}
	return &experiment.Privacy{
		Guarantee: fmt.Sprintf("(%s, %s)-DP", number("epsilon"), number("delta")),
		Unit:      "one row of the training or of the validation set, input and output, substituted by any other",
		Mechanism: "private selection with random stopping (Liu and Talwar 2019; Honkela 2021, Algorithm 2) from sparse GPs by the analytic Gaussian mechanism (Algorithm 1), each scored by CoinPress under zCDP (Eq. 19)",
		Notes: []string{
			record,
			fmt.Sprintf("each draw, model and score together, is (%.4g, %.4g)-DP: training and validation rows are different ones", s.budget.Candidate.Epsilon, s.budget.Candidate.Delta),
			"the candidates, the kernel, r_y, the inducing inputs and how many rows there are are taken as public",
			fmt.Sprintf("training outputs are clipped to ±%s, log-likelihoods to their interval", number("r_y")),
			"that the noise of a draw exceeds lambda depends on the noisy sums alone; such a draw is never chosen",
			"every data set that is searched (repeats) spends a budget of its own",
		},
	}
}

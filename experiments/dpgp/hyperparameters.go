package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"privkern/experiments/dpgp/regression"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// maxCandidates bounds the grid of hyperparameters.
const maxCandidates = 400

var hyperparameters = experiment.Of(experiment.Declaration[*searchSettings, hyperparameterMetrics]{
	Name:     "dpgp/hyperparameters",
	Version:  5, // 5: one bound for all inputs is none of levels
	Summary:  "noise level and lengthscale chosen by private validation likelihoods",
	Source:   "Honkela 2021, Sections 4 and 6.3, Fig. 3, Algorithm 2",
	Datasets: func(s *searchSettings) []string { return s.method().Datasets() },
	Tables:   func(s *searchSettings) []experiment.InputTable { return s.ownColumns.tables() },
	Complete: completeSearch,
	Check:    checkSearch,
	Memory: func(s *searchSettings) int64 {
		if s.isOwn() {
			return s.points().Memory(s.method().Spec(), 6)
		}
		return s.Memory(s.N, 10)
	},
	Rules: []experiment.Rule[*searchSettings]{{
		To:        func(s *searchSettings) []any { return []any{&s.Inducing} },
		DecidedBy: func(s *searchSettings) []any { return []any{&s.InducingFile} },
		Words:     "inducing_file is none",
		Holds:     func(s *searchSettings) bool { return s.InducingFile == withoutFile },
	}, {
		To: func(s *searchSettings) []any {
			return []any{&s.Delta, &s.Gamma, &s.Rule, &s.CoinPress, &s.Low, &s.High, &s.N, &s.Sigma, &s.OutputBound,
				&s.Ratio, &s.Bound, &s.Spacing, &s.Covariance, &s.Regularisation, &s.Rho}
		},
		DecidedBy: func(s *searchSettings) []any { return []any{&s.Dataset} },
		Words:     "dataset is " + method.Simulated,
		Holds:     func(s *searchSettings) bool { return !s.isOwn() },
	}},
	Run: func(ctx context.Context, t *experiment.Trial, s *searchSettings,
	) (*experiment.Outcome[hyperparameterMetrics], error) {
		if s.isOwn() {
			return runOwnSearch(ctx, t, s)
		}
		return runHyperparameters(ctx, t, &s.hyperparameterSettings)
	},
	PrivateTiming: true,
	CheckRelease:  checkSearchRelease,
	Written:       experiment.FormModel,
	Chooses:       regression.Name,
	Release:       release.Planned(planSearch),
})

// checkSearch refuses settings that no trial of dpgp/hyperparameters can have.
func checkSearch(s *searchSettings) error {
	if s.isOwn() {
		return s.checkOwn()
	}
	if err := s.ownColumns.checkSimulated(); err != nil {
		return err
	}
	return checkHyperparameters(&s.hyperparameterSettings)
}

// checkGrid refuses lists of candidates.
func (s *hyperparameterSettings) checkGrid() error {
	if err := sparse.CheckCandidates("sigmas", s.Sigmas); err != nil {
		return err
	}
	if err := sparse.CheckCandidates("lengthscales", s.Lengthscales); err != nil {
		return err
	}
	if n := len(s.Sigmas) * len(s.Lengthscales); n > maxCandidates {
		return fmt.Errorf("%d noise levels and %d lengthscales are %d candidates; at most %d are possible",
			len(s.Sigmas), len(s.Lengthscales), n, maxCandidates)
	}
	return nil
}

func checkHyperparameters(s *hyperparameterSettings) error {
	if s.Inducing.Word != "" {
		return errors.New("inducing is auto for your own data alone")
	}
	if err := s.checkGrid(); err != nil {
		return err
	}
	if err := s.CheckRows(s.N); err != nil {
		return err
	}
	whole := s.calibration(mechanism.Guarantee{Epsilon: s.Epsilon, Delta: s.Delta}, s.CheapBound())
	for _, l := range s.Lengthscales {
		if _, err := s.model(s.Sigmas[0], l).Calibrate(whole); err != nil {
			return err
		}
	}
	if s.Noiseless() {
		return nil
	}
	_, err := mechanism.NewSelectionBudget(s.Epsilon, s.Delta, s.Gamma)
	return err
}

// model is that of one candidate.
func (s *hyperparameterSettings) model(sigma, lengthscale float64) *sparse.Model {
	kernel := sparse.EQKernel{Lengthscale: lengthscale, SignalVariance: s.SignalVariance}
	return s.InducingInputs.Model(kernel, sigma, s.Jitter)
}

func (s *hyperparameterSettings) calibration(each mechanism.Guarantee, bound sparse.Bound) sparse.Calibration {
	return sparse.Calibration{
		Epsilon: each.Epsilon, Delta: each.Delta, OutputBound: s.OutputBound, Ratio: s.Ratio,
		Bound: bound, Spacing: s.AssumedSpacing(), Unit: 1,
	}
}

func runHyperparameters(
	ctx context.Context, t *experiment.Trial, s *hyperparameterSettings,
) (*experiment.Outcome[hyperparameterMetrics], error) {
	search, err := newSearch(t, s)
	if err != nil {
		return nil, err
	}
	choices, err := sparse.RepeatTogether(ctx, search.Problem, s.Repeats, search.together(), search.searchAll)
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[hyperparameterMetrics]{
		Metrics: search.metrics(choices),
		Series:  map[string]experiment.Series{"selections": search.selections(choices)},
		Privacy: search.privacy(), Warnings: search.Engine.Warnings(),
	}, nil
}

// chosen is the model that a repeat chose; nil where no score was taken.
func (s *search) chosen(c choice) *sparse.Model {
	if !c.Found {
		return nil
	}
	return s.candidates[c.Candidate].model
}

func (s *search) metrics(choices []choice) hyperparameterMetrics {
	repeats := float64(len(choices))
	m := hyperparameterMetrics{Sigmas: map[string]float64{}, Lengthscales: map[string]float64{}}
	for _, v := range s.settings.Sigmas {
		m.Sigmas[sparse.MemberOf(v)] = 0
	}
	for _, v := range s.settings.Lengthscales {
		m.Lengthscales[sparse.MemberOf(v)] = 0
	}
	draws, indefinite, outside := 0, 0, 0
	for _, c := range choices {
		draws, indefinite, outside = draws+c.Draws, indefinite+c.indefinite, outside+c.outside
		if chosen := s.chosen(c); chosen != nil {
			m.Sigmas[sparse.MemberOf(math.Sqrt(chosen.Noise))]++
			m.Lengthscales[sparse.MemberOf(chosen.Lengthscale)]++
		} else {
			m.None++
		}
	}
	for _, family := range []map[string]float64{m.Sigmas, m.Lengthscales} {
		for member := range family {
			family[member] /= repeats
		}
	}
	m.None /= repeats
	if !s.settings.Noiseless() {
		m.CandidateEpsilon, m.CandidateDelta = &s.budget.Candidate.Epsilon, &s.budget.Candidate.Delta
		m.DrawsMost = new(float64(s.budget.Steps))
	}
	if !s.Publishes() {
		m.DrawsMean, m.IndefiniteMean = new(float64(draws)/repeats), new(float64(indefinite)/repeats)
		if !s.settings.Noiseless() && draws > indefinite {
			m.OutsideShare = new(float64(outside) / float64(draws-indefinite))
		}
	}
	return m
}

// selections holds the choice of each repeat; NaN where it chose nothing.
func (s *search) selections(choices []choice) experiment.Series {
	series := experiment.Series{}
	for i, c := range choices {
		sigma, lengthscale, value := math.NaN(), math.NaN(), math.NaN()
		if chosen := s.chosen(c); chosen != nil {
			sigma, lengthscale, value = math.Sqrt(chosen.Noise), chosen.Lengthscale, c.Value
		}
		for column, v := range map[string]float64{
			"x": float64(i), "sigma": sigma, "lengthscale": lengthscale, "log_likelihood": value,
		} {
			series[column] = append(series[column], v)
		}
	}
	return series
}

// privacy describes the protection by a published selection; nil without noise.
func (s *search) privacy() *experiment.Privacy {
	if s.settings.Noiseless() {
		return nil
	}
	record := "this record itself is not private: how many draws were made depends on the data, and the guarantee " +
		"needs it to be secret"
	if s.Publishes() {
		record = "its shares and series follow from selections alone; it has no timing, since how long the trial took " +
			"shows how many draws were made, which the guarantee needs to be secret: do not let others watch it run"
	}
	out := &experiment.Privacy{
		Unit: "one row of the training or of the validation set, input and output, substituted by any other",
		Mechanism: "private selection with random stopping (Liu and Talwar 2019; Honkela 2021, Algorithm 2) from sparse " +
			"GPs by the analytic Gaussian mechanism (Algorithm 1), each scored by CoinPress under zCDP (Eq. 19)",
		Notes: []string{
			record,
			fmt.Sprintf("each draw, model and score together, is (%.4g, %.4g)-DP: training and validation rows are "+
				"different ones", s.budget.Candidate.Epsilon, s.budget.Candidate.Delta),
			"the candidates, the kernel, r_y, the inducing inputs and how many rows there are are taken as public",
			fmt.Sprintf("training outputs are clipped to ±%s, log-likelihoods to their interval",
				experiment.FormatNumber(s.settings.OutputBound)),
			"that the noise of a draw exceeds lambda depends on the noisy sums alone; such a draw is never chosen",
			"every data set that is searched (repeats) spends a budget of its own",
		},
	}
	return out.State(s.settings.Epsilon, s.settings.Delta)
}

// searchTime measures the searches of dpgp/hyperparameters, whose trials need not run
// alone.
var searchTime = experiment.Of(experiment.Declaration[*hyperparameterSettings, searchTimeMetrics]{
	Name:          "dpgp/search-time",
	Version:       1,
	Summary:       "how long a private search for hyperparameters takes",
	Source:        "Honkela 2021, Section 6.3",
	Check:         checkHyperparameters,
	Memory:        func(s *hyperparameterSettings) int64 { return s.Memory(s.N, 10) },
	Run:           runSearchTime,
	PrivateTiming: true,
})

func runSearchTime(
	ctx context.Context, t *experiment.Trial, s *hyperparameterSettings,
) (*experiment.Outcome[searchTimeMetrics], error) {
	start := time.Now()
	out, err := runHyperparameters(ctx, t, s)
	if err != nil {
		return nil, err
	}
	privacy := out.Privacy
	if privacy != nil {
		privacy.Withdraw("how long a search took shows how many draws were made, which the guarantee needs to be secret")
	}
	return &experiment.Outcome[searchTimeMetrics]{
		Metrics: searchTimeMetrics{Time: time.Since(start).Seconds() / float64(s.Repeats)},
		Privacy: privacy, Warnings: out.Warnings,
	}, nil
}

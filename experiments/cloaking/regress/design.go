package regress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset/readers"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Design is a noise covariance by itself, with its certificate.
var Design = experiment.Of(experiment.Declaration[*designSettings, designMetrics]{
	Name:    "cloaking/design",
	Version: 4,
	Summary: "the noise covariance of the cloaking mechanism, with its certificate",
	Source:  "Smith, Álvarez and Lawrence 2019, Section 1.1, Eqs. (1), (2) and (4)",
	Datasets: func(s *designSettings) []string {
		if s.Inputs == cloak.Synthetic {
			return nil
		}
		return []string{cloak.Census}
	},
	Check: checkDesign,
	Run:   runDesign,
})

// checkDesign refuses a rank and inducing inputs that the points and the training
// inputs do not allow.
func checkDesign(s *designSettings) error {
	if err := checkPoints(&s.Solver, len(s.TestPoints), "test_points"); err != nil {
		return err
	}
	rows := readers.KungFemales
	if s.Inputs == cloak.Synthetic {
		rows, _ = cloak.SyntheticInputs().Dims()
	}
	if s.Method != cloak.Sparse {
		return nil
	}
	return s.inducing.check("inducing_points", rows, noList(s.Inputs))
}

// train reads the training inputs (N×1).
func (s *designSettings) train(t *experiment.Trial) (*mat.Dense, error) {
	if s.Inputs == cloak.Synthetic {
		return cloak.SyntheticInputs(), nil
	}
	kung, err := readers.LoadKung(t.Dataset(cloak.Census))
	if err != nil {
		return nil, err
	}
	return cloak.InputsOf(kung, cloak.Age), nil
}

func runDesign(
	ctx context.Context, t *experiment.Trial, s *designSettings,
) (*experiment.Outcome[designMetrics], error) {
	train, err := s.train(t)
	if err != nil {
		return nil, err
	}
	return s.solve(ctx, t, train, cloak.DefaultCaps())
}

// solve designs the noise of predictions from training inputs (N×1).
func (s *designSettings) solve(
	ctx context.Context, t *experiment.Trial, train *mat.Dense, caps cloak.Caps,
) (*experiment.Outcome[designMetrics], error) {
	e := engine.Of(t.Engine)
	m := cloak.NewModel(s.Method, s.Hyperparameters, cloak.Density{}, train)
	if m.Method == cloak.Sparse {
		inducing, err := cloak.InducingInputs(ctx, e, s.Inducing, []*mat.Dense{train}, []*rand.Rand{t.Stream("k-means")},
			caps.Clusters)
		if err != nil {
			return nil, err
		}
		m.Inducing = inducing[0]
	}
	c, err := m.Matrix(e, train, mat.NewDense(len(s.TestPoints), 1, s.TestPoints))
	if err != nil {
		return nil, err
	}
	start := time.Now()
	ranges, solved, err := cloak.SolveDesigns(ctx, &cloak.Work{Engine: e, Solver: &s.Solver, MaxSteps: caps.Design,
		Stream: t.Stream, Progress: func(done, total int) { t.Progress(done, total, "steps") }}, []*mat.Dense{c})
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(start).Seconds()
	r, d := ranges[0], solved[0]
	_, n := c.Dims()
	largest := 0.0
	for j := range n {
		largest = max(largest, mat.Norm(c.ColView(j), 2))
	}
	quality := []cloak.Quality{cloak.QualityOf(r, d)}
	return &experiment.Outcome[designMetrics]{
		Metrics: designMetrics{
			FrobeniusC: mat.Norm(c, 2), Rank: float64(len(r.Scale)), LogDet: d.LogDet, LogDetRange: d.LogDetRange,
			Trace: d.Trace, LargestColumn: largest * largest, SumLambda: d.SumLambda, MaxMahalanobis: d.MaxMahalanobis,
			Gap: d.Gap, Iterations: float64(d.Iterations), Time: elapsed,
		},
		Series: map[string]experiment.Series{
			"noise_over_age":   {"x": s.TestPoints, "noise_sd": cloak.NoiseSD(d, 1)},
			"weights_over_age": weightsOverAge(train, r, d),
		},
		Warnings: slices.Concat(e.Warnings(), rankWarnings(r), cloak.PrecisionWarnings(e, quality, &s.Solver),
			cloak.DesignWarnings(quality)),
	}, nil
}

// weightsOverAge lists the weight λ of every distinct input of train (N×1), in the order
// of their first rows.
func weightsOverAge(train *mat.Dense, r *design.Range, d *design.Design) experiment.Series {
	var x, weight []float64
	for _, column := range r.Distinct() {
		x = append(x, train.At(column, 0))
		weight = append(weight, d.Lambda[column])
	}
	return experiment.Series{"x": x, "lambda": weight}
}

// rankWarnings warns of directions that a release leaves out.
func rankWarnings(r *design.Range) []string {
	if r.Dropped == 0 {
		return nil
	}
	points, rank := r.U.Dims()
	return []string{fmt.Sprintf("rank %d of %d: what is released is the projection of the predictions; the largest "+
		"direction left out has singular value %.3g of %.3g", rank, points, r.Dropped, r.Scale[0])}
}

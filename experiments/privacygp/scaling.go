package privacygp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// The largest n of the programs: that of the general one holds n⁴/2 numbers, that of the
// other is that of experiment weak.
const (
	mostGeneral = 60
	mostWeak    = 500
)

// scaling measures the statements of §6 about cost: programs that do not scale, a closed form that
// is fast, and noise in O(n²) operations.
var scaling = experiment.Of(experiment.Declaration[*scalingSettings, scalingMetrics]{
	Name:     "privacygp/scaling",
	Version:  1,
	Summary:  "what the noise takes to compute, and how that grows with the data",
	Source:   source + "Section 6",
	Seedless: func(s *scalingSettings) bool { return s.Method != fastDraw },
	Check:    checkScaling,
	Memory:   scalingMemory,
	Run:      runScaling,
})

func checkScaling(s *scalingSettings) error {
	if err := checkSensitive("sensitive_", s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount); err != nil {
		return err
	}
	for method, most := range map[scalingMethod]int{generalProgram: mostGeneral, weakProgram: mostWeak} {
		if s.Method == method && s.Points > most {
			return fmt.Errorf("method=%s takes at most %d points", experiment.NameOf(method), most)
		}
	}
	if s.Points < 2 {
		return fmt.Errorf("points is %d: half of them are timed too, so that there must be 2", s.Points)
	}
	return checkTolerance("xi", s.Xi)
}

func scalingMemory(s *scalingSettings) int64 {
	if s.Method == generalProgram {
		unknowns := s.Points * (s.Points + 1) / 2
		return matrixMemory(5, unknowns) // 114 MiB were measured for 820 unknowns
	}
	return matrixMemory(34, s.Points)
}

func runScaling(
	ctx context.Context, t *experiment.Trial, settings *scalingSettings,
) (*experiment.Outcome[scalingMetrics], error) {
	half, err := newEffort(t, settings, settings.Points/2)
	if err != nil {
		return nil, err
	}
	whole, err := newEffort(t, settings, settings.Points)
	if err != nil {
		return nil, err
	}
	if err := half.run(ctx); err != nil {
		return nil, err
	}
	took, err := whole.shortest(ctx)
	if err != nil {
		return nil, err
	}
	m := whole.metrics
	m.Time, m.Growth = took.Seconds(), math.Log2(m.Operations/half.metrics.Operations)
	if settings.Method == fastDraw {
		if m.Error, err = whole.drawError(); err != nil {
			return nil, err
		}
	}
	return &experiment.Outcome[scalingMetrics]{
		Metrics: m,
		Privacy: privacy(
			fmt.Sprintf("Var[f(s)|W] >= %s at %d sensitive inputs", experiment.FormatNumber(settings.Xi),
				settings.SensitiveCount),
			"the outputs at the sensitive inputs (prior variance 1)", settings.Points, -1, settings.NoiseVariance,
			recordHoldsNoOutputs),
		Warnings: whole.Warnings(),
	}, nil
}

// effort is one computation of the noise for n data.
type effort struct {
	*process.Process
	method   scalingMethod
	cross, q *mat.Dense // K_XS and (1 − ξ)K_SS
	room     []float64  // K(s,s) − ξ
	random   []float64  // n, of draw
	drawn    []float64
	progress sdp.Progress
	metrics  scalingMetrics
}

func newEffort(t *experiment.Trial, s *scalingSettings, n int) (*effort, error) {
	p, err := process.New(engine.Of(t.Engine), s.Theta, s.NoiseVariance, grid(n))
	if err != nil {
		return nil, err
	}
	inputs := linspace(s.SensitiveLow, s.SensitiveHigh, s.SensitiveCount)
	e := &effort{Process: p, method: s.Method, progress: solving(t),
		room: slices.Repeat([]float64{1 - s.Xi}, len(inputs))}
	if e.cross, err = p.Between(p.X, inputs); err != nil {
		return nil, err
	}
	if e.q, err = p.Between(inputs, inputs); err != nil {
		return nil, err
	}
	e.q.Scale(1-s.Xi, e.q)
	if s.Method == fastDraw {
		e.random = normals(t.Stream("noise"), n)
	}
	return e, nil
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// shortest is the shortest of three runs.
func (e *effort) shortest(ctx context.Context) (time.Duration, error) {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		if err := e.run(ctx); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

func (e *effort) run(ctx context.Context) error {
	n, g := float64(len(e.X)), float64(len(e.room))
	eigen := 9 * n * n * n // of eigenvalues and vectors
	switch e.method {
	case generalProgram:
		unknowns := n * (n + 1) / 2
		return e.solve(ctx, sdp.SolveGeneral, generalGap, unknowns, 2*(g+1)*unknowns*unknowns+unknowns*unknowns*unknowns/3)
	case weakProgram:
		rank := math.Min(n, g)
		unknowns := rank * (rank + 1) / 2
		return e.solve(ctx, sdp.SolveWeak, weakGap, unknowns,
			eigen+2*unknowns*n*n+unknowns*unknowns*n+unknowns*unknowns*unknowns/3)
	case closedForm:
		noise, err := e.StrongNoise(e.cross, e.q)
		if err != nil {
			return err
		}
		e.metrics = scalingMetrics{Trace: &noise.Trace, Operations: eigen + 2*n*n*g}
	case fastDraw:
		z, steps, err := e.FastDraw(e.cross, e.q, e.random, drawTolerance)
		if err != nil {
			return err
		}
		j := float64(steps)
		e.drawn, e.metrics = z, scalingMetrics{Unknowns: n, Steps: &j, Operations: j*(2*n*n+4*n*g) + 4*n*j*j}
	}
	return nil
}

// solve runs a program of that many unknowns and operations a step.
func (e *effort) solve(ctx context.Context, program func(
	context.Context, *mat.SymDense, *mat.Dense, []float64, sdp.Progress,
) (*sdp.Solution, error), wanted, unknowns, operations float64,
) error {
	s, err := program(ctx, e.Covariance(), e.cross, e.room, e.progress)
	if err != nil {
		return err
	}
	if err := checkGap("the weak SDP", s, wanted); err != nil {
		return err
	}
	steps := float64(s.Iterations)
	e.metrics = scalingMetrics{Unknowns: unknowns, Steps: &steps, Trace: &s.Trace, Gap: new(s.Gap()),
		Operations: steps * operations}
	return nil
}

// drawTolerance is the relative change of the noise at which its computation ends.
const drawTolerance = 1e-6

// drawError compares the noise with Σ^½ω from an eigen-decomposition, relative to the length
// of that where there is any noise.
func (e *effort) drawError() (*float64, error) {
	noise, err := e.StrongNoise(e.cross, e.q)
	if err != nil {
		return nil, err
	}
	want, err := e.Root(noise.Sigma, e.random)
	if err != nil {
		return nil, err
	}
	distance := floats.Distance(e.drawn, want, 2)
	if size := floats.Norm(want, 2); size > 0 {
		distance /= size
	}
	return &distance, nil
}

package kahm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/kahm"
	"privkern/runner/experiment"
)

// pipeline turns the samples of classes into machines.
type pipeline struct {
	e        *engine.Engine
	n        int
	layers   int
	branches func(samples int) int
	data     string
	// clustersOf is what k-means sees: clustersOriginal or clustersNoisy.
	clustersOf string
	// private says that the fabrication's radius comes from the original data.
	private   bool
	smoothing int
	noise     *mechanism.EntryNoise // nil for none
	// stream returns the random stream of a purpose.
	stream   func(purpose string) *rand.Rand
	progress func(done, total int, what string)
}

func newPipeline(t *experiment.Trial, e *engine.Engine) (*pipeline, error) {
	p := t.Params
	b := &pipeline{e: e, n: p.Int("n"), layers: p.Int("layers"), branches: branchesOf(p), data: p.Text("data"), stream: t.Stream, progress: t.Progress,
		smoothing: p.Int("smoothing"), private: p.Text("variant") == variantPublished, clustersOf: clustersOf(p)}
	return b, b.setNoise(p)
}

// setNoise takes the mechanism of the parameters, if there is one.
func (b *pipeline) setNoise(p experiment.Params) error {
	if b.data == dataOriginal || noiseless(p) {
		return nil
	}
	b.noise = &mechanism.EntryNoise{Epsilon: p.Float("epsilon"), Delta: p.Float("delta"), D: p.Float("d")}
	return b.noise.Validate()
}

// clustersOf resolves the parameter "clusters".
func clustersOf(p experiment.Params) string {
	switch c := p.Text("clusters"); {
	case c != clustersAuto:
		return c
	case p.Text("variant") == variantPublished || p.Text("data") == dataOriginal:
		return clustersOriginal
	}
	return clustersNoisy
}

// branchesOf returns the number of machines for a class of so many samples.
func branchesOf(p experiment.Params) func(samples int) int {
	perMachine := 1000.0
	switch p.Text("branches") {
	case branchesRound:
		return func(n int) int { return max(1, int(math.Round(float64(n)/perMachine))) }
	case branchesCeil:
		return func(n int) int { return max(1, int(math.Ceil(float64(n)/perMachine))) }
	}
	fixed := p.Int("branches")
	return func(n int) int { return min(fixed, n) }
}

// source is the samples of one class, as one party has them.
type source struct {
	class   int
	party   int // 0 where there is only one
	samples *mat.Dense
}

func (s *source) String() string {
	if s.party > 0 {
		return fmt.Sprintf("party %d, class %d", s.party, s.class)
	}
	return fmt.Sprintf("class %d", s.class)
}

// built is the outcome of a pipeline.
type built struct {
	machines []*kahm.Machine
	classes  []int // of each machine
	ensemble *kahm.Ensemble
	stepsMax int // largest number of smoothing steps
	// unsafe counts samples that have no image when they are fabricated.
	unsafe int
	// Wall times of the fabrication, and of all the rest.
	fabrication, build time.Duration
}

// part is the samples of one machine to be.
type part struct {
	source   *source
	original *mat.Dense
	given    *mat.Dense // with noise, if any
}

// build makes the machines of all sources.
func (b *pipeline) build(ctx context.Context, sources []source) (*built, error) {
	start := time.Now()
	bySource := make([][]part, len(sources))
	err := b.e.ParallelFor(ctx, len(sources), 1, func(i, _ int) (err error) {
		if bySource[i], err = b.split(ctx, &sources[i]); err != nil {
			err = fmt.Errorf("%v: %w", &sources[i], err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, p := range bySource {
		parts = append(parts, p...)
	}
	out := &built{machines: make([]*kahm.Machine, len(parts)), classes: make([]int, len(parts))}
	if b.data == dataFabricated {
		before := time.Now()
		if err := b.fabricateAll(ctx, parts, out); err != nil {
			return nil, err
		}
		out.fabrication = time.Since(before)
	}
	err = b.each(ctx, parts, "machines", func(i int) (err error) {
		out.machines[i], err = kahm.Fit(ctx, b.e, parts[i].given, kahm.Options{Dim: b.n, Layers: b.layers})
		out.classes[i] = parts[i].source.class
		parts[i].given = nil
		return err
	})
	if err != nil {
		return nil, err
	}
	out.build = time.Since(start) - out.fabrication
	out.ensemble, err = kahm.NewEnsemble(out.machines, out.classes)
	return out, err
}

// fabricateAll puts fabricated samples in the place of those given.
func (b *pipeline) fabricateAll(ctx context.Context, parts []part, out *built) error {
	steps, unsafe := make([]int, len(parts)), make([]int, len(parts))
	err := b.each(ctx, parts, "fabrications", func(i int) error {
		f, err := b.fabricate(ctx, parts[i])
		if err != nil {
			return err
		}
		parts[i].given, parts[i].original = f.samples, nil
		steps[i], unsafe[i] = f.steps(), f.unsafe
		return nil
	})
	for i := range parts {
		out.stepsMax = max(out.stepsMax, steps[i])
		out.unsafe += unsafe[i]
	}
	if out.unsafe > 0 {
		b.e.Warn("%d fabricated samples have no image, because the sum of memberships is not safely positive (the paper's Eq. 148 fails): they are the smoothed noisy samples themselves", out.unsafe)
	}
	return err
}

// each calls f for every part and reports progress.
func (b *pipeline) each(ctx context.Context, parts []part, what string, f func(i int) error) error {
	var mu sync.Mutex
	done := 0
	return b.e.ParallelFor(ctx, len(parts), 1, func(i, _ int) error {
		if err := f(i); err != nil {
			return fmt.Errorf("%v: %w", parts[i].source, err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		b.progress(done, len(parts), what)
		return nil
	})
}

// split adds the noise to the samples of a source and divides them into
// clusters.
func (b *pipeline) split(ctx context.Context, s *source) ([]part, error) {
	given := s.samples
	n, p := s.samples.Dims()
	if b.noise != nil {
		given = mat.DenseCopyOf(s.samples)
		b.noise.Add(given.RawMatrix().Data, b.stream("noise, "+s.String()))
	}
	k := b.branches(n)
	if k == 1 {
		return []part{{s, s.samples, given}}, nil
	}
	seen := s.samples
	if b.clustersOf == clustersNoisy && b.noise != nil {
		scores, err := kahm.PrincipalScores(ctx, b.e, given, min(b.n, n-1, p))
		if err != nil {
			return nil, err
		}
		seen = scores
	}
	c, err := learn.KMeans(seen, k, b.stream("k-means, "+s.String()),
		learn.KMeansOptions{Restarts: 1, Iterations: fault.Capped(ctx, learn.KMeansIterations)})
	if err != nil {
		return nil, err
	}
	rows := make([][]int, k)
	for i, l := range c.Labels {
		rows[l] = append(rows[l], i)
	}
	parts := make([]part, k)
	for l := range parts {
		parts[l] = part{source: s, given: learn.SelectRows(given, rows[l])}
		if b.data == dataFabricated && b.private {
			parts[l].original = learn.SelectRows(s.samples, rows[l])
		}
	}
	return parts, nil
}

// maxSmoothing caps the smoothing steps of a fabrication towards a radius.
const maxSmoothing = 100

// fabricated is fabricated samples, and how they came about.
type fabricated struct {
	samples *mat.Dense // Ỹ (Eq. 89): the images of the smoothed samples
	// errors are the modelling errors Σ‖ŷ − A(ŷ)‖ of the samples Ŷ_m after
	// m = 0, 1, …, M̃−1 smoothing steps (Eq. 87): first those of the samples as
	// given (Eq. 79), last those whose images are fabricated.
	errors []float64
	// unsafe counts samples without an image, which stay as they were smoothed.
	unsafe int
}

// steps is the number M̃−1 of smoothing steps.
func (f *fabricated) steps() int { return len(f.errors) - 1 }

// fabricate computes the fabricated samples of a machine (Definition 14).
func (b *pipeline) fabricate(ctx context.Context, p part) (*fabricated, error) {
	radius := math.NaN()
	if b.private {
		m, err := kahm.Model(ctx, b.e, p.original, b.n)
		if err != nil {
			return nil, err
		}
		if radius = m.Error; m.Unsafe > 0 {
			return nil, fmt.Errorf("%d of the original samples have no image, because the sum of memberships is not safely positive (the paper's Eq. 148 fails), so that there is no radius (Eq. 96); use another n, or variant=corrected", m.Unsafe)
		}
	}
	out := new(fabricated)
	y, most := p.given, fault.Capped(ctx, maxSmoothing)
	for steps := 0; ; steps++ {
		m, err := kahm.Model(ctx, b.e, y, b.n)
		if err != nil {
			return nil, fmt.Errorf("smoothing step %d: %w", steps, err)
		}
		out.errors = append(out.errors, m.Error)
		if b.private && m.Error <= radius || !b.private && steps == b.smoothing {
			out.samples, out.unsafe = m.Images, m.Unsafe
			return out, nil
		}
		if b.private && steps == most {
			return nil, fmt.Errorf("fabrication stopped after %d smoothing steps, the most that are allowed, at a modelling "+
				"error of %g, and at most that of the original samples, %g, is wanted; use a larger epsilon or another n, "+
				"or variant=corrected, which takes a given number of steps", steps, m.Error, radius)
		}
		y = m.Smoothed
	}
}

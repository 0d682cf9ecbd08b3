package wide

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

const (
	// tolerance bounds the error of λ relative to λ* (Eq. 40) with [Near]. It spares half of the solutions.
	tolerance = 1e-3
	// authorsChange is the change of λ at which the authors' code stops: software-competence-center-hagenberg/GIKM,
	// GIKM/Autoencoder.m, kernel_regularized_least_squares.
	authorsChange = .01
)

// MachineOptions returns the options of a machine of n principal directions in the first of
// its layers. Modelling errors are comparable only where they come from the same options.
func MachineOptions(n, layers int, rule LambdaRule) hull.Options {
	opts := hull.Options{Dim: n, Layers: layers}
	switch rule {
	case Near:
		opts.Tolerance = tolerance
	case Authors:
		opts.Iteration, opts.Change = hull.Picard, authorsChange
	}
	return opts
}

// machineOptions returns those of a machine of the builder with that many layers.
func (b *Builder) machineOptions(layers int) hull.Options {
	return MachineOptions(b.n, layers, b.lambda)
}

// Builder makes the machines of classes from their samples.
type Builder struct {
	// Data is the kind of samples that the machines model.
	Data Data

	trial     *experiment.Trial
	e         *engine.Engine
	n         int // subspace dimension of the machines
	layers    int
	lambda    LambdaRule
	branches  func(samples int) int
	clusters  Clusters // OriginalClusters or NoisyClusters
	kmeans    learn.KMeansOptions
	private   bool // the fabrication's radius comes from the original data
	smoothing int
	noise     *mechanism.EntryNoise // nil for none
	given     bool                  // the samples have their noise already: nothing is private
}

// NewBuilder returns the builder of a trial's wide machines, which model data of that
// kind. An error is one of the noise's parameters.
func NewBuilder(t *experiment.Trial, e *engine.Engine, data Data, p *Pipeline) (*Builder, error) {
	b := NewBuilderOfNoisy(t, e, data, p)
	b.given, b.clusters, b.private = false, p.clustersOf(data), p.Variant == AsPublished
	var err error
	b.noise, err = p.noise(data)
	return b, err
}

// NewBuilderOfNoisy returns the builder of machines of samples that have their noise. All
// that it computes is post-processing: clusters come from these samples, and smoothing
// takes a given number of steps.
func NewBuilderOfNoisy(t *experiment.Trial, e *engine.Engine, data Data, p *Pipeline) *Builder {
	return &Builder{Data: data, trial: t, e: e, n: p.N, layers: p.Layers, lambda: p.Lambda,
		branches: p.branches, clusters: NoisyClusters, kmeans: learn.KMeansOptions{Restarts: p.Starts},
		smoothing: p.Smoothing, given: true}
}

// NewFabricator returns the builder of a trial whose samples are one cluster each. Its
// machines have the subspace dimension n.
func NewFabricator(t *experiment.Trial, e *engine.Engine, data Data, n int, b *Budget, s *Smoothing,
) (*Builder, error) {
	noise, err := b.noise(data)
	return &Builder{Data: data, trial: t, e: e, n: n, branches: func(int) int { return 1 }, clusters: NoisyClusters,
		private: s.Variant == AsPublished, smoothing: s.Steps, noise: noise}, err
}

// Source is the samples of one class, as one party has them.
type Source struct {
	Class   int
	Party   int        // from 1; 0 where there is only one
	Samples *mat.Dense // samples×columns
	// Table reports that they are rows of a user's table, brought to [0, 1] by ranges that may be far wider than they.
	Table bool
}

// String names the source, in messages and as the purpose of its random streams.
func (s *Source) String() string {
	if s.Party > 0 {
		return fmt.Sprintf("party %d, class %d", s.Party, s.Class)
	}
	return fmt.Sprintf("class %d", s.Class)
}

// Model is the machines of some sources.
type Model struct {
	Machines []*hull.Machine
	Classes  []int // of each machine
	Ensemble *hull.Ensemble
	StepsMax int // largest number of smoothing steps
	// FabricationTime is the wall time of the fabrication, BuildTime that of all the
	// rest. Work that another trial of the sweep did counts as long as it took there.
	FabricationTime, BuildTime time.Duration
}

// Cluster is the samples of one machine. Samples are dropped once the machine is
// fitted: those of all clusters together are a copy of the data.
type Cluster struct {
	Samples *mat.Dense // with noise, if any; samples×columns

	source   *Source
	rows     []int      // of the source's samples; nil for all
	original *mat.Dense // nil where nothing reads them
}

// Build makes the machines of all sources. It refuses samples of a scale at which machines
// smooth everything away.
//
// Sources and clusters are worked on in parallel, each with a random stream of its own
// that its name chooses, so that results depend neither on the number of workers nor on
// other sources. Machines come in the order of the sources.
func (b *Builder) Build(ctx context.Context, sources []Source) (*Model, error) {
	if err := b.checkScale(sources); err != nil {
		return nil, err
	}
	start, out := time.Now(), new(Model)
	clusters, elsewhere, err := b.prepare(ctx, sources, out)
	if err != nil {
		return nil, err
	}
	out.Machines, out.Classes = make([]*hull.Machine, len(clusters)), make([]int, len(clusters))
	if err := b.fitAll(ctx, clusters, out); err != nil {
		return nil, err
	}
	out.BuildTime = time.Since(start) + elsewhere - out.FabricationTime
	out.Ensemble, err = hull.NewEnsemble(out.Machines, out.Classes)
	return out, err
}

// prepare makes the samples of all machines. elsewhere is to be added to the time of the call,
// because another trial did some of the work.
func (b *Builder) prepare(ctx context.Context, sources []Source, out *Model,
) (clusters []Cluster, elsewhere time.Duration, err error) {
	digest := b.digest(sources)
	if clusters, elsewhere, err = b.splitAll(ctx, sources, digest); err != nil || b.Data != Fabricated {
		return clusters, elsewhere, err
	}
	before := time.Now()
	more, err := b.fabricateAll(ctx, clusters, digest, out)
	out.FabricationTime = time.Since(before) + more
	return clusters, elsewhere + more, err
}

// Part is the samples of one machine with their origin.
type Part struct {
	Source  *Source
	Rows    []int // of the source's samples
	Samples *mat.Dense
}

// Parts returns the samples of the machines of all sources, in the order of [Builder.Build],
// without a fit.
func (b *Builder) Parts(ctx context.Context, sources []Source) ([]Part, error) {
	clusters, _, err := b.prepare(ctx, sources, new(Model))
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(clusters))
	for i, c := range clusters {
		if c.rows == nil {
			c.rows = learn.AllRows(c.source.size())
		}
		parts[i] = Part{Source: c.source, Rows: c.rows, Samples: c.Samples}
	}
	return parts, nil
}

// fitAll fits the machines of the clusters, whose samples it drops as they are.
func (b *Builder) fitAll(ctx context.Context, clusters []Cluster, out *Model) error {
	samples := take(clusters, func(c *Cluster) **mat.Dense { return &c.Samples })
	counter := experiment.NewCounter(b.trial.Progress, len(clusters), "machines")
	return hull.FitAll(ctx, b.e, samples, b.machineOptions(b.layers), func(i int, m *hull.Machine, err error) error {
		if err != nil {
			return fmt.Errorf("%v: %w", clusters[i].source, err)
		}
		out.Machines[i], out.Classes[i] = m, clusters[i].source.Class
		counter.Step()
		return nil
	})
}

// take moves samples out of the clusters.
func take(clusters []Cluster, of func(*Cluster) **mat.Dense) []*mat.Dense {
	out := make([]*mat.Dense, len(clusters))
	for i := range clusters {
		from := of(&clusters[i])
		out[i], *from = *from, nil
	}
	return out
}

// fabricateAll replaces the samples of clusters by fabricated ones. elsewhere is to be added to
// the time of the call, because another trial did some of the work.
func (b *Builder) fabricateAll(ctx context.Context, clusters []Cluster, digest func() string, out *Model,
) (elsewhere time.Duration, err error) {
	radii := make([]float64, len(clusters))
	if b.private {
		if radii, elsewhere, err = b.radii(ctx, clusters, digest); err != nil {
			return 0, err
		}
	}
	before := momentsOfTables(clusters)
	counter := experiment.NewCounter(b.trial.Progress, len(clusters), "fabrications")
	fabricated, err := b.fabricate(ctx, clusters, radii, counter.Step)
	if err != nil {
		return 0, err
	}
	unsafe := 0
	for i, f := range fabricated {
		clusters[i].Samples = f.Samples
		out.StepsMax = max(out.StepsMax, f.Steps())
		unsafe += f.unsafe
		if before[i].drifts(f.Samples) {
			b.e.Warn(driftWarning)
		}
	}
	if unsafe > 0 {
		b.e.Warn("%d fabricated samples have no image, because the sum of memberships is not safely positive "+
			"(the paper's Eq. 148 fails): they are the smoothed noisy samples themselves", unsafe)
	}
	return elsewhere, nil
}

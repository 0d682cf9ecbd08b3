package wide

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/shared"
	"privkern/experiments/learn"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// Split adds the noise to the samples of a source and divides them into
// clusters.
//
// Noise comes first and once: all that is computed from noisy samples later is
// post-processing. With clusters=noisy k-means clusters their leading principal scores
// instead, in which the noise of p columns is mostly projected away.
func (b *Builder) Split(ctx context.Context, s *Source) ([]Cluster, error) {
	given := b.withNoise(s)
	labels, err := b.label(ctx, []Source{*s}, []*mat.Dense{given}, func(_ int, err error) error { return err })
	if err != nil {
		return nil, err
	}
	return b.divide(s, given, labels[0]), nil
}

// splitAll divides the samples of all sources into clusters, in the order of the
// sources. The clusters of the same samples are computed once in a sweep, unless they are
// those of another noise; elsewhere is the time of another trial, to be added to that of
// the call.
func (b *Builder) splitAll(ctx context.Context, sources []Source, digest func() string,
) (all []Cluster, elsewhere time.Duration, err error) {
	given := make([]*mat.Dense, len(sources))
	err = b.e.ParallelFor(ctx, len(sources), 1, func(i, _ int) error {
		given[i] = b.withNoise(&sources[i])
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	labels, elsewhere, err := b.labelAll(ctx, sources, given, digest)
	if err != nil {
		return nil, 0, err
	}
	bySource := make([][]Cluster, len(sources))
	err = b.e.ParallelFor(ctx, len(sources), 1, func(i, _ int) error {
		bySource[i] = b.divide(&sources[i], given[i], labels[i])
		given[i] = nil // all of them are a copy of the data
		return nil
	})
	return slices.Concat(bySource...), elsewhere, err
}

// withNoise returns the samples of a source with the noise, if any.
func (b *Builder) withNoise(s *Source) *mat.Dense {
	if b.noise == nil {
		return s.Samples
	}
	given := mat.DenseCopyOf(s.Samples)
	b.noise.Add(given.RawMatrix().Data, b.trial.Stream("noise, "+s.String()))
	return given
}

// seesNoise reports whether k-means clusters noisy samples.
func (b *Builder) seesNoise() bool {
	return b.given || b.clusters == NoisyClusters && b.noise != nil
}

// label returns the cluster of each sample of each source, from 0; nil where there is one for
// all samples. of adds the source to an error.
func (b *Builder) label(ctx context.Context, sources []Source, given []*mat.Dense, of func(i int, err error) error,
) ([][]int, error) {
	var divided []int // numbers of the sources
	for i := range sources {
		if b.branches(sources[i].size()) > 1 {
			divided = append(divided, i)
		}
	}
	labels := make([][]int, len(sources))
	if len(divided) == 0 { // needs no engine
		return labels, nil
	}
	problems := make([]learn.KMeansProblem, len(divided))
	err := b.e.ParallelFor(ctx, len(divided), 1, func(j, _ int) (err error) {
		s := &sources[divided[j]]
		n, p := s.Samples.Dims()
		seen := s.Samples
		if b.seesNoise() {
			seen, err = hull.PrincipalScores(ctx, b.e, given[divided[j]], min(b.n, n-1, p))
			if err != nil {
				return of(divided[j], err)
			}
		}
		problems[j] = learn.KMeansProblem{Points: seen, Clusters: b.branches(n),
			Rand: b.trial.Stream("k-means, " + s.String())}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = learn.KMeansAll(ctx, b.e, problems, b.kmeans, func(j int, c *learn.Clustering, err error) error {
		if err != nil {
			return of(divided[j], err)
		}
		labels[divided[j]] = c.Labels
		return nil
	})
	return labels, err
}

// labelAll labels the samples of all sources, once in a sweep. As published the labels are the
// same for every ε and n of a seed; they take 2.5 s for the 60,000 images of MNIST.
func (b *Builder) labelAll(ctx context.Context, sources []Source, given []*mat.Dense, digest func() string,
) (labels [][]int, elsewhere time.Duration, err error) {
	labels = make([][]int, len(sources))
	several := slices.ContainsFunc(sources, func(s Source) bool { return b.branches(s.size()) > 1 })
	if !several {
		return labels, 0, nil
	}
	key := func(in *experiment.Inputs) {
		in.Text(digest())
		if b.seesNoise() {
			if !b.given { // the digest is of the samples without it
				in.Numbers(b.noise.Epsilon, b.noise.Delta, b.noise.D)
			}
			in.Whole(b.n)
		}
	}
	numbers, elsewhere, err := b.work(ctx, "clusters", key, func() (shared.Numbers, error) {
		labels, err := b.label(ctx, sources, given, func(i int, err error) error {
			return fmt.Errorf("%v: %w", &sources[i], err)
		})
		if err != nil {
			return nil, err
		}
		var all []float64
		for _, of := range labels {
			for _, l := range of {
				all = append(all, float64(l))
			}
		}
		return shared.Numbers{"labels": all}, nil
	})
	if err != nil {
		return nil, 0, err
	}
	total := 0
	for i := range sources {
		if n := sources[i].size(); b.branches(n) > 1 {
			total += n
		}
	}
	all, err := numbers.Column("labels", total)
	if err != nil {
		return nil, 0, err
	}
	for i := range sources {
		n := sources[i].size()
		if b.branches(n) == 1 {
			continue
		}
		labels[i] = make([]int, n)
		for j := range labels[i] {
			labels[i][j] = int(all[j])
		}
		all = all[n:]
	}
	return labels, elsewhere, nil
}

// divide makes the clusters of a source from the labels of its samples.
func (b *Builder) divide(s *Source, given *mat.Dense, labels []int) []Cluster {
	if labels == nil {
		return []Cluster{{Samples: given, source: s, original: s.Samples}}
	}
	rows := make([][]int, b.branches(len(labels)))
	for i, l := range labels {
		rows[l] = append(rows[l], i)
	}
	clusters := make([]Cluster, len(rows))
	for l := range clusters {
		clusters[l] = Cluster{source: s, rows: rows[l], Samples: learn.SelectRows(given, rows[l])}
		if b.Data == Fabricated && b.private {
			clusters[l].original = learn.SelectRows(s.Samples, rows[l])
		}
	}
	return clusters
}

// size returns the number of samples.
func (s *Source) size() int {
	n, _ := s.Samples.Dims()
	return n
}

// work does work that trials have in common. elsewhere is to be added to a time that includes
// the call, so that the work counts as long as it took.
func (b *Builder) work(ctx context.Context, name string, key func(*experiment.Inputs),
	compute func() (shared.Numbers, error)) (numbers shared.Numbers, elsewhere time.Duration, err error) {
	start := time.Now()
	numbers, took, err := shared.Work(ctx, b.trial, b.e, name, key, compute)
	return numbers, took - time.Since(start), err
}

// digest returns a function with the digest of the samples of the sources, and of the seed and
// the numbers of their clusters. It is computed at the first call.
func (b *Builder) digest(sources []Source) func() string {
	return sync.OnceValue(func() string {
		return experiment.Digest(func(in *experiment.Inputs) {
			in.Whole(int(b.trial.Seed), len(sources), b.kmeans.Restarts)
			for i := range sources {
				s := &sources[i]
				in.Text(s.String())
				in.Whole(b.branches(s.size()))
				shared.AddMatrix(in, s.Samples)
			}
		})
	})
}

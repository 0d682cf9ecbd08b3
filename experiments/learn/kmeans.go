package learn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/clusters"
	"privkern/graphs/engine"
)

// KMeansOptions adjusts [KMeans]; zero values stand for the defaults.
type KMeansOptions struct {
	Restarts   int // number of runs, of which the best is returned; default 10
	Iterations int // cap on the Lloyd iterations of a run; default [KMeansIterations]
}

// KMeansIterations is the cap on the Lloyd iterations of a run of [KMeans]. Tens
// to hundreds are usual; many clusters along a line take thousands.
const KMeansIterations = 10_000

// Clustering is the result of [KMeans].
// Labels are numbers of rows of Centres. Inertia has the square of the points' unit.
type Clustering struct {
	Centres    *mat.Dense // k×d
	Labels     []int      // of each point, the nearest centre
	Inertia    float64    // sum of the squared distances to those centres
	Iterations int        // Lloyd iterations of the best run

	moving int // points that moved in the last iteration
}

// KMeans groups the rows of x (n×d) around k centres so that the sum of squared distances is small:
// several runs of Lloyd's iteration, each from a start drawn by k-means++ (Arthur and Vassilvitskii
// 2007) in its greedy form, which takes the best of 2+⌊log k⌋ candidates for each centre as
// scikit-learn does. The best run is returned, the earliest among equals.
//
// A cluster that loses all its points takes the point that is farthest from its own centre. Ties
// between centres go to the one with the lower index. The result depends on the arguments, the
// state of rng and the engine's backend alone. Large problems (from 4 million terms n·k·d on)
// compute distances by matrix products, which differ in the last digits from sums of squared
// differences: there a tie within rounding may go either way.
//
// A run ends when no point moves to another cluster. One in which points still move after the last
// iteration that is allowed is an error with their number.
//
// It also returns an error where k is not positive, exceeds the number of distinct rows, or where x
// holds a number that is not finite or beyond ±1e150, whose square would overflow.
//
// An iteration costs O(nkd) operations; the start costs as much as 2+log k iterations. K-means is
// not convex: the runs end in local minima, and restarts choose among them.
func KMeans(ctx context.Context, e *engine.Engine, x *mat.Dense, k int, rng *rand.Rand, opts KMeansOptions,
) (c *Clustering, err error) {
	err = KMeansAll(ctx, e, []KMeansProblem{{x, k, rng}}, opts, func(_ int, found *Clustering, err error) error {
		c = found
		return err
	})
	return c, err
}

// KMeansProblem is one of the problems of [KMeansAll].
type KMeansProblem struct {
	Points   *mat.Dense // n×d
	Clusters int
	Rand     *rand.Rand // of this problem alone
}

// KMeansAll is [KMeans] for many problems. It calls each with the result of every problem, or
// why there is none, perhaps several at the same time; an error that each returns ends it.
//
// Starts are drawn on the host, number by number. On a device Lloyd's iteration is a program
// for all runs of all problems ([clusters.Lloyd]). On the CPU it is a loop, which passes over
// most points of a large problem and needs no run of a program for an iteration of
// microseconds: there the program took 2.6 to 4 times its processor time (BenchmarkKMeans).
func KMeansAll(ctx context.Context, e *engine.Engine, problems []KMeansProblem, opts KMeansOptions,
	each func(i int, c *Clustering, err error) error) error {
	if opts.Restarts == 0 {
		opts.Restarts = 10
	}
	if opts.Iterations == 0 {
		opts.Iterations = KMeansIterations
	}
	if e.Backend() != "cpu" {
		return kMeansOnDevice(ctx, e, problems, opts, each)
	}
	return e.ParallelFor(ctx, len(problems), 1, func(i, _ int) error {
		c, err := kMeansOnHost(&problems[i], opts)
		return each(i, c, err)
	})
}

// kMeansOnHost solves one problem by loops.
func kMeansOnHost(p *KMeansProblem, opts KMeansOptions) (*Clustering, error) {
	points, err := checkPoints(p.Points, p.Clusters)
	if err != nil {
		return nil, err
	}
	distances := distancesFor(points, p.Clusters)
	var best *Clustering
	for run := range opts.Restarts {
		start := seedCentres(points, p.Clusters, distances, p.Rand)
		var found *Clustering
		if p, large := distances.(*products); large {
			found = newBoundedRun(points, start, p).run(opts.Iterations)
		} else {
			l := newLloyd(points, start)
			l.iterate(opts.Iterations)
			found = l.result()
		}
		if best, err = better(best, found, run, opts.Restarts); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// better is the better one of the best of the runs before, nil for none, and another run.
func better(best, found *Clustering, run, of int) (*Clustering, error) {
	if found.moving > 0 {
		k, _ := found.Centres.Dims()
		return nil, fmt.Errorf("k-means: run %d of %d with %d clusters stopped after %d iterations, the most that "+
			"are allowed, and %d of %d points still moved to another cluster in the last one, where none may; "+
			"use fewer clusters", run+1, of, k, found.Iterations, found.moving, len(found.Labels))
	}
	if best == nil || found.Inertia < best.Inertia {
		return found, nil
	}
	return best, nil
}

// kMeansOnDevice solves all problems that are such, in batches.
func kMeansOnDevice(ctx context.Context, e *engine.Engine, problems []KMeansProblem, opts KMeansOptions,
	each func(i int, c *Clustering, err error) error) error {
	points, seeded := make([][][]float64, len(problems)), make([]clusters.Problem, len(problems))
	err := e.ParallelFor(ctx, len(problems), 1, func(i, _ int) (err error) {
		p := &problems[i]
		if points[i], err = checkPoints(p.Points, p.Clusters); err != nil {
			return each(i, nil, err)
		}
		distances := distancesFor(points[i], p.Clusters)
		seeded[i].Points = p.Points
		for range opts.Restarts {
			seeded[i].Starts = append(seeded[i].Starts, denseOf(seedCentres(points[i], p.Clusters, distances, p.Rand)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var numbers []int
	var sound []clusters.Problem
	for i, p := range seeded {
		if p.Starts != nil {
			numbers, sound = append(numbers, i), append(sound, p)
		}
	}
	runs, err := clusters.Lloyd(ctx, e, sound, opts.Iterations)
	if err != nil {
		return fmt.Errorf("k-means: %w", err)
	}
	return e.ParallelFor(ctx, len(numbers), 1, func(j, _ int) (err error) {
		i, best := numbers[j], (*Clustering)(nil)
		for run := range runs[j] {
			found := clusteringOf(points[i], problems[i].Clusters, &runs[j][run])
			if best, err = better(best, found, run, opts.Restarts); err != nil {
				return each(i, nil, err)
			}
		}
		return each(i, best, nil)
	})
}

// clusteringOf is the clustering of the labels with which a run has ended. Centres and
// inertia are those of [lloyd] for these labels, to the last bit.
func clusteringOf(points [][]float64, k int, run *clusters.Run) *Clustering {
	c := &Clustering{Centres: mat.NewDense(k, len(points[0]), nil), Labels: run.Labels, Iterations: run.Iterations,
		moving: run.Moving}
	count := make([]float64, k)
	for i, p := range points {
		floats.Add(c.Centres.RawRowView(run.Labels[i]), p)
		count[run.Labels[i]]++
	}
	for label, n := range count {
		for j := range c.Centres.RawRowView(label) {
			c.Centres.RawRowView(label)[j] /= max(1, n) // a run that was stopped may leave none
		}
	}
	for i, p := range points {
		c.Inertia += squaredDistance(p, c.Centres.RawRowView(run.Labels[i]))
	}
	return c
}

// Package clusters computes k-means and distances of nearest neighbours as graph programs.
//
// [Lloyd] runs Lloyd's iteration from several starts of many sets of points at once, with points,
// centres and labels resident on the backend. An iteration refills clusters without points, moves the
// centres to the means of their points, and assigns each point to its nearest centre. Distances are
// products, as are the sums of clusters on a device. After each run of several iterations, only the
// inertia and the number of points that have moved are copied to the host. Everything is float64 on
// every engine. On the CPU a set of points has the same bits alone and in any batch.
package clusters

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
)

// Problem is a set of points with the starts of its runs.
type Problem struct {
	Points *mat.Dense   // n×d
	Starts []*mat.Dense // the first centres of each run, k×d
}

// Run is the result of Lloyd's iteration from one start.
type Run struct {
	Labels     []int // the index of the nearest centre of each point, n
	Iterations int   // until no point moved, or the limit
	Moving     int   // points that moved in the last iteration
}

// Lloyd runs Lloyd's iteration from each start of each problem, until no point moves, for at most
// the given number of iterations. A cluster that loses all its points takes the point farthest
// from its centre among clusters of several points. Of centres at equal distance and of points
// equally far, the first is taken. Distances of small problems, below 4 million terms n·k·d, are
// sums of squared differences. Those of large ones are |x|² − 2xᵀc + |c|² about the mean of the
// points, where ties within rounding are arbitrary.
//
// An iteration takes 4nkd operations for each start, about half of them for the sums on a device.
// Lloyd returns an error if the starts of a problem differ in shape, or a number is not finite.
func Lloyd(ctx context.Context, e *engine.Engine, problems []Problem, most int) ([][]Run, error) {
	type shape struct {
		k, starts int
		direct    bool
	}
	byShape := map[shape][]int{} // indices of problems
	var shapes []shape
	for i, p := range problems {
		if err := p.check(); err != nil {
			return nil, batch.OfProblem(err, i, len(problems))
		}
		n, _ := p.Points.Dims()
		k, d := p.Starts[0].Dims()
		s := shape{k, len(p.Starts), n*k*d < ProductSize}
		if byShape[s] == nil {
			shapes = append(shapes, s)
		}
		byShape[s] = append(byShape[s], i)
	}
	var all []*lloyd
	results := make([][]Run, len(problems))
	for _, shape := range shapes {
		k, starts, numbers := shape.k, shape.starts, byShape[shape]
		points := make([]*mat.Dense, len(numbers))
		for i, number := range numbers {
			points[i] = problems[number].Points
		}
		for _, g := range divide(e, points, 3*starts*k) {
			l := &lloyd{members: len(g.Members), starts: starts, n: g.Rows, k: k, d: g.Cols, direct: shape.direct}
			for _, member := range g.Members {
				l.problems = append(l.problems, problems[numbers[member]])
				results[numbers[member]] = make([]Run, starts)
				l.runs = append(l.runs, results[numbers[member]])
			}
			all = append(all, l)
		}
	}
	err := e.ParallelFor(ctx, len(all), 1, func(i, _ int) error { return all[i].run(ctx, e, most) })
	return results, err
}

// ProductSize is the number of terms n·k·d from which distances are computed by a product. It
// does not depend on the machine, so that no result does.
const ProductSize = 1 << 22

const (
	// elements bounds the elements of points and distances of one batch, 256 MiB in float64.
	elements       = 1 << 25
	deviceElements = 2 * elements
	// classFrom is the step between the size classes of a device above it. A device has fewer
	// classes than the CPU, because starting an iteration of a few problems takes as long as
	// computing it.
	classFrom = 4096
)

// divide puts sets of points into batches. Each point takes extra elements in addition to its
// coordinates.
func divide(e *engine.Engine, points []*mat.Dense, extra int) []batch.Group {
	class, limit := batch.SizeClass, elements
	if e.Backend() != "cpu" {
		class, limit = deviceClass, deviceElements
	}
	return batch.DivideBy(points, class, func(n, d int) int { return limit / (n * (d + extra)) })
}

// deviceClass returns the size class of n points on a device.
func deviceClass(n int) int {
	if n <= classFrom {
		return batch.SizeClass(n)
	}
	return (n + classFrom - 1) / classFrom * classFrom
}

// check returns an error for a problem without starts, with unequal shapes, or with numbers that
// are not finite.
func (p *Problem) check() error {
	if err := finite.Matrix("the matrix of points", p.Points); err != nil {
		return err
	}
	if len(p.Starts) == 0 {
		return errors.New("clusters: there is no start")
	}
	_, d := p.Points.Dims()
	k, _ := p.Starts[0].Dims()
	for _, start := range p.Starts {
		if err := finite.Matrix("a start", start); err != nil {
			return err
		}
		if rows, cols := start.Dims(); rows != k || cols != d {
			return fmt.Errorf("clusters: a start of %d×%d numbers, for %d clusters of points with %d columns", rows, cols, k, d)
		}
	}
	return nil
}

// lloyd is a batch of problems of one size class.
type lloyd struct {
	members, starts, n, k, d int
	direct                   bool // distances are sums of squared differences
	problems                 []Problem
	runs                     [][]Run
}

// run iterates until no point of any member moves, at most the given number of times, and sets the
// runs' results. The assignment (m×n×3S) stays on the backend between runs of the program.
func (l *lloyd) run(ctx context.Context, e *engine.Engine, most int) error {
	values, err := l.inputs()
	if err != nil {
		return err
	}
	in, err := batch.Keep(e, values)
	if err != nil {
		return err
	}
	defer func() { in.Close() }()
	out, err := e.RunAs(ctx, tensor.Float64, l.begin(), in, engine.Stay("assignment"))
	if err != nil {
		return err
	}
	engine.Values{"centres": in["centres"], "labels": in["labels"]}.Close()
	delete(in, "centres")
	delete(in, "labels")
	in["assignment"] = out["assignment"]
	ended, perRun := false, stepsPerRun
	if e.Backend() != "cpu" {
		perRun = deviceStepsPerRun
	}
	for done := 0; done < most && !ended; {
		steps := min(perRun, most-done)
		out, err := e.RunAs(ctx, tensor.Float64, l.iterations(steps), in, engine.Stay("assignment"))
		if err != nil {
			return err
		}
		engine.Values{"assignment": in["assignment"]}.Close()
		in["assignment"] = out["assignment"]
		if ended, err = l.note(out, done, steps); err != nil {
			return err
		}
		done += steps
	}
	return l.labels(ctx, in["assignment"])
}

// inputs returns the inputs of the programs: points "x" (m×n×d), their "count" (m), first "centres"
// (m×S·k×d), and "labels" (m×n×S) of zeros. For products, points and starts are centred by the
// mean of the problem's points, so that little cancels far from zero.
func (l *lloyd) inputs() (engine.Values, error) {
	points, counts := make([]*mat.Dense, l.members), make([]int, l.members)
	starts := make([]float64, l.members*l.starts*l.k*l.d)
	for i, p := range l.problems {
		n, d := p.Points.Dims()
		mean := make([]float64, d)
		for j := 0; j < n && !l.direct; j++ {
			floats.Add(mean, p.Points.RawRowView(j))
		}
		floats.Scale(1/float64(n), mean)
		points[i], counts[i] = mat.NewDense(n, d, nil), n
		for j := range n {
			floats.SubTo(points[i].RawRowView(j), p.Points.RawRowView(j), mean)
		}
		for s, start := range p.Starts {
			for c := range l.k {
				at := ((i*l.starts+s)*l.k + c) * l.d
				floats.SubTo(starts[at:at+d], start.RawRowView(c), mean)
			}
		}
	}
	x, err1 := batch.Matrices(tensor.Float64, l.n, l.d, points)
	count, err2 := batch.Scalars(tensor.Float64, counts)
	return engine.Values{"x": x, "count": count,
		"centres": engine.TensorOf(starts, l.members, l.starts*l.k, l.d),
		"labels":  engine.TensorOf(make([]float64, l.members*l.n*l.starts), l.members, l.n, l.starts),
	}, errors.Join(err1, err2)
}

// note counts the iterations of each run from the numbers of moved points after each step, and
// reports whether all runs have ended. A run has ended with the first iteration in which no point
// moves, which is counted.
func (l *lloyd) note(out engine.Values, done, steps int) (ended bool, err error) {
	read := engine.Read(out)
	ended = true
	for step := range steps {
		moved := read.Floats(movedAfter(step))
		if err := read.Err(); err != nil {
			return false, err
		}
		for i := range l.runs {
			for s := range l.runs[i] {
				r := &l.runs[i][s]
				if done+step > 0 && r.Moving == 0 {
					continue // ended before
				}
				r.Iterations, r.Moving = done+step+1, int(moved[(i*3+2)*l.starts+s])
				ended = ended && (step+1 < steps || r.Moving == 0)
			}
		}
	}
	return ended, nil
}

// labels copies the labels of the last assignment to the results.
func (l *lloyd) labels(ctx context.Context, assignment gorgonia.Value) error {
	host, err := engine.Host(ctx, engine.Values{"assignment": assignment})
	if err != nil {
		return err
	}
	all, err := engine.Floats(host["assignment"])
	if err != nil {
		return err
	}
	for i, p := range l.problems {
		n, _ := p.Points.Dims()
		for s := range l.runs[i] {
			own := make([]int, n)
			for j := range own {
				own[j] = int(all[(i*l.n+j)*3*l.starts+s])
			}
			l.runs[i][s].Labels = own
		}
	}
	return nil
}

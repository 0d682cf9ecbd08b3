package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"privkern/experiments/internal/fault"
	"privkern/runner/experiment"
)

// ErrNoNoise refuses a release without privacy.
var ErrNoNoise = errors.New("epsilon = inf adds no noise, and what is released would protect nobody; give a " +
	"finite epsilon")

// Source draws the noise of one release. It is not safe for concurrent use.
type Source struct {
	bits  *bitReader
	drawn []experiment.Noise
	fault fault.Faults
	trace *[]Draw
}

// Draw is what a source added noise to, and what came of it.
type Draw struct {
	Noise         *Noise
	Query, Output []float64
}

// Trace makes the source keep what it draws in draws, for audits.
func (s *Source) Trace(draws *[]Draw) { s.trace = draws }

// Open books what a release spends and returns the source of its noise: there is
// no noise that is not booked. The booking is durable when Open returns; a
// release that fails later has spent.
func Open(ctx context.Context, t *experiment.Trial, s experiment.Spending) (*Source, error) {
	if t.Book == nil || t.Entropy == nil {
		return nil, errors.New("a defect: noise for a release is asked for outside of one")
	}
	if err := t.Book(s); err != nil {
		return nil, err
	}
	return &Source{bits: newBitReader(t.Entropy), fault: fault.In(ctx)}, nil
}

// Unbooked returns a source that books nothing, for audits and for tests.
func Unbooked(ctx context.Context, entropy io.Reader) *Source {
	return &Source{bits: newBitReader(entropy), fault: fault.In(ctx)}
}

// Drawn describes the noise that was drawn, in order.
func (s *Source) Drawn() []experiment.Noise { return s.drawn }

// Add adds noise to a query, each coordinate on its own: the exact sum of the
// query, rounded to a fine public grid, and real-valued noise, rounded to the
// nearest multiple of the grid. It returns an error for a query that is not as
// large as its description says, which is a defect of the caller.
func (s *Source) Add(n *Noise, query []float64) ([]float64, error) {
	if len(query) != n.query.Coordinates {
		return nil, fmt.Errorf("a defect: %d numbers for the noise of %d", len(query), n.query.Coordinates)
	}
	steps := make([]fixedPoint, len(query))
	for i, v := range query {
		if !(math.Abs(v) <= n.query.Size) && !s.fault.Unclipped {
			return nil, errors.New("a defect: a query is larger than the bound that its noise was calibrated for")
		}
		steps[i] = n.grid.fixed(v)
	}
	return s.add(n, steps), nil
}

// add is [Source.Add] for a query in units of the grid.
func (s *Source) add(n *Noise, query []fixedPoint) []float64 {
	out := make([]float64, len(query))
	if s.fault != (fault.Faults{}) {
		s.addFaulty(n, query, out)
	} else {
		for i, v := range query {
			out[i] = s.noisy(n, n.grid, v)
		}
	}
	s.drawn = append(s.drawn, n.Describe())
	if s.trace != nil {
		d := Draw{Noise: n, Output: slices.Clone(out), Query: make([]float64, len(query))}
		for i, v := range query {
			d.Query[i] = n.grid.value(v)
		}
		*s.trace = append(*s.trace, d)
	}
	return out
}

// noisy returns one coordinate with its noise, a multiple of the grid's unit.
func (s *Source) noisy(n *Noise, g grid, query fixedPoint) float64 {
	var m magnitude
	if n.law == lawGaussian {
		m = s.bits.normal()
	} else {
		m = s.bits.exponential()
	}
	return math.Ldexp(float64(g.add(query, s.bits.coin(), &m, s.bits)), g.exponent)
}

// describe adds what is said of noise that was not drawn by Add.
func (s *Source) describe(n experiment.Noise) { s.drawn = append(s.drawn, n) }

// addFaulty is add with the planted faults.
func (s *Source) addFaulty(n *Noise, query []fixedPoint, out []float64) {
	times := s.fault.NoiseTimes
	if times == 0 {
		times = 1
	}
	g := n.grid
	g.multiple = uint64(float64(g.multiple) * times)
	first, sum := 0.0, 0.0
	for _, v := range query {
		sum += g.value(v)
	}
	for i, v := range query {
		exact := g.value(v)
		if s.fault.Float != nil {
			out[i] = exact + times*n.Scale()*s.fault.Float.NormFloat64()
			continue
		}
		out[i] = s.noisy(n, g, v)
		if s.fault.Reused {
			if i == 0 {
				first = out[0] - exact
			}
			out[i] = math.RoundToEven((exact+first)/g.unit()) * g.unit()
		}
	}
	if s.fault.RankOfData && sum < 0 {
		out[len(out)-1] = 0
	}
}

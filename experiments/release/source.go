package release

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// ErrNoNoise refuses a release without privacy.
var ErrNoNoise = errors.New("epsilon = inf adds no noise, and what is released would protect nobody; give a " +
	"finite epsilon")

// Source draws the noise of one release. It is not safe for concurrent use.
type Source struct {
	bits  *bitReader
	drawn []experiment.Noise
	trace *[]Draw

	outputs []float64 // left to replay, where bits is nil
}

// Draw is a traced query with its noisy output. Of a choice, Noise is nil, Query holds
// the utilities and Output the index of the chosen candidate; of answers at random, Noise is nil, too, and both hold
// classes.
type Draw struct {
	Noise         *Noise
	Query, Output []float64
}

// Trace appends each draw of the source to draws, for audits.
func (s *Source) Trace(draws *[]Draw) { s.trace = draws }

// Open books the spending of a release and returns the source of its noise: there is
// no noise that is not booked. The booking is durable when Open returns; a
// release that fails later has spent.
func Open(t *experiment.Trial, s experiment.Spending) (*Source, error) {
	if t.Book == nil || t.Entropy == nil {
		return nil, errors.New("a defect: noise for a release is asked for outside of one")
	}
	if err := t.Book(s); err != nil {
		return nil, err
	}
	return &Source{bits: newBitReader(t.Entropy)}, nil
}

// Unbooked returns a source that books nothing, for audits and for tests.
func Unbooked(entropy io.Reader) *Source { return &Source{bits: newBitReader(entropy)} }

// Replay returns an unbooked source that adds no noise: it answers queries with the given
// outputs, one after the other, and with zeros after the last. Audits compare the releases of
// two data sets with equal noisy numbers.
func Replay(outputs []float64) *Source { return &Source{outputs: outputs} }

// Drawn describes the noise that was drawn, in order.
func (s *Source) Drawn() []experiment.Noise { return s.drawn }

// Add adds noise to a query, each coordinate on its own: the exact sum of the
// query, rounded to a fine public grid, and real-valued noise, rounded to the
// nearest multiple of the grid. It returns an error for a query that is
// larger than its description allows, which is a defect of the caller.
func (s *Source) Add(n *Noise, query []float64) ([]float64, error) {
	if len(query) != n.query.Coordinates {
		return nil, fmt.Errorf("a defect: %d numbers for the noise of %d", len(query), n.query.Coordinates)
	}
	steps := make([]fixedPoint, len(query))
	for i, v := range query {
		if !(math.Abs(v) <= n.query.Size) {
			return nil, errors.New("a defect: a query is larger than the bound that its noise was calibrated for")
		}
		steps[i] = n.grid.fixed(v)
	}
	return s.add(n, steps), nil
}

// add is [Source.Add] for a query in units of the grid.
func (s *Source) add(n *Noise, query []fixedPoint) []float64 {
	out := make([]float64, len(query))
	if s.bits == nil {
		s.outputs = s.outputs[copy(out, s.outputs):]
	} else {
		for i, v := range query {
			out[i] = s.noisy(n, v)
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
func (s *Source) noisy(n *Noise, query fixedPoint) float64 {
	g := n.grid
	var m magnitude
	if n.law == lawGaussian {
		m = s.bits.normal()
	} else {
		m = s.bits.exponential()
	}
	return math.Ldexp(float64(g.add(query, s.bits.coin(), &m, s.bits)), g.exponent)
}

// describe adds the description of noise that was not drawn by Add.
func (s *Source) describe(n experiment.Noise) { s.drawn = append(s.drawn, n) }

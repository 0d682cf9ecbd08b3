package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

var spending = experiment.Spending{
	Data: "data", Units: []string{experiment.UnitOutput}, Rows: 3, Epsilon: 1, Delta: 1e-5,
}

// There is no noise that is not booked: booking comes before the first byte of
// entropy, and where it fails, none is read.
func TestOpenBooksFirst(t *testing.T) {
	refused := errors.New("the budget is spent")
	for name, want := range map[string]error{"booked": nil, "refused": refused} {
		t.Run(name, func(t *testing.T) {
			entropy, booked := &byteCounter{from: seeded(1)}, 0
			s, err := Open(&experiment.Trial{Entropy: entropy, Book: func(s experiment.Spending) error {
				booked++
				if entropy.n > 0 || !reflect.DeepEqual(s, spending) {
					t.Errorf("%+v after %d bytes", s, entropy.n)
				}
				return want
			}}, spending)
			if !errors.Is(err, want) || (s == nil) != (want != nil) || booked != 1 || entropy.n > 0 {
				t.Fatalf("%v, %v, booked %d times, %d bytes", s, err, booked, entropy.n)
			}
			if s != nil && (s.IntN(7) > 6 || entropy.n == 0) {
				t.Error("noise comes from elsewhere")
			}
		})
	}
	for name, trial := range map[string]*experiment.Trial{
		"nothing":    {},
		"no entropy": {Book: func(experiment.Spending) error { t.Error("booked without entropy"); return nil }},
		"no book":    {Entropy: seeded(1)},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(trial, spending)
			if s != nil || err == nil || !strings.Contains(err.Error(), "outside of one") {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	n := noiseFor(t, 2, 1, 10)
	above := math.Nextafter(10, 11)
	for _, c := range []struct {
		name, want string
		query      []float64
	}{
		{"few", "1 numbers for the noise of 2", []float64{1}},
		{"many", "3 numbers for the noise of 2", []float64{1, 2, 3}},
		{"none", "0 numbers for the noise of 2", nil},
		{"large", "larger than the bound", []float64{1, above}},
		{"large below zero", "larger than the bound", []float64{-above, 0}},
		{"NaN", "larger than the bound", []float64{0, math.NaN()}},
		{"infinite", "larger than the bound", []float64{math.Inf(1), 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entropy := &byteCounter{from: seeded(1)}
			s := Unbooked(entropy)
			if out, err := s.Add(n, c.query); out != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want %q", out, err, c.want)
			}
			if entropy.n > 0 || s.Drawn() != nil {
				t.Errorf("%d bytes are drawn, %+v", entropy.n, s.Drawn())
			}
		})
	}
	if out, err := honest(1).Add(n, []float64{-10, 10}); err != nil || len(out) != 2 {
		t.Errorf("%v, %v", out, err)
	}
}

// Where entropy fails there is no release, and no zeros in its place.
func TestAddWithoutEntropy(t *testing.T) {
	for name, entropy := range map[string]io.Reader{
		"at once": iotest.ErrReader(io.ErrClosedPipe),
		"later":   io.LimitReader(seeded(1), 10*chunk+5),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, "the entropy source failed") {
					t.Errorf("goes on: %s", message)
				}
			}()
			out, err := Unbooked(entropy).Add(noiseFor(t, 100_000, 1, 1), make([]float64, 100_000))
			t.Errorf("%d numbers, %v", len(out), err)
		})
	}
}

// A source describes its draws, in order, and keeps queries and outputs for audits.
func TestDrawn(t *testing.T) {
	one, two := noiseFor(t, 2, 1, 10), noiseFor(t, 1, 3, 10)
	laplace, err := Laplace(Query{What: "counts", Coordinates: 1, Change: 1, Size: 10}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	s := honest(1)
	var draws []Draw
	s.Trace(&draws)
	var want []experiment.Noise
	for i, n := range []*Noise{one, two, laplace, one} {
		query := make([]float64, n.query.Coordinates)
		for j := range query {
			query[j] = float64(i) + n.Grid()/4 // on the finer grid of queries
		}
		out, err := s.Add(n, query)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, n.Describe())
		if d := draws[i]; len(draws) != i+1 || d.Noise != n || !slices.Equal(d.Query, query) || !slices.Equal(d.Output, out) {
			t.Errorf("draw %d: %+v; want %v and %v", i, d, query, out)
		}
	}
	if !slices.Equal(s.Drawn(), want) {
		t.Errorf("%+v; want %+v", s.Drawn(), want)
	}
}

// Every coordinate has noise of its own, and a tracing source draws the same.
func TestCoordinatesAreIndependent(t *testing.T) {
	n := noiseFor(t, manyDraws, 1, 1)
	s, traced := honest(7), honest(7)
	traced.Trace(new([]Draw))
	out, err := s.Add(n, make([]float64, manyDraws))
	again, err2 := traced.Add(n, make([]float64, manyDraws))
	if err != nil || err2 != nil || !slices.Equal(out, again) {
		t.Fatalf("%v, %v", err, err2)
	}
	signs, sizes := make([]int, 4), make([]int, 4)
	median := 0.6744897501960817 * n.Scale()
	for i := 0; i < len(out); i += 2 {
		sign, size := 0, 0
		for _, v := range out[i : i+2] {
			sign, size = 2*sign, 2*size
			if v > 0 {
				sign++
			}
			if math.Abs(v) > median {
				size++
			}
		}
		signs[sign]++
		sizes[size]++
	}
	// A grid point at zero or at the median is a 5000th of a standard deviation.
	checkCounts(t, signs, []float64{0.25, 0.25, 0.25, 0.25})
	checkCounts(t, sizes, []float64{0.25, 0.25, 0.25, 0.25})
}

// A replay answers with the given numbers in order, of any query and sums, and with zeros
// after them; it draws nothing and chooses nothing.
func TestReplay(t *testing.T) {
	n := noiseFor(t, 2, 1, 10)
	given := []float64{0.1, -7, 1e6}
	s := Replay(given)
	var draws []Draw
	s.Trace(&draws)
	for i, want := range [][]float64{{0.1, -7}, {1e6, 0}, {0, 0}} {
		if out, err := s.Add(n, []float64{1, 2}); err != nil || !slices.Equal(out, want) ||
			!slices.Equal(draws[i].Output, want) || draws[i].Query[1] != 2 {
			t.Errorf("%v, %v, %+v; want %v", out, err, draws[i], want)
		}
	}
	if i, err := s.Choose(Choice{What: "candidate", Epsilon: 1, Change: 1}, []float64{0, 1}); err == nil {
		t.Errorf("it chooses candidate %d", i)
	}
	if !slices.Equal(given, []float64{0.1, -7, 1e6}) {
		t.Errorf("the given numbers are changed: %v", given)
	}
}

// A plan books, publishes its own rows and describes the noise that was drawn.
func TestPlanRun(t *testing.T) {
	n, failure := noiseFor(t, 1, 1, 10), errors.New("failure")
	private := mat.NewDense(1, 1, []float64{4})
	for _, c := range []struct {
		name          string
		book, publish error
		published     int
	}{
		{name: "released", published: 1},
		{name: "not booked", book: failure},
		{name: "not published", publish: failure, published: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			booked, published := 0, 0
			p := &Plan{
				Private: private, Spending: spending,
				Publish: func(_ context.Context, rows *mat.Dense, s *Source) (*experiment.Release, error) {
					published++
					if rows != private {
						t.Errorf("other rows: %v", rows)
					}
					out, err := s.Add(n, []float64{rows.At(0, 0)})
					return &experiment.Release{Rows: [][]float64{out}}, errors.Join(err, c.publish)
				},
			}
			out, err := p.Run(t.Context(), &experiment.Trial{Entropy: seeded(1), Book: func(s experiment.Spending) error {
				booked++
				if !reflect.DeepEqual(s, spending) {
					t.Errorf("%+v", s)
				}
				return c.book
			}})
			fails := c.book != nil || c.publish != nil
			if fails != errors.Is(err, failure) || booked != 1 || published != c.published {
				t.Errorf("%v; booked %d, published %d", err, booked, published)
			}
			if fails {
				if out != nil {
					t.Errorf("released: %+v", out)
				}
			} else if len(out.Noise) != 1 || out.Noise[0] != n.Describe() {
				t.Errorf("noise: %+v", out.Noise)
			}
		})
	}
}

// A release that protects a row states the guarantee of several; one that protects a person does not.
func TestPlanGroups(t *testing.T) {
	n := noiseFor(t, 1, 1, 10)
	for _, c := range []struct {
		unit string
		want string
	}{
		{experiment.UnitRow, "[{2 1 0} {5 2.5 0} {10 5 0}]"},
		{experiment.UnitPerson, "[]"},
	} {
		t.Run(c.unit, func(t *testing.T) {
			p := &Plan{Private: mat.NewDense(1, 1, []float64{4}), Spending: spending,
				Publish: func(_ context.Context, rows *mat.Dense, s *Source) (*experiment.Release, error) {
					_, err := s.Add(n, []float64{rows.At(0, 0)})
					return &experiment.Release{Privacy: &experiment.Privacy{}}, err
				}}
			p.Spending.Units, p.Spending.Delta = []string{c.unit}, 0
			p.Spending.Losses = []experiment.Loss{{Law: "laplace", Size: 0.25, Times: 2}}
			out, err := p.Run(t.Context(), &experiment.Trial{Entropy: seeded(1),
				Book: func(experiment.Spending) error { return nil }})
			if err != nil || fmt.Sprint(out.Privacy.Groups) != c.want {
				t.Errorf("%v, %v; want %s", out.Privacy.Groups, err, c.want)
			}
		})
	}
}

// A plan releases other rows than its own, too.
func TestPlanWith(t *testing.T) {
	n := noiseFor(t, 1, 1, 10)
	p := &Plan{Publish: func(_ context.Context, rows *mat.Dense, s *Source) (*experiment.Release, error) {
		out, err := s.Add(n, []float64{rows.At(0, 0)})
		return &experiment.Release{Rows: [][]float64{out}}, err
	}}
	out, err := p.With(t.Context(), honest(1), mat.NewDense(1, 1, []float64{9}))
	want, _ := honest(1).Add(n, []float64{9})
	if err != nil || !slices.Equal(out.Rows[0], want) || len(out.Noise) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

package engine

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// rounds multiplies "x" by "a" twelve times.
func rounds() Program {
	return Program{Name: "rounds", Key: "rounds", Build: func(b *Builder) {
		a, x := b.Input("a", 4, 4), b.Input("x", 4, 4)
		for range 12 {
			x = b.Mul(a, x)
		}
		b.Output("x", x)
	}}
}

// From the fourth run of a program on, launches are those of a replay: that of the graph, and
// copies of inputs that move and are not uploaded and of outputs that stay. Where an input that was
// in its place moves, it is copied from then on.
func TestReplaysAreCounted(t *testing.T) {
	e := open(t, "float64", 1)
	half := mat.NewDense(4, 4, nil)
	for i := range 4 {
		half.Set(i, i, 0.5)
	}
	keep := func() gorgonia.Value {
		r, err := e.Keep(e.Matrix(half))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	fixed, x := keep(), e.Matrix(half)
	run := func(in Values, stay ...string) Values {
		out, err := e.Run(context.Background(), rounds(), in, Stay(stay...))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run(Values{"a": fixed, "x": x}) // as nobody counts, it is no run of a loop
	e.StartCounting()
	before := int64(0)
	for i, c := range []struct {
		in   Values
		stay []string
		want int64
	}{
		{Values{"a": fixed, "x": x}, nil, 12}, {Values{"a": fixed, "x": x}, nil, 12},
		{Values{"a": fixed, "x": x}, nil, 12},
		{Values{"a": fixed, "x": x}, nil, 1}, {Values{"a": fixed, "x": x}, []string{"x"}, 2},
		{Values{"a": keep(), "x": x}, nil, 2}, {Values{"a": fixed, "x": keep()}, nil, 3},
		{Values{"a": fixed, "x": x}, nil, 2},
	} {
		out := run(c.in, c.stay...)
		if got := e.Profile().Total.Launches; got-before != c.want {
			t.Errorf("run %d: %d launches, want %d", i, got-before, c.want)
		}
		before = e.Profile().Total.Launches
		out.Close()
	}
}

// A run is replayed where that pays: not where it has few launches, or waits for the host.
func TestReplaysThatDoNotPay(t *testing.T) {
	e := open(t, "float64", 1)
	e.StartCounting()
	for range 6 {
		if _, err := e.Run(context.Background(), countedProgram(), countedInputs(e)); err != nil {
			t.Fatal(err)
		}
	}
	if c := e.Profile().Total; c.Launches != 6*4 {
		t.Errorf("%d launches", c.Launches)
	}
}

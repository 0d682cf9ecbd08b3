package engine_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/corpus"
)

// Graphs whose steps run at the same time have the bits of those that run in order, for any
// number of workers, and fail as they do.
func TestStepsAtTheSameTimeGiveTheSameBits(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		engines := map[int]*engine.Engine{}
		scheduled := map[int]int{}
		for _, workers := range []int{1, 2, 8} {
			engines[workers] = engine.OpenEager(t, dtype, workers)
		}
		for _, g := range corpus.All() {
			if fault := g.Fault().Stage; fault == corpus.Building || draws(g) {
				continue
			}
			in := g.Values(dtype, g.Elements())
			want, failure := engines[1].Run(context.Background(), g.Program(), in)
			for _, workers := range []int{2, 8} {
				got, err := engines[workers].Run(context.Background(), g.Program(), in)
				if fmt.Sprint(err) != fmt.Sprint(failure) {
					t.Errorf("%v, %s, %d workers: %v, want %v", dtype, g.Name, workers, err, failure)
				}
				for name := range want {
					if !equal(got[name], want[name], tolerances[g.Name]) {
						t.Errorf("%v, %s, %d workers: %s is %v, want %v", dtype, g.Name, workers, name, got[name], want[name])
					}
				}
				if now := engine.Scheduled(engines[workers]); now > scheduled[workers] {
					scheduled[workers] = now
				}
			}
		}
		if engine.Scheduled(engines[1]) > 0 || scheduled[2] < 32 || scheduled[8] < 32 {
			t.Errorf("%v: of the 64 graphs that are kept at most %v run steps at the same time", dtype, scheduled)
		}
	}
}

// tolerances are those of graphs with results of several roundings, as in package corpus.
var tolerances = map[string]float64{"contraction of a matrix and a vector": 2.4e-7}

// draws reports whether two runs of a graph differ.
func draws(g corpus.Graph) bool {
	p := g.Program()
	p.Draws = false
	_, err := engine.Build(p, tensor.Float64)
	return err != nil
}

// equal compares the bits of two values, or the elements relative to 1 + |b|.
func equal(a, b gorgonia.Value, tolerance float64) bool {
	if a == nil || !slices.Equal(a.Shape(), b.Shape()) || a.Dtype() != b.Dtype() {
		return false
	}
	if b.Dtype() == tensor.Bool {
		return fmt.Sprint(a.Data()) == fmt.Sprint(b.Data())
	}
	x, err := engine.Floats(a)
	if err != nil {
		return false
	}
	y, err := engine.Floats(b)
	return err == nil && slices.EqualFunc(x, y, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) ||
			tolerance > 0 && math.Abs(x-y) <= tolerance*(1+math.Abs(y))
	})
}

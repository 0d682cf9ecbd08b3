package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/parallel"
)

// Random graphs give the same bits for any number of workers, with an input that is pinned,
// one that is still to be transposed, outputs that stay and views that are read twice.
func TestRandomGraphs(t *testing.T) {
	const n = 5
	for seed := range uint64(24) {
		p := Program{Name: "random", Key: fmt.Sprint("random ", seed), Build: func(b *Builder) {
			rng := rand.New(rand.NewPCG(seed, 1))
			nodes := gorgonia.Nodes{b.Input("pinned", n, n), b.Input("lazy", n, n)}
			pick := func() *gorgonia.Node { return nodes[rng.IntN(len(nodes))] }
			for range 40 {
				var node *gorgonia.Node
				switch rng.IntN(8) {
				case 0:
					node = b.Add(pick(), pick())
				case 1:
					node = b.Transpose(pick())
				case 2:
					node = b.Reshape(b.Reshape(pick(), 1, n*n), n, n)
				case 3:
					node = b.Mul(pick(), b.Transpose(pick()))
				case 4:
					node = b.Cholesky(b.IdentityPlusGram(pick()))
				case 5:
					node = b.Hadamard(pick(), pick())
				case 6:
					node = gorgonia.Must(gorgonia.Tanh(pick()))
				case 7:
					node = b.ScaleRows(b.RowMeans(pick()), pick())
				}
				nodes = append(nodes, gorgonia.Must(gorgonia.Tanh(node)))
			}
			for i, node := range nodes[len(nodes)-6:] {
				b.Output(fmt.Sprint("o", i), node)
			}
		}}
		var want Values
		var launches int64
		for _, workers := range []int{1, 2, 8} {
			got, counted := randomRun(t, p, n, workers, seed%2 == 0)
			if want == nil {
				want, launches = got, counted
			}
			if counted != launches || counted == 0 {
				t.Errorf("seed %d, %d workers: %d launches are counted, want %d", seed, workers, counted, launches)
			}
			for name := range want {
				a, b := got[name].Data().([]float64), want[name].Data().([]float64)
				for i := range b {
					if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
						t.Fatalf("seed %d, %d workers: %s[%d] is %v, want %v", seed, workers, name, i, a[i], b[i])
					}
				}
			}
		}
	}
}

// randomRun runs a program twice and returns the second run's outputs, and the number of
// launches that a profile counts.
func randomRun(t *testing.T, p Program, n, workers int, lazy bool) (Values, int64) {
	t.Helper()
	ctx := context.Background()
	e := OpenEager(t, tensor.Float64, workers)
	e.StartCounting()
	rng := rand.New(rand.NewPCG(1, 2))
	matrix := func() *tensor.Dense {
		data := make([]float64, n*n)
		for i := range data {
			data[i] = rng.NormFloat64()
		}
		return TensorOf(data, n, n)
	}
	s, err := e.Session(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if workers > 1 && s.x.schedule == nil {
		t.Error("steps run in order")
	}
	if _, used := s.x.inputs["pinned"]; used {
		if err := s.Pin("pinned", matrix()); err != nil {
			t.Fatal(err)
		}
	}
	in := matrix()
	if lazy {
		if err := in.T(); err != nil {
			t.Fatal(err)
		}
	}
	var out Values
	for range 2 {
		if out, err = s.Run(ctx, Values{"lazy": in}, Stay("o0", "o3")); err != nil {
			t.Fatal(err)
		}
		if out, err = Host(ctx, out); err != nil {
			t.Fatal(err)
		}
	}
	return out, e.Profile().Total.Launches
}

// Failures of members come in the order of the graph.
func TestMembersFailInOrder(t *testing.T) {
	p := Program{Name: "members", Key: "members", Build: func(b *Builder) {
		for i, name := range []string{"a", "b", "c"} {
			b.Output(name, b.CholeskyLogDet(b.Cholesky(b.Tensor(name, 2+i, 2, 2))))
		}
	}}
	in := Values{}
	for i, name := range []string{"a", "b", "c"} {
		data := make([]float64, 4*(2+i)) // no member has a factor but the first
		data[0], data[3] = 1, 1
		in[name] = TensorOf(data, 2+i, 2, 2)
	}
	var want string
	for _, workers := range []int{1, 2, 8} {
		out, err := OpenEager(t, tensor.Float64, workers).Run(context.Background(), p, in)
		if err == nil || len(out) != 3 {
			t.Fatalf("%d outputs; %v", len(out), err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("%d workers: got %v, want %s", workers, err, want)
		}
	}
}

// Steps run at the same time on the host where that pays, and in order elsewhere.
func TestScheduledPrograms(t *testing.T) {
	factors := func(n int, chained, drops bool) Program {
		return Program{Name: "factors", Draws: drops, Build: func(b *Builder) {
			l := b.Cholesky(b.Input("a", n, n))
			second := b.Input("b", n, n)
			if chained {
				second = b.RowGram(1, l)
			}
			sum := b.Add(b.CholeskyLogDet(l), b.CholeskyLogDet(b.Cholesky(second)))
			if drops {
				sum = b.Add(sum, b.Sum(gorgonia.Must(gorgonia.Dropout(l, 0.5))))
			}
			b.Output("o", sum)
		}}
	}
	for name, c := range map[string]struct {
		p       Program
		workers int
		want    bool
	}{
		"two factors":               {factors(512, false, false), 2, true},
		"of one worker":             {factors(512, false, false), 1, false},
		"small ones":                {factors(64, false, false), 2, false},
		"one after the other":       {factors(512, true, false), 2, false},
		"beside one that is random": {factors(512, false, true), 2, false},
	} {
		device := newHostDevice(parallel.NewPool(c.workers), new(spares))
		x := newExecutor(t, c.p, device, nil)
		if got := x.schedule != nil; got != c.want || device.apart != c.want {
			t.Errorf("%s: at the same time: %v, want %v", name, got, c.want)
		}
		x.Close()
	}
}

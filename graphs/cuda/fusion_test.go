//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/internal/corpus"
)

// fusing opens an engine whose programs are planned and run in one mode of fusion: the
// device's, until the test ends.
func fusing(t *testing.T, dtype, mode string) *engine.Engine {
	t.Helper()
	_, e := engines(t, dtype)
	needCompiler(t)
	setFusion(t, mode)
	return e
}

func needCompiler(t *testing.T) {
	t.Helper()
	if libs := shared.gpu.libs; libs.nvrtc == nil {
		t.Skip(libs.missing[compiler.name])
	}
}

// setFusion sets the device's mode of fusion until the test ends, and forgets its fused
// kernels.
func setFusion(t testing.TB, mode string) {
	g := shared.gpu
	before, chains := g.fusion, g.chains
	g.fusion = mode
	if mode == fuseWhenItPays {
		g.chains = map[chainKey]*chainKernel{}
	}
	t.Cleanup(func() { g.fusion, g.chains = before, chains })
}

// counter counts the launches of the project's kernels.
type counter struct {
	driver.API
	launches int
	words    int // of a launch, at most
}

func (c *counter) Launch(f driver.Function, blocks, members, x, y int, s driver.Stream, words []uint64) error {
	c.launches++
	c.words = max(c.words, len(words))
	return c.API.Launch(f, blocks, members, x, y, s, words)
}

// counting counts launches for the length of a test.
func counting(t testing.TB) *counter {
	g := shared.gpu
	c := &counter{API: g.api}
	g.api = c
	t.Cleanup(func() { g.api = c.API })
	return c
}

// sameBits compares results to the last bit, but for the bits of NaN.
func sameBits(t *testing.T, got, want engine.Values) {
	t.Helper()
	for name, v := range want {
		if got[name].Dtype() != v.Dtype() || !got[name].Shape().Eq(v.Shape()) {
			t.Fatalf("%s is %v %v, want %v %v", name, got[name].Dtype(), got[name].Shape(), v.Dtype(), v.Shape())
		}
		g, w := numbers(t, got[name]), numbers(t, v)
		differ, first := 0, -1
		for i := range w {
			if math.Float64bits(g[i]) != math.Float64bits(w[i]) && !(math.IsNaN(g[i]) && math.IsNaN(w[i])) {
				if differ++; first < 0 {
					first = i
				}
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d elements differ; element %d is %.17g, want %.17g", name, differ, len(w), first, g[first],
				w[first])
		}
	}
}

// bothWays runs a program operation by operation and fused, compares the results to the
// last bit, and returns the launches of each.
func bothWays(t *testing.T, dtype string, p engine.Program, in engine.Values) (plain, fused int) {
	t.Helper()
	run := func(mode string) (out engine.Values, launches int) {
		t.Run(mode, func(t *testing.T) {
			e := fusing(t, dtype, mode)
			c := counting(t)
			var err error
			if out, err = e.Run(context.Background(), p, in); err != nil {
				t.Fatal(err)
			}
			launches = c.launches
		})
		return out, launches
	}
	want, plain := run(fuseNever)
	got, fused := run(fuseAlways)
	if want == nil || got == nil {
		t.SkipNow()
	}
	sameBits(t, got, want)
	return plain, fused
}

// Every graph of the corpus gives the same bits fused and operation by operation.
func TestFusedGraphsGiveTheSameBits(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			engines(t, dtype.String()) // keeps the device's modules for all graphs
			plain, fused := 0, 0
			for _, g := range corpus.All() {
				if stage := g.Fault().Stage; stage == corpus.Building || stage == corpus.Running {
					continue
				}
				t.Run(g.Name, func(t *testing.T) {
					p, f := bothWays(t, dtype.String(), g.Program(), g.Values(dtype, g.Elements()))
					if f > p {
						t.Errorf("%d launches fused, %d one by one", f, p)
					}
					plain, fused = plain+p, fused+f
				})
			}
			t.Logf("%d launches, fused %d", plain, fused)
			// Most graphs are a single operation and its derivative.
			if fused > plain*7/10 {
				t.Errorf("%d launches, fused %d", plain, fused)
			}
		})
	}
}

// Chains of random functions give the same bits fused and one by one, also at NaN, the
// infinities, the signed zeros and the subnormal numbers.
func TestRandomChainsGiveTheSameBits(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			plain, fused := 0, 0
			for seed := range uint64(12) {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					p := engine.Program{Name: "random", Key: fmt.Sprint("random ", seed), Build: func(b *engine.Builder) {
						randomGraph(rand.New(rand.NewPCG(seed, 5)), b, seed == 0)
					}}
					rng, special := rand.New(rand.NewPCG(seed, 6)), edges(dtype)
					draw := func(n int) []float64 {
						a := make([]float64, n)
						for i := range a {
							if a[i] = rng.NormFloat64(); rng.IntN(3) == 0 {
								a[i] = special[rng.IntN(len(special))]
							}
						}
						return a
					}
					in := engine.Values{}
					for name, shape := range map[string][]int{"s0": nil, "s1": nil, "v0": {13}, "v1": {13}, "m0": {9, 13},
						"m1": {9, 13}, "m2": {9, 13}, "column": {9, 1}, "row": {1, 13}} {
						in[name] = valueOf(dtype, shape, draw(tensor.Shape(shape).TotalSize()))
					}
					g, err := engine.Build(p, dtype)
					if err != nil {
						t.Fatal(err)
					}
					for name := range in {
						if g.Inputs[name] == nil {
							t.Errorf("there is no input %s", name)
						}
					}
					a, b := bothWays(t, dtype.String(), p, in)
					plain, fused = plain+a, fused+b
				})
			}
			t.Logf("%d launches, fused %d", plain, fused)
			if fused > plain/4 {
				t.Errorf("%d launches, fused %d", plain, fused)
			}
		})
	}
}

// valueOf is a value of some elements.
func valueOf(dtype tensor.Dtype, shape []int, elements []float64) gorgonia.Value {
	if len(shape) == 0 {
		return engine.NewScalar(dtype, elements[0])
	}
	if dtype == tensor.Float64 {
		return engine.TensorOf(elements, shape...)
	}
	single := make([]float32, len(elements))
	for i, x := range elements {
		single[i] = float32(x)
	}
	return engine.TensorOf(single, shape...)
}

// The number of launches, operation by operation and fused.
func TestLaunchesOfKnownPrograms(t *testing.T) {
	check := func(name string, p engine.Program, in engine.Values, plain, fused int) {
		t.Run(name, func(t *testing.T) {
			if a, b := bothWays(t, "float64", p, in); a != plain || b != fused {
				t.Errorf("%d launches and fused %d, want %d and %d", a, b, plain, fused)
			}
		})
	}
	check("Adam", adam(20, 30), adamInputs(20, 30), 16, 2)
	want := map[string][2]int{
		"logistic regression":              {42, 13},
		"update of a logistic regression":  {31, 8},
		"softmax perceptron of two layers": {22, 15},
		"step of a long short-term memory": {53, 12},
		"batch normalisation of a matrix":  {17, 9},
		"autoencoder with tied weights":    {38, 12},
	}
	found := 0
	for _, g := range corpus.All() {
		if n, ok := want[g.Name]; ok {
			check(g.Name, g.Program(), g.Values(tensor.Float64, g.Elements()), n[0], n[1])
			found++
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d graphs of the corpus are there", found, len(want))
	}
}

// A kernel is compiled once the runs without it have lost its compilation time, and kept in the
// cache, from where the next process takes it at once.
func TestFusionWhenItPays(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	e := fusing(t, "float64", fuseWhenItPays)
	g := shared.gpu
	c := counting(t)
	p := engine.Program{Name: "three", Key: "three", Build: func(b *engine.Builder) {
		a := b.Input("a", 2, 2)
		b.Output("out", b.Neg(b.Square(b.Add(a, a))))
	}}
	in := engine.Values{"a": engine.TensorOf([]float64{1, 2, 3, 4}, 2, 2)}
	launches := func() int {
		t.Helper()
		c.launches = 0
		if _, err := e.Run(context.Background(), p, in); err != nil {
			t.Fatal(err)
		}
		return c.launches
	}
	if n := launches(); n != 3 {
		t.Fatalf("%d launches at first, want 3", n)
	}
	if len(g.chains) != 1 {
		t.Fatalf("%d chains", len(g.chains))
	}
	for _, k := range g.chains {
		// A run saves two launches; of seven copies of four numbers two are left.
		if want := 2*launchSeconds + 5*4*8/bytesPerSecond; math.Abs(k.lost-want) > 1e-9*want {
			t.Errorf("a run saves %g s, want %g", k.lost, want)
		}
		k.lost = compileSeconds + 3*compileStepSeconds - 2.5*k.lost
	}
	for i, want := range []int{3, 3, 1, 1} {
		if n := launches(); n != want {
			t.Errorf("%d launches in run %d, want %d", n, i, want)
		}
	}
	for _, k := range g.chains { // as in another process
		*k = chainKernel{compilation: k.compilation}
	}
	files, err := filepath.Glob(filepath.Join(cache, "privkern", "cuda", "*.bin"))
	if err != nil || len(files) < 1 {
		t.Errorf("the cache has %v, %v", files, err)
	}
	if n := launches(); n != 1 {
		t.Errorf("%d launches with the kernel in the cache", n)
	}
}

// A kernel that does not compile is an error with the operations and the remedy, in every run.
func TestFusedKernelWithAMistake(t *testing.T) {
	e := fusing(t, "float64", fuseWhenItPays)
	g := shared.gpu
	g.fusion = fuseAlways
	p := engine.Program{Name: "broken", Key: "broken", Build: func(b *engine.Builder) {
		b.Output("out", b.Neg(b.Square(b.Input("a", 2, 2))))
	}}
	in := engine.Values{"a": engine.TensorOf([]float64{1, 2, 3, 4}, 2, 2)}
	if _, err := e.Run(context.Background(), p, in); err != nil {
		t.Fatal(err)
	}
	for _, k := range g.chains {
		*k = chainKernel{looked: true, compilation: &compilation{source: "#error nonsense\n", options: k.compilation.options,
			binary: k.compilation.binary}}
	}
	for range 2 {
		_, err := e.Run(context.Background(), p, in)
		if err == nil {
			t.Fatal("no error")
		}
		for _, part := range []string{"broken: ", "square, negate in one kernel", "nonsense", "PRIVKERN_FUSION=never"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v lacks %q", err, part)
			}
		}
	}
}

// The variable takes three words.
func TestFusionVariable(t *testing.T) {
	for set, want := range map[string]string{"": "auto", "auto": "auto", "always": "always", "never": "never"} {
		t.Setenv(fusionVariable, set)
		if got, err := fusionMode(); got != want || err != nil {
			t.Errorf("%q is %q, %v", set, got, err)
		}
	}
	t.Setenv(fusionVariable, "sometimes")
	if _, err := fusionMode(); err == nil || !strings.Contains(err.Error(), `PRIVKERN_FUSION is "sometimes"`) {
		t.Errorf("got %v", err)
	}
}

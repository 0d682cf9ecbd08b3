//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernels"
	"privkern/graphs/op"
)

// Goroutines that share the device get the results that each of them gets
// alone: memory that one frees and another takes is used in that order.
func TestConcurrentRuns(t *testing.T) {
	_, e := engines(t, "float64")
	// Kernels have too many cases for this.
	cases := slices.DeleteFunc(cases(), func(c op.Case) bool { return strings.Contains(c.Name, "Kernel") })
	want := make([]engine.Values, len(cases))
	for i, c := range cases {
		var err error
		if want[i], err = e.Run(context.Background(), program(c), inputs(e, c)); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range cases {
				k := (i + worker*len(cases)/4) % len(cases)
				got, err := e.Run(context.Background(), program(cases[k]), inputs(e, cases[k]))
				if err != nil {
					t.Errorf("%s: %v", cases[k].Name, err)
					continue
				}
				near(t, cases[k].Name, got["out"], want[k]["out"], 0)
			}
		})
	}
	wg.Wait()
}

// Of several operations that can fail, the one that did is named.
func TestFailuresInTheirOrder(t *testing.T) {
	_, e := engines(t, "float64")
	build := func(b *engine.Builder) {
		out := b.LogDet(b.Input("a", 3, 3))
		for _, name := range []string{"b", "c"} {
			out = b.Add(out, b.LogDet(b.Input(name, 3, 3)))
		}
		b.Output("out", out)
	}
	p := engine.Program{Name: "three factors", Key: "three factors", Build: build}
	diagonal := func(v float64) gorgonia.Value {
		return engine.NewMatrix(tensor.Float64, mat.NewDense(3, 3, []float64{1, 0, 0, 0, v, 0, 0, 0, 1}))
	}
	for bad, value := range map[string]float64{"a": -1, "b": -2, "c": -3} {
		t.Run(bad, func(t *testing.T) {
			in := engine.Values{"a": diagonal(1), "b": diagonal(1), "c": diagonal(1)}
			in[bad] = diagonal(value)
			_, err := e.Run(context.Background(), p, in)
			var failed *op.NotPositiveDefiniteError
			if !errors.As(err, &failed) || failed.Row != 1 || failed.Pivot != value {
				t.Errorf("%s: got %v", bad, err)
			}
		})
	}
}

// A session with more operations that can fail than there is room for their
// results runs all the same.
func TestManyFallibleOperations(t *testing.T) {
	_, e := engines(t, "float64")
	p := engine.Program{Name: "many factors", Key: "many factors", Build: func(b *engine.Builder) {
		n := b.Input("a", 2, 2)
		for range maxInfos + 10 {
			n = b.RowGram(1, b.Cholesky(n)) // L Lᵀ is A again
		}
		b.Output("out", n)
	}}
	a := engine.NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{4, 1, 1, 3}))
	out, err := e.Run(context.Background(), p, engine.Values{"a": a})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "out", out["out"], a, 1e-12)
}

// Values of any size arrive, also those that take more page-locked memory than a run has.
func TestLargeValues(t *testing.T) {
	_, e := engines(t, "float64")
	for _, n := range []int{1, chunkBytes / 8, chunkBytes/8 + 1, 3 * chunkBytes / 8, (2*maxChunks + 1) * chunkBytes / 8} {
		p := engine.Program{Name: "negative", Key: fmt.Sprint("negative ", n), Build: func(b *engine.Builder) {
			b.Output("out", b.Neg(b.Input("a", 1, n)))
		}}
		a := mat.NewDense(1, n, nil)
		a.Apply(func(_, j int, _ float64) float64 { return float64(j + 1) }, a)
		out, err := e.Run(context.Background(), p, engine.Values{"a": e.Matrix(a)})
		if err != nil {
			t.Fatal(err)
		}
		a.Scale(-1, a)
		near(t, fmt.Sprint(n), out["out"], e.Matrix(a), 0)
	}
}

// The compiled kernels come from the cache the second time, and a damaged file
// is noticed.
func TestCacheOfKernels(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	name := func(source, option string, major int) string {
		file, err := cacheFile(source, []string{option}, Info{Major: major})
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	file := name("source", "-x", 9)
	if readCache(file) != nil {
		t.Error("something is in an empty cache")
	}
	for _, image := range []string{"image", "other"} {
		if err := writeCache(file, []byte(image)); err != nil {
			t.Fatal(err)
		}
		if got := string(readCache(file)); got != image {
			t.Errorf("got %q", got)
		}
	}
	if name("other source", "-x", 9) == file || name("source", "-y", 9) == file || name("source", "-x", 8) == file {
		t.Error("two sources, options or devices share a file")
	}
}

// A cache that cannot be written gives one warning, with the remedy.
func TestCacheThatCannotBeWritten(t *testing.T) {
	defer func(before *error) { unkept.Store(before) }(unkept.Load())
	unkept.Store(nil)
	if noteCache(nil); CacheProblem() != nil {
		t.Error("a cache that was written is a problem")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := writeCache(filepath.Join(file, "kernels.bin"), []byte("image"))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	_, second := cacheFile("source", nil, Info{})
	noteCache(first)
	noteCache(second)
	if first == nil || second == nil || !errors.Is(CacheProblem(), first) ||
		!strings.Contains(CacheProblem().Error(), "set XDG_CACHE_HOME to a folder that can be written") {
		t.Errorf("got %v after %v and %v", CacheProblem(), first, second)
	}
}

// Memory of the pool is freed when a library needs memory of its own.
func TestLibrariesGetRoom(t *testing.T) {
	_, e := engines(t, "float64")
	c := cases()[0]
	if _, err := e.Run(context.Background(), program(c), inputs(e, c)); err != nil {
		t.Fatal(err)
	}
	g := shared.gpu
	for name, p := range map[string]struct {
		succeedsWithRoom bool
		status, calls    int
	}{"kept memory was in the way": {true, 0, 2}, "there is too little": {false, 3, 1}} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := g.call(func() error {
				l, err := g.lane(nil)
				if err != nil {
					return err
				}
				defer g.putBack(l)
				block, err := g.alloc(l, 1000)
				if err == nil && p.succeedsWithRoom {
					err = g.release(l, block)
				} else if err == nil {
					defer func() { _ = g.release(l, block) }()
					g.makeRoom(l)
				}
				if err != nil {
					return err
				}
				status := (&task{gpu: g, lane: l}).withRoom(3, func() int {
					calls++
					if g.pool.kept == 0 && p.succeedsWithRoom {
						return 0
					}
					return 3
				})
				if status != p.status || calls != p.calls {
					t.Errorf("%s: status %d after %d calls, want %d after %d", name, status, calls, p.status, p.calls)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Lengths beyond 32 bits are refused before a library sees their lower bits.
func TestLengthsBeyond32Bits(t *testing.T) {
	long, one := kernels.Matrix{Rows: 1 << 32, Cols: 1}, kernels.Matrix{Rows: 1, Cols: 1}
	for name, f := range map[string]func(*task){
		"gemm":   func(t *task) { t.Gemm(blas.NoTrans, blas.Trans, long.Rows, 1, 1, 1, long, one, long) },
		"gemms":  func(t *task) { t.gemms(true, false, long.Rows, 1, 1, 1, one, one, one) },
		"syrk":   func(t *task) { t.Syrk(blas.Upper, blas.Trans, 1, long.Rows, 1, long, one) },
		"trsm":   func(t *task) { t.Trsm(blas.Right, blas.Trans, one, long) },
		"trsv":   func(t *task) { t.Trsv(blas.NoTrans, long, long) },
		"potrf":  func(t *task) { t.Potrf(long, 0) },
		"syevd":  func(t *task) { t.Syevd(long.Rows, 0, 0) },
		"buffer": func(t *task) { t.workspace(1<<16, -1<<31, 8) },
	} {
		t.Run(name, func(t *testing.T) {
			x := new(task)
			f(x)
			if x.err == nil || !strings.Contains(x.err.Error(), "at most 2147483647") &&
				!strings.Contains(x.err.Error(), "order 65536") {
				t.Errorf("got %v", x.err)
			}
		})
	}
}

// Where the toolkits 12 and 13 are both installed, an older driver or device gets the one that it
// supports.
func TestLibrariesSuitTheDriver(t *testing.T) {
	for c, want := range map[[2]int][]int{{0, 0}: {13, 12}, {12040, 90}: {12}, {13000, 90}: {13, 12},
		{14010, 75}: {13, 12}, {13000, 72}: {12}, {13000, 70}: {12}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := majors(c[0], c[1]); !slices.Equal(got, want) {
				t.Errorf("driver %d, compute capability %d: %v, want %v", c[0], c[1], got, want)
			}
		})
	}
	if v := binding().Version(); v >= 12000 && v < 13000 {
		if libs := loadLibraries(v); libs.nvrtc != nil && !strings.HasPrefix(nvrtcVersion(libs.nvrtc), "12.") {
			t.Errorf("NVRTC %s (%s) for a driver that knows %s", nvrtcVersion(libs.nvrtc), libs.nvrtc.Path, cudaVersion(v))
		}
	}
}

// driverAlone opens an engine of a device without any library, whose kernels are those
// that the program holds.
func driverAlone(t *testing.T, dtype tensor.Dtype) *engine.Engine {
	t.Helper()
	archive := compiledArchive(t, dtype, kernels.Units(), target{minimum, true})
	withLibraries := loadedLibraries.libs
	missing := map[string]error{}
	for _, c := range components {
		missing[c.name] = errors.New("not there")
	}
	loadedLibraries.libs = &libraries{major: 12, missing: missing}
	t.Cleanup(func() { loadedLibraries.libs = withLibraries })
	hold(t, archive)
	return anew(t, dtype)
}

// Products need no library: ours agree with the host's, as those of cuBLAS do.
func TestProductsOfDriverAlone(t *testing.T) {
	for _, precision := range []struct {
		dtype     tensor.Dtype
		tolerance float64
	}{{tensor.Float64, 1e-12}, {tensor.Float32, 5e-6}} {
		t.Run(precision.dtype.String(), func(t *testing.T) {
			host, _ := engines(t, precision.dtype.String())
			device, seen := driverAlone(t, precision.dtype), 0
			for _, c := range op.BuiltinCases() {
				if !strings.Contains(c.Name, "product") && !strings.Contains(c.Name, "contraction") {
					continue
				}
				seen++
				want, err := host.Run(context.Background(), program(c), inputs(host, c))
				if err != nil {
					t.Fatal(err)
				}
				got, err := device.Run(context.Background(), program(c), inputs(device, c))
				if err != nil {
					t.Fatal(err)
				}
				near(t, c.Name, got["out"], want["out"], precision.tolerance*max(1, c.Condition))
			}
			if w := device.Warnings(); len(w) > 0 || seen < 20 {
				t.Errorf("%d cases, warnings: %v", seen, w)
			}
		})
	}
}

// With a driver and nothing else the device computes operations that need no library, from embedded
// kernels; the host computes the rest, and a warning names it.
func TestDriverAlone(t *testing.T) {
	host, _ := engines(t, "float64")
	if err := Release(); err == nil {
		t.Fatal("the device is given back while an engine has it")
	}
	e := driverAlone(t, tensor.Float64)
	p := engine.Program{Name: "both", Key: "both", Build: func(b *engine.Builder) {
		a := b.Input("a", 3, 3)
		b.Output("square", b.Square(a))
		b.Output("factor", b.Cholesky(a))
	}}
	in := engine.Values{"a": e.Matrix(mat.NewDense(3, 3, []float64{4, 1, 0, 1, 3, 1, 0, 1, 2}))}
	want, err := host.Run(context.Background(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Run(context.Background(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		near(t, name, got[name], want[name], 1e-14)
	}
	if warnings := e.Warnings(); len(warnings) != 1 || !strings.Contains(warnings[0], "Cholesky") {
		t.Errorf("warnings %q, want one about the Cholesky factor", warnings)
	}
}

// A device that was given back is opened anew, and not given back while it is in
// use.
func TestRelease(t *testing.T) {
	for range 2 {
		e, err := engine.Open("cuda", "float64", 1)
		if err != nil {
			t.Skip(err)
		}
		out, err := e.Run(context.Background(), engine.Program{Name: "negative", Key: "negative",
			Build: func(b *engine.Builder) {
				b.Output("out", b.Neg(b.Input("a", 1, 1)))
			}}, engine.Values{"a": e.Column([]float64{3})})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "out", out["out"], e.Column([]float64{-3}), 0)
		if err := Release(); err == nil || !strings.Contains(err.Error(), "1 engines are open") {
			t.Errorf("a device in use was given back: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Release(); err != nil || shared.gpu != nil {
			t.Fatal(err)
		}
	}
	if err := Release(); err != nil {
		t.Error(err)
	}
}

// Hulls are evaluated for a part of the queries at a time, whose size does not depend on the memory
// that is free; where there is too little, the error has the missing bytes. It needs a device of
// 192 MiB, which PRIVKERN_TEST_LITTLE_MEMORY=1 promises.
func TestLittleMemory(t *testing.T) {
	if os.Getenv("PRIVKERN_TEST_LITTLE_MEMORY") == "" {
		t.Skip("PRIVKERN_TEST_LITTLE_MEMORY is not set")
	}
	host, e := engines(t, "float64")
	rng := rand.New(rand.NewPCG(1, 1))
	normal := func(rows, cols int) op.Operand {
		m := mat.NewDense(rows, cols, nil)
		m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
		return op.Operand{Dense: m}
	}
	c := op.Case{Name: "AffineHull", Op: op.AffineHull(),
		In: []op.Operand{normal(14000, 2), normal(2000, 1), {Dense: mat.NewDense(1, 1, []float64{1})}, normal(2000, 3)}}
	for i := range 2000 {
		c.In[3].Set(i, 2, 1)
	}
	want, err := host.Run(context.Background(), program(c), inputs(host, c))
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Run(context.Background(), program(c), inputs(e, c))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "out", got["out"], want["out"], 1e-9)
	eq := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1}
	large := op.Case{Name: "KernelSymmetric", Op: op.KernelSymmetric(eq), In: []op.Operand{normal(5200, 2)}}
	_, err = e.Run(context.Background(), program(large), inputs(e, large))
	if !errors.Is(err, engine.ErrOutOfDeviceMemory) || !strings.Contains(err.Error(), "are asked for") ||
		!engine.DeviceFailed() {
		t.Errorf("a matrix of 206 MiB: got %v", err)
	}
	if _, err := e.Run(context.Background(), program(c), inputs(e, c)); err != nil {
		t.Errorf("after running out of memory: %v", err)
	}
}

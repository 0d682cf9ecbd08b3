//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// vectors are inputs of a program by their names.
func vectors(names ...string) engine.Values {
	in := engine.Values{}
	for k, name := range names {
		in[name] = engine.TensorOf([]float64{float64(k), 0.1 + float64(k), -1 / float64(k+1)}, 3)
	}
	return in
}

// numbered are names with a number each.
func numbered(n int, prefixes ...string) (names []string) {
	for i := range n {
		for _, p := range prefixes {
			names = append(names, fmt.Sprint(p, i))
		}
	}
	return names
}

// Chains of many inputs and outputs become kernels of many arguments.
func TestKernelsOfManyArguments(t *testing.T) {
	for _, c := range []struct {
		name         string
		inputs       []string
		build        func(b *engine.Builder)
		words, fused int
	}{
		{"40 running sums", numbered(41, "x"), func(b *engine.Builder) {
			sum := b.Tensor("x0", 3)
			for i := range 40 {
				sum = b.Add(sum, b.Tensor(fmt.Sprint("x", i+1), 3))
				b.Output(fmt.Sprint("sum", i), sum)
			}
		}, 82, 1},
		{"descent of 21 parameters", numbered(21, "w", "g"), func(b *engine.Builder) {
			for i := range 21 {
				w, g := b.Tensor(fmt.Sprint("w", i), 3), b.Tensor(fmt.Sprint("g", i), 3)
				b.Output(fmt.Sprint("new", i), b.Sub(w, b.Hadamard(b.Constant(0.01), g)))
			}
		}, 65, 1},
		{"100 sums", numbered(100, "a", "b"), func(b *engine.Builder) {
			for i := range 100 {
				b.Output(fmt.Sprint("sum", i), b.Add(b.Tensor(fmt.Sprint("a", i), 3), b.Tensor(fmt.Sprint("b", i), 3)))
			}
		}, 145, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _ = engines(t, "float64")
			most := counting(t)
			_, fused := bothWays(t, "float64", engine.Program{Name: c.name, Key: c.name, Build: c.build}, vectors(c.inputs...))
			if most.words != c.words || fused != c.fused {
				t.Errorf("%d arguments in %d kernels, want %d in %d", most.words, fused, c.words, c.fused)
			}
		})
	}
}

// A kernel has at most [kernels.MaxWords] arguments.
func TestTooManyArguments(t *testing.T) {
	err := driver.New().Launch(0, 1, 1, 1, 1, 0, make([]uint64, kernels.MaxWords+1))
	if !errors.Is(err, driver.InvalidValue) {
		t.Errorf("got %v", err)
	}
}

// Queueing a kernel takes no memory of Go's.
func TestLaunchesAllocateNothing(t *testing.T) {
	_, _ = engines(t, "float64")
	d := &device{gpu: shared.gpu}
	x, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	chain := kernels.Chain{Inputs: 1, Out: []int{1}, N: 1, Steps: []kernels.Step{
		{Element: kernels.ElementOf(kernels.Square{Unary: kernels.Unary{N: 1}}), From: []int{-1}},
		{Element: kernels.ElementOf(kernels.Negate{Unary: kernels.Unary{N: 1}}), From: []int{0}}}}
	needCompiler(t)
	setFusion(t, fuseAlways)
	fused, err := d.Fuse(&chain, tensor.Float64)
	if err == nil {
		_, err = fused.Ready()
	}
	if err != nil {
		t.Fatal(err)
	}
	tensors := []engine.DTensor{{Buf: x, Shape: tensor.Shape{1}, DType: tensor.Float64}}
	m := kernels.Matrix{At: uintptr(x.(*buffer).block), Rows: 1, Cols: 1}
	var k kernels.Kernel = kernels.CopyBlock{In: m, LdIn: 1, Out: m, LdOut: 1, Rows: 1, Cols: 1}
	err = d.on(func(l *lane) error {
		task := &task{d: d, gpu: d.gpu, lane: l, dtype: tensor.Float64}
		for name, launch := range map[string]func(){"one": func() { task.Launch(k) },
			"fused": func() { task.Fail(fused.Launch(tensors, tensors)) }} {
			if n := testing.AllocsPerRun(200, launch); n > 0 {
				t.Errorf("%s: %v allocations a launch", name, n)
			}
		}
		return task.err
	})
	d.Free(x)
	if err = errors.Join(err, d.Sync()); err != nil {
		t.Fatal(err)
	}
}

package experiments

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
	"privkern/runner/experiment"
)

// EngineBenchmarks measure the graphs that all papers share, on the CPU with
// one worker.
func EngineBenchmarks() []experiment.Benchmark {
	return []experiment.Benchmark{
		{Name: "graphs/kernel", Doc: "Kernel matrices of 3,000 points in 64 dimensions.", Run: kernelMatrices},
		{Name: "graphs/linalg", Doc: "Solve with a 1,024×1,024 matrix and 64 right sides; PSD part of a 256×256 matrix.",
			Run: solves},
	}
}

// formulaMatrix is a full matrix of numbers in (-1, 1) without a pattern that
// a library could exploit.
func formulaMatrix(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, math.Sin(float64(i*cols+j+1)*12.9898))
		}
	}
	return m
}

func kernelMatrices(_ context.Context, m experiment.Meter) error {
	const points, dims = 3000, 64
	x := formulaMatrix(points, dims)
	for _, k := range []struct {
		name   string
		kernel kernel.Kernel
	}{
		{"EQ", kernel.EQ(4, 1)},
		{"Laplacian", kernel.Laplacian(0.1, 1)},
		{"Matérn 5/2", kernel.Matern(2.5, 4, 1)},
	} {
		for _, dtype := range []string{"float64", "float32"} {
			e, err := engine.Open("cpu", dtype, 1)
			if err != nil {
				return err
			}
			_, err = m.Time(k.name+" "+dtype, func() error {
				_, err := k.kernel.Matrix(e, x, x)
				return err
			})
			if closeErr := e.Close(); err == nil {
				err = closeErr
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func solves(_ context.Context, m experiment.Meter) error {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	const n, right, small = 1024, 64, 256
	k, err := kernel.EQ(4, 1).Matrix(e, formulaMatrix(n, 8), formulaMatrix(n, 8))
	if err != nil {
		return err
	}
	for i := range n {
		k.Set(i, i, k.At(i, i)+1)
	}
	b := formulaMatrix(n, right)
	if _, err := m.Time("solve", func() error {
		_, _, err := linalg.SolveSPD(e, k, b)
		return err
	}); err != nil {
		return err
	}
	var indefinite mat.Dense
	a := formulaMatrix(small, small)
	indefinite.Add(a, a.T())
	_, err = m.Time("PSD part", func() error {
		_, _, err := linalg.PSDPart(e, &indefinite)
		return err
	})
	return err
}

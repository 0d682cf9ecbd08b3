package op

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/cpublas"
)

// NormaliseRows is the operation A → B, B_ij = A_ij / Σ_k A_ik. It fails where
// a row sums to zero.
func NormaliseRows() Op {
	d := &definition{name: "NormaliseRows", in: []int{2}, out: 2, shape: sameShape(0), diff: []bool{true},
		sym: func(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			da, err := normaliseRowsGradient().Apply(in[0], out, grad)
			return gorgonia.Nodes{da}, err
		}}
	return Op{d.kernels(normaliseRows[float64], normaliseRows[float32])}
}

func normaliseRows[T cpublas.Float](c call[T]) error {
	for i := range c.out.rows {
		s := rowSum(c.in[0].row(i))
		if s == 0 {
			return fmt.Errorf("row %d sums to zero and cannot be normalised", i)
		}
		to := c.out.row(i)
		for j, v := range c.in[0].row(i) {
			to[j] = T(float64(v) / s)
		}
	}
	return nil
}

func rowSum[T cpublas.Float](row []T) float64 {
	s := 0.0
	for _, v := range row {
		s += float64(v)
	}
	return s
}

// normaliseRowsGradient is the operation (A, B, G) → (G − ⟨G, B⟩) / ΣA by rows.
func normaliseRowsGradient() Op {
	d := &definition{name: "NormaliseRowsGradient", in: []int{2, 2, 2}, out: 2, shape: sameShape(0)}
	return Op{d.kernels(normaliseRowsPullback[float64], normaliseRowsPullback[float32])}
}

func normaliseRowsPullback[T cpublas.Float](c call[T]) error {
	for i := range c.out.rows {
		sum, inner := rowSum(c.in[0].row(i)), 0.0
		b, g, to := c.in[1].row(i), c.in[2].row(i), c.out.row(i)
		for j, v := range g {
			inner += float64(v) * float64(b[j])
		}
		for j, v := range g {
			to[j] = T((float64(v) - inner) / sum)
		}
	}
	return nil
}

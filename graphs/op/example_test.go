package op_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// Operations that gorgonia lacks are nodes of its graphs, with derivatives: the log-determinant of a matrix A = LLᵀ and
// the solution of Ax = b share the factor L.
func Example() {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	out, err := e.Run(context.Background(), engine.Program{Name: "solve", Key: "solve 2", Build: func(b *engine.Builder) {
		a, y := b.Input("a", 2, 2), b.Input("b", 2, 1)
		factor := gorgonia.Must(gorgonia.ApplyOp(op.Cholesky(), a))
		b.Output("x", gorgonia.Must(gorgonia.ApplyOp(op.CholeskySolve(), factor, y)))
		b.Output("log det", gorgonia.Must(gorgonia.ApplyOp(op.CholeskyLogDet(), factor)))
	}}, engine.Values{"a": e.Matrix(mat.NewDense(2, 2, []float64{4, 2, 2, 3})), "b": e.Column([]float64{8, 7})})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	logDet, err := engine.Scalar(out["log det"])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log det %.4f\n", logDet)
	// Output: log det 2.0794
}

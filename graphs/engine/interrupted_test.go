package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"
)

// endsAfter is a context that ends once it has been asked a number of times.
type endsAfter struct {
	context.Context
	left atomic.Int32
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A run ends within an operation, and the executor can run again.
func TestRunEndsWithinAnOperation(t *testing.T) {
	const n = 512
	e := open(t, "float64", 2)
	p := Program{Name: "factor", Key: "factor", Build: func(b *Builder) {
		b.Output("l", b.Cholesky(b.Input("a", n, n)))
	}}
	a := mat.NewDense(n, n, nil)
	for i := range n {
		a.Set(i, i, 4)
	}
	in := Values{"a": NewMatrix(tensor.Float64, a)}
	ctx := &endsAfter{Context: context.Background()}
	ctx.left.Store(5) // two of them before the operation begins
	if _, err := e.Run(ctx, p, in); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "Cholesky") {
		t.Errorf("got %v", err)
	}
	out, err := e.Run(context.Background(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Floats(out["l"])
	if err != nil || l[0] != 2 || l[n*n-1] != 2 || l[1] != 0 {
		t.Errorf("the factor begins with %v; %v", l[:2], err)
	}
}

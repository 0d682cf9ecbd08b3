package cloak

import (
	"context"
	"testing"
	"time"
	"math/rand/v2"
	"gonum.org/v1/gonum/mat"
	"privkern/graphs/engine"
)

func TestTmp(t *testing.T) {
	e, _ := engine.Open("cpu", "float64", 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, pn := range [][2]int{{3,8},{13, 287}, {100, 287}} {
		c := mat.NewDense(pn[0], pn[1], nil)
		for i := range c.RawMatrix().Data {
			c.RawMatrix().Data[i] = rng.NormFloat64()
		}
		t0 := time.Now()
		r, err := Descend(context.Background(), e, c, Options{Iterations: 1000})
		t.Log(pn, time.Since(t0)/1000, r.Gap, r.Objective, r.MaxMahalanobis, err)
	}
}

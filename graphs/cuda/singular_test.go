//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// Orthogonal rows of known lengths have these singular values to a few roundings of each, and
// each member of a batch has the bits that it has alone.
func TestSingularValuesOfMembers(t *testing.T) {
	_, e := engines(t, "float64")
	const n, rate = 27, .3 // down to 2.5e-14
	var qr mat.QR
	qr.Factorize(rotated(values(n, func(i int) float64 { return math.Sin(float64(7*i + 1)) })...))
	var a mat.Dense
	qr.QTo(&a)
	for i := range n {
		row := a.RawRowView(i)
		for j := range row {
			row[j] *= math.Pow(rate, float64((5*i+2)%n))
		}
	}
	decompose := func(members int) []float64 {
		p := engine.Program{Name: "singular", Key: fmt.Sprint("singular ", members), Build: func(b *engine.Builder) {
			b.Output("out", b.LeftSingular(b.Tensor("a", members, n, n)))
		}}
		var data []float64
		for i := members; i > 0; i-- { // the last member is the matrix itself
			var scaled mat.Dense
			scaled.Scale(1/float64(i), &a)
			data = append(data, scaled.RawMatrix().Data...)
		}
		out, err := e.Run(context.Background(), p, engine.Values{"a": engine.TensorOf(data, members, n, n)})
		if err != nil {
			t.Fatal(err)
		}
		all := numbers(t, out["out"])
		return all[len(all)-n*(n+1):]
	}
	last := decompose(3)
	if !slices.Equal(last, decompose(1)) {
		t.Error("the bits are others than alone")
	}
	for i := range n {
		line := last[i*(n+1) : (i+1)*(n+1)]
		want := math.Pow(rate, float64(i))
		if !(math.Abs(line[0]/want-1) < 2e-14) {
			t.Errorf("singular value %d is off by %g of itself", i, line[0]/want-1)
		}
		at := slices.IndexFunc(line[1:], func(x float64) bool { return math.Abs(x) > .5 })
		if at < 0 || (5*at+2)%n != i || math.Abs(line[1+at]-1) > 1e-13 {
			t.Errorf("vector %d is %v", i, line[1:])
		}
	}
}

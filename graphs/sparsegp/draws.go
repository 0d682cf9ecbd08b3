package sparsegp

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
)

// Draw is one of many posteriors that are needed for their predictions alone, such as one draw of noise.
type Draw struct {
	Sums      Sums
	Precision float64 // of the observations
	Noise     Noise
	// At has the kernel, the inducing inputs and the inputs of the predictions.
	At *Projection
}

// Prediction is that of a draw: mean and variance of the function, without the noise of observations, or the error of
// [Infer] or [Projection.Predict] for these sums.
type Prediction struct {
	Mean, Variance []float64
	Err            error
}

// Bounds on the draws of a run: on the CPU the matrices of a worker's stay in its cache, and on a device a run of many
// takes as long as one of a few.
const (
	drawBytes       = 1 << 20
	deviceDrawBytes = 256 << 20
)

// PredictAll infers the posteriors of draws and predicts by them. It has the bits of [Infer] followed by
// [Projection.Predict] for each draw, and leaves posteriors on the backend: a run computes some hundred draws, or on a
// device thousands, with one wait. All draws have equal numbers of inducing inputs and of inputs.
//
// A draw fails alone. PredictAll returns an error for numbers that are out of range, and one of the engine.
func PredictAll(ctx context.Context, e *engine.Engine, draws []Draw) ([]Prediction, error) {
	out := make([]Prediction, len(draws))
	for lo := 0; lo < len(draws); {
		hi := lo + drawsPerRun(e, draws[lo:])
		if err := predictSome(ctx, e, draws[lo:hi], out[lo:hi]); err != nil {
			return nil, err
		}
		lo = hi
	}
	return out, nil
}

// drawsPerRun returns the number of draws of the next run: as many as memory allows, or a power of two, so that there
// are few shapes, each of which has a graph of its own.
func drawsPerRun(e *engine.Engine, draws []Draw) int {
	at, limit := draws[0].At, drawBytes
	if e.Backend() != "cpu" {
		limit = deviceDrawBytes
	}
	most := max(1, limit/(8*(at.m*(at.points+8*at.m)+4*at.points)))
	if most <= len(draws) {
		return most
	}
	size := 1
	for 2*size <= len(draws) {
		size *= 2
	}
	return size
}

// predictSome computes the draws of one run.
func predictSome(ctx context.Context, e *engine.Engine, draws []Draw, out []Prediction) error {
	in, sets, err := drawInputs(draws)
	if err != nil {
		return err
	}
	n, m, points := len(draws), draws[0].At.m, draws[0].At.points
	values, err := e.RunAs(ctx, tensor.Float64, drawProgram(n, sets, m, points), in)
	failed := make([]error, n)
	if err := batch.Failures(err, failed); err != nil {
		return err
	}
	r := engine.Read(values)
	mean, variance := r.Floats("mean"), r.Floats("v")
	if err := r.Err(); err != nil {
		return err
	}
	for i := range draws {
		if out[i].Err = failed[i]; failed[i] != nil {
			continue
		}
		out[i].Mean, out[i].Variance = mean[i*points:(i+1)*points], variance[i*points:(i+1)*points]
		out[i].Err = draws[i].At.complete(out[i].Variance)
	}
	return nil
}

// drawInputs returns the inputs of drawProgram, and the number of projections among them.
func drawInputs(draws []Draw) (in engine.Values, sets int, err error) {
	m, points := draws[0].At.m, draws[0].At.points
	place := map[*Projection]int{}
	var k, w, a, update, mix, base []*mat.Dense
	var at []int
	var precision, outer []float64
	for i := range draws {
		d := &draws[i]
		if d.At.m != m || d.At.points != points {
			return nil, 0, fmt.Errorf("sparse GP: draw %d has %d inducing inputs and %d inputs, the first one %d and %d", i+1,
				d.At.m, d.At.points, m, points)
		}
		if _, ok := place[d.At]; !ok {
			place[d.At] = len(k)
			k, w = append(k, d.At.k), append(w, d.At.w)
		}
		u, err := updateOf(m, d.Sums, d.Precision, d.Noise)
		if err != nil {
			return nil, 0, fmt.Errorf("draw %d: %w", i+1, err)
		}
		at, a, update, mix, base = append(at, place[d.At]), append(a, u.a), append(update, u.update), append(mix, u.mix),
			append(base, u.base)
		precision, outer = append(precision, u.precision), append(outer, u.outer)
	}
	in = engine.Values{"k": stacked(tensor.Float64, k), "w": stacked(tensor.Float64, w), "a": stacked(tensor.Float64, a),
		"update": stacked(tensor.Float64, update), "mix": stacked(tensor.Float64, mix), "base": stacked(tensor.Float64, base)}
	var err1, err2, err3 error
	in["at"], err1 = batch.Scalars(tensor.Float64, at)
	in["precision"], err2 = batch.Scalars(tensor.Float64, precision)
	in["outer"], err3 = batch.Scalars(tensor.Float64, outer)
	return in, len(k), errors.Join(err1, err2, err3)
}

// drawProgram computes for each of n draws "mean" and "v", w_iᵀSw_i (n×points×1), from the inputs of
// [posterior], one for each draw. K and W are member "at" (n) of "k" (sets×m×m) and "w" (sets×m×points).
func drawProgram(n, sets, m, points int) engine.Program {
	return engine.Program{Name: "predictions of draws of a sparse GP",
		Key: fmt.Sprintf("sparse GP draws %d %d %d %d", n, sets, m, points),
		Build: func(b *engine.Builder) {
			at := b.Tensor("at", n)
			of := func(name string, cols int) *gorgonia.Node { return b.Members(b.Tensor(name, sets, m, cols), at) }
			p := posterior(inputs{b, []int{n}}, of("k", m), m)
			w := of("w", points)
			b.Output("mean", b.MatrixProduct(b.TransposeMembers(w), p.mean))
			b.Output("v", b.QuadraticForms(w, p.cov))
		}}
}

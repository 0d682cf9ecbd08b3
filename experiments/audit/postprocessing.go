package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
)

// targetNoise is a sampler whose noise takes queries to given outputs.
type targetNoise struct {
	outputs, queries, scales []float64
	next                     int
}

func (w *targetNoise) NormFloat64() float64 {
	i := w.next
	w.next++
	if i >= len(w.outputs) || i >= len(w.queries) {
		return 0
	}
	return (w.outputs[i] - w.queries[i]) / w.scales[i]
}

// rounds bounds how many noisy queries of a release depend on each other.
const rounds = 10

// follows says whether all that is released follows from the noisy numbers: a
// release of the first rows is made, and one of the second rows whose noise leads to
// the same noisy numbers, to the precision of a float64. They are equal to that
// precision, or something private has a part in what is done with the numbers. A
// query may depend on outputs before it: the noise is found for one after the other.
func (p *planned) follows(ctx context.Context, first, second *mat.Dense) (string, error) {
	forced := func(sampler interface{ NormFloat64() float64 }, rows *mat.Dense) (
		text []byte, outputs, queries, scales []float64, err error) {
		planted := p.fault
		planted.Float, planted.NoiseTimes = sampler, 0
		out, draws, err := p.releaseUnder(fault.With(ctx, planted), rows, rand.NewChaCha8([32]byte{5}))
		if err != nil {
			return nil, nil, nil, nil, err
		}
		for _, d := range draws {
			outputs, queries = append(outputs, d.Output...), append(queries, d.Query...)
			scales = append(scales, slices.Repeat([]float64{d.Noise.Scale()}, len(d.Query))...)
		}
		text, err = json.Marshal(out)
		return text, outputs, queries, scales, err
	}
	reference, outputs, queries, scales, err := forced(rand.New(rand.NewPCG(5, 5)), first)
	if err != nil {
		return "", err
	}
	if string(reference) == "null" {
		return "", errors.New("a release failed by its noise: another seed is needed")
	}
	for range rounds {
		text, _, found, _, err := forced(&targetNoise{outputs: outputs, queries: queries, scales: scales}, second)
		if err != nil {
			return "", err
		}
		if len(found) != len(outputs) {
			return fmt.Sprintf("%d noisy numbers and %d", len(outputs), len(found)), nil
		}
		if alike(queries, found, scales) {
			return different(reference, text), nil
		}
		queries = found
	}
	return "the queries of equal outputs do not settle", nil
}

// alike says whether numbers are equal to far below the noise.
func alike(a, b, scales []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-9*scales[i]) {
			return false
		}
	}
	return true
}

// different says where two texts differ in more than the last digits of numbers.
func different(a, b []byte) string {
	la, lb := number.ReplaceAllLiteral(a, []byte("#")), number.ReplaceAllLiteral(b, []byte("#"))
	if !slices.Equal(la, lb) {
		return "equal noisy numbers give releases that differ in more than numbers"
	}
	x, y := number.FindAll(a, -1), number.FindAll(b, -1)
	for i := range x {
		u, errU := strconv.ParseFloat(string(x[i]), 64)
		v, errV := strconv.ParseFloat(string(y[i]), 64)
		if errU != nil || errV != nil || !(math.Abs(u-v) <= 1e-6*max(math.Abs(u), math.Abs(v))) {
			return fmt.Sprintf("equal noisy numbers give %s and %s", x[i], y[i])
		}
	}
	return ""
}

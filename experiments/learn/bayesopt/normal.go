package bayesopt

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// normal returns the values with mean zero and variance one, after the monotone transform of Yeo and Johnson under
// which their likelihood as a normal sample is largest.
func normal(values []float64) []float64 {
	scaled := centred(values)
	best, most := scaled, math.Inf(-1)
	for tenth := -10; tenth <= 20; tenth++ {
		power := float64(tenth) / 10
		out, logSlope := make([]float64, len(scaled)), 0.0
		for i, v := range scaled {
			out[i] = yeoJohnson(v, power)
			logSlope += (power - 1) * math.Copysign(math.Log1p(math.Abs(v)), v)
		}
		likelihood := logSlope - float64(len(out))*math.Log(stat.PopStdDev(out, nil))
		if likelihood > most {
			best, most = out, likelihood
		}
	}
	return standardised(best)
}

// yeoJohnson transforms a value.
func yeoJohnson(v, power float64) float64 {
	boxCox := func(v, power float64) float64 {
		if math.Abs(power) < 1e-9 {
			return math.Log1p(v)
		}
		return math.Expm1(power*math.Log1p(v)) / power
	}
	if v >= 0 {
		return boxCox(v, power)
	}
	return -boxCox(-v, 2-power)
}

// standardised subtracts the mean and divides by the standard deviation, unless that is zero or overflows.
func standardised(values []float64) []float64 {
	mean, deviation := stat.PopMeanStdDev(values, nil)
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		deviation = 1
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = (v - mean) / deviation
	}
	return out
}

// centred subtracts the median and divides by the distance between the quartiles, which outliers do not change, unless
// that is zero; then by the standard deviation.
func centred(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.LinInterp, sorted, nil) }
	width := quantile(0.75) - quantile(0.25)
	if !(width > 0) || math.IsInf(width, 1) {
		return standardised(values)
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = (v - quantile(0.5)) / width
	}
	return out
}

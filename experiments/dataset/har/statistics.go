package har

import (
	"math"
	"slices"
)

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// moment returns the central moment of the given power.
func moment(x []float64, power int) float64 {
	center, sum := mean(x), 0.0
	for _, v := range x {
		d := v - center
		p := d * d
		for range power - 2 {
			p *= d
		}
		sum += float64(p)
	}
	return sum / float64(len(x))
}

// deviation is the standard deviation with n − 1 degrees of freedom.
func deviation(x []float64) float64 {
	n := float64(len(x))
	return math.Sqrt(moment(x, 2) * n / (n - 1))
}

func skewness(x []float64) float64 { return standardised(x, 3) }

func kurtosis(x []float64) float64 { return standardised(x, 4) }

// standardised is a moment in units of the (population) standard deviation; 0 of a
// constant.
func standardised(x []float64, power int) float64 {
	d := math.Sqrt(moment(x, 2))
	if d == 0 {
		return 0
	}
	for range power - 1 {
		d *= math.Sqrt(moment(x, 2))
	}
	return moment(x, power) / d
}

// quantile interpolates linearly between the order statistics of a sorted list.
func quantile(sorted []float64, p float64) float64 {
	at, share := math.Modf(p * float64(len(sorted)-1))
	i := int(at)
	if share == 0 {
		return sorted[i]
	}
	return sorted[i] + float64(share*(sorted[i+1]-sorted[i]))
}

func interquartileRange(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return quantile(sorted, .75) - quantile(sorted, .25)
}

// medianDeviation is the median of the absolute difference to the median.
func medianDeviation(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	center := quantile(sorted, .5)
	for i, v := range sorted {
		sorted[i] = math.Abs(v - center)
	}
	slices.Sort(sorted)
	return quantile(sorted, .5)
}

func energy(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum / float64(len(x))
}

// magnitude is the signal magnitude area of one axis.
func magnitude(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum / float64(len(x))
}

// entropy is the mean logarithm of the energy; silence has a finite one.
func entropy(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log(float64(v*v) + 1e-12)
	}
	return sum / float64(len(x))
}

// correlation of a constant is 0.
func correlation(x, y []float64) float64 {
	a, b := mean(x), mean(y)
	xy, xx, yy := 0.0, 0.0, 0.0
	for i := range x {
		xy += float64((x[i] - a) * (y[i] - b))
		xx += float64((x[i] - a) * (x[i] - a))
		yy += float64((y[i] - b) * (y[i] - b))
	}
	if xx*yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// autoregression returns the four coefficients of the model x_t + Σ c_i x_{t−i} = noise
// that Burg's method finds.
func autoregression(x []float64) [4]float64 {
	forward, backward := slices.Clone(x[1:]), slices.Clone(x[:len(x)-1])
	c := [5]float64{1}
	for order := 1; order <= 4; order++ {
		both, norm := 0.0, 0.0
		for i, f := range forward {
			b := backward[i]
			both += float64(f * b)
			norm += float64(f*f) + float64(b*b)
		}
		if norm == 0 {
			break // the model is exact
		}
		reflection := -2 * both / norm
		before := c
		for i := 1; i <= order; i++ {
			c[i] = before[i] + float64(reflection*before[order-i])
		}
		for i, f := range forward {
			b := backward[i]
			forward[i], backward[i] = f+float64(reflection*b), b+float64(reflection*f)
		}
		forward, backward = forward[1:], backward[:len(backward)-1]
	}
	return [4]float64(c[1:])
}

package privacygp

// linspace returns n ≥ 1 points from low to high.
func linspace(low, high float64, n int) []float64 {
	if n == 1 {
		return []float64{low}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	out[n-1] = high
	return out
}

// grid returns the training inputs i/(n+1), i = 1..n.
func grid(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i+1) / float64(n+1)
	}
	return out
}

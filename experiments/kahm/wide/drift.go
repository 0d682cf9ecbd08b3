package wide

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// driftWarning follows from samples that have their noise already, and from public settings.
const driftWarning = "computed but suspect: fabricated rows have drifted towards the low ends of the ranges, those " +
	"of a class by more than its own spread: smoothing draws samples there, the more the wider the public range is " +
	"against the values; use a narrower low and high, or smoothing=0"

const (
	// suspectDrift is a suspicious change of the mean of a class, in its standard deviations. Three classes with one of
	// .6 each, around the corners of a triangle, change by 1.0 in a range from -4 to 4, by 3.4 in one from -20 to 20 and
	// by 21 from -100 to 100, with two steps and hardly any noise; noise of epsilon=10 is wider, and they change by .5 of
	// it.
	suspectDrift = 1.5
	// narrow is the standard deviation of the samples of all classes below which the range is too wide. Values
	// that fill it evenly have .29.
	narrow = .1
	// fewestSpread is the fewest samples whose standard deviation is taken for that of their class.
	fewestSpread = 10
)

// moments are the mean and the standard deviation of each column of samples.
type moments struct{ mean, sd []float64 }

func momentsOf(x *mat.Dense) *moments {
	m := &moments{}
	_, p := x.Dims()
	for j := range p {
		mean, sd := stat.PopMeanStdDev(mat.Col(nil, j, x), nil)
		m.mean, m.sd = append(m.mean, mean), append(m.sd, sd)
	}
	return m
}

// momentsOfTables are those of the clusters whose samples are rows of a table, with an infinite standard deviation of
// columns whose range fits all of these rows; nil for others.
func momentsOfTables(clusters []Cluster) []*moments {
	all, sizes := make([]*moments, len(clusters)), make([]float64, len(clusters))
	for i, c := range clusters {
		if !c.source.Table {
			return all
		}
		n, _ := c.Samples.Dims()
		all[i], sizes[i] = momentsOf(c.Samples), float64(n)
	}
	if len(all) == 0 {
		return nil
	}
	for j := range all[0].mean {
		means, variances := make([]float64, len(all)), make([]float64, len(all))
		for i, m := range all {
			means[i], variances[i] = m.mean[j], m.sd[j]*m.sd[j]
		}
		if stat.Mean(variances, sizes)+stat.PopVariance(means, sizes) < narrow*narrow {
			continue
		}
		for _, m := range all {
			m.sd[j] = math.Inf(1)
		}
	}
	for i, n := range sizes {
		if n < fewestSpread {
			all[i] = nil
		}
	}
	return all
}

// drifts reports whether fabrication made of samples with these moments others with another mean; never of nil.
func (m *moments) drifts(fabricated *mat.Dense) bool {
	if m == nil {
		return false
	}
	for j, mean := range momentsOf(fabricated).mean {
		if m.sd[j] > 0 && math.Abs(mean-m.mean[j]) > suspectDrift*m.sd[j] {
			return true
		}
	}
	return false
}

package forest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
)

// magnitudes are the bins of a share's distance from that of the root, on each side: the first from 1/2 up, each of the
// others half as far, and the last down to 0.
const magnitudes = 9

// bins of a histogram, each with the rows that are not of its class and those that are.
const bins = 2 * magnitudes

// binOf is the bin of a distance.
func binOf(distance float64) int {
	bin := 0
	for end := 0.5; bin < magnitudes-1 && math.Abs(distance) < end; end /= 2 {
		bin++
	}
	if distance < 0 {
		bin += magnitudes
	}
	return bin
}

// centreOf is the distance that stands for a bin.
func centreOf(bin int) float64 {
	if bin >= magnitudes {
		return -centreOf(bin - magnitudes)
	}
	return math.Ldexp(0.75, -bin)
}

// histograms counts the rows, right and wrong, by the class whose share is most above that of the root, and by how much
// it is; of two classes, by the share of the second.
func (a *algorithm) histograms(f *forest, rows *method.Part, sums *ground.Sums) ([]float64, error) {
	return sums.Sum(a.second, func(row int, out []float64) {
		at := f.room()
		f.shares(rows.X.RawRowView(row), rows.Labels[row], at)
		floats.Sub(at.of, f.root)
		class := 1
		if f.classes > 2 {
			class = floats.MaxIdx(at.of)
		}
		cell := 2 * (class*bins + binOf(at.of[class]))
		if rows.Labels[row] == class {
			cell++
		}
		out[cell] = 1
	})
}

// point are rows of one bin: the distance x of their share from the root's, their number, and how many are of the
// class.
type point struct{ x, rows, hits float64 }

// points returns the bins of a class whose number of rows is clearly more than its noise, of that deviation.
func points(histograms []float64, class int, noise float64) []point {
	var out []point
	for bin := range bins {
		at := 2 * (class*bins + bin)
		if n := histograms[at] + histograms[at+1]; n > 2*math.Sqrt2*noise {
			out = append(out, point{centreOf(bin), n, histograms[at+1]})
		}
	}
	return out
}

// line sets slope and intercepts of the probabilities by least squares on noisy histograms: the mean over the trees, a
// kernel smoother, is right in its order but draws all shares to those of the root. The slope of all classes has a
// normal prior. Of two classes the line goes through the mean of the rows, and of more through the shares of the root.
func (b *Body) line(f *forest, histograms []float64, noise float64) {
	var product, square, variance float64
	var x, y, n float64 // means and number of rows
	for class := range f.classes {
		some := points(histograms, class, noise)
		x, y, n = 0, f.root[class], 0
		if f.classes == 2 {
			hits := 0.0
			for _, p := range some {
				x, hits, n = x+p.rows*p.x, hits+p.hits, n+p.rows
			}
			if n > 0 {
				x, y = x/n, hits/n
			}
		}
		for _, p := range some {
			product += (p.x - x) * (p.hits - p.rows*y)
			square += p.rows * (p.x - x) * (p.x - x)
			variance += (noise*noise + p.rows/4) * (p.x - x) * (p.x - x)
		}
	}
	const prior = 1 / (typicalSlope * typicalSlope)
	b.Slope = typicalSlope
	if square > 0 {
		b.Slope = max(1, (product*square/variance+typicalSlope*prior)/(square*square/variance+prior))
	}
	b.Intercepts = make([]float64, f.classes)
	for c, share := range f.root {
		b.Intercepts[c] = share * (1 - b.Slope)
	}
	if n > 0 { // of the second of two classes
		b.Intercepts[1] = y - b.Slope*(x+f.root[1])
		b.Intercepts[0] = 1 - b.Slope - b.Intercepts[1]
	}
}

// typicalSlope is mean and deviation of the prior.
const typicalSlope = 3

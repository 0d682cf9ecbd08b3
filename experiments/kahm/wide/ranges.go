package wide

import "math"

// Ranges are the ranges that scale inputs to [0, 1].
type Ranges struct {
	Low, High []float64 // p; equal for an input with one value, which becomes 0
	// Observed reports that they are those of rows, and so no public numbers.
	Observed bool
}

// Scale scales a row to [0, 1] in place, and returns the number of its values beyond their
// range. A value that is missing, NaN, is the low end.
func (r *Ranges) Scale(row []float64) (outside int) {
	for j, v := range row {
		if v < r.Low[j] || v > r.High[j] {
			outside++
		}
		if math.IsNaN(v) {
			v = r.Low[j]
		}
		row[j] = max(0, min(1, r.unit(j, max(r.Low[j], min(r.High[j], v)))))
	}
	return outside
}

// unit returns (v − low)/(high − low). Halves first, because the range itself may overflow.
func (r *Ranges) unit(j int, v float64) float64 {
	half := r.High[j]/2 - r.Low[j]/2
	if half == 0 {
		return 0
	}
	return (v/2 - r.Low[j]/2) / half
}

// Restore brings a row from [0, 1] to the units of the inputs, in place.
func (r *Ranges) Restore(row []float64) {
	for j, u := range row {
		row[j] = r.Low[j] + u*(r.High[j]-r.Low[j])
	}
}

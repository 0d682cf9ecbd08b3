package har

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Scale maps a feature to Slope·x + Intercept.
type Scale struct{ Slope, Intercept float64 }

// limit bounds scaled features. The published ones are inside [−1, 1] by construction;
// here the largest values of windows are not known, only means of groups.
const limit = 1.1

// fitted is the R² below which a fit to the published means does not count.
const fitted = .5

// Group is an activity of a subject; it has a published mean of the features.
type Group struct{ Activity, Subject int }

// Calibrate returns the map of each feature from the windows of all recordings ([Extract]) to the
// published features, and the R² of its fit: least squares of the means of groups against the
// published means. Where R² is below 0.5 the recordings do not determine the feature, and its range
// over all windows becomes [−1, 1]. A group without windows is an error.
func Calibrate(w *readers.Windows, published map[Group][]float64) (scales []Scale, r2 []float64, err error) {
	var means, targets []*mat.VecDense
	counts := map[Group]float64{}
	place := map[Group]int{}
	for i, row := range w.Activity {
		g := Group{row, w.Subject[i]}
		at, known := place[g]
		if !known {
			if len(published[g]) != readers.HARFeatures {
				return nil, nil, fmt.Errorf("activity %d of subject %d has %d published means, expected %d", g.Activity,
					g.Subject, len(published[g]), readers.HARFeatures)
			}
			at = len(means)
			place[g] = at
			means = append(means, mat.NewVecDense(readers.HARFeatures, nil))
			targets = append(targets, mat.NewVecDense(readers.HARFeatures, published[g]))
		}
		means[at].AddVec(means[at], w.Inputs.RowView(i))
		counts[g]++
	}
	if len(means) != len(published) {
		return nil, nil, fmt.Errorf("%d groups have windows, %d have published means", len(means), len(published))
	}
	for g, at := range place {
		means[at].ScaleVec(1/counts[g], means[at])
	}
	x, y := make([]float64, len(means)), make([]float64, len(means))
	column := make([]float64, w.Len())
	for j := range readers.HARFeatures {
		for i := range means {
			x[i], y[i] = means[i].AtVec(j), targets[i].AtVec(j)
		}
		intercept, slope := stat.LinearRegression(x, y, nil, false)
		r := stat.RSquared(x, y, nil, intercept, slope)
		s := Scale{slope, intercept}
		if !(r >= fitted) { // also NaN, of a constant
			s = ofRange(mat.Col(column, j, w.Inputs))
		}
		scales, r2 = append(scales, s), append(r2, r)
	}
	return scales, r2, nil
}

// ofRange maps the range of x to [−1, 1].
func ofRange(x []float64) Scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		return Scale{0, 0}
	}
	return Scale{2 / (high - low), -1 - 2*low/(high-low)}
}

// calibration has the [Scale] and the R² of each feature in the order of features.txt.
// The package calibrate makes it.
//
//go:embed calibration.csv
var calibration string

// Published returns the maps that [Calibrate] found for the recordings of UCI HAPT.
func Published() ([]Scale, error) {
	r := csv.NewReader(strings.NewReader(calibration))
	r.FieldsPerRecord = 4
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("calibration.csv: %w", err)
	}
	var out []Scale
	for i, line := range lines[1:] {
		slope, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			return nil, fmt.Errorf("calibration.csv: line %d: %w", i+2, err)
		}
		intercept, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			return nil, fmt.Errorf("calibration.csv: line %d: %w", i+2, err)
		}
		out = append(out, Scale{slope, intercept})
	}
	return out, nil
}

// WriteCalibration writes the file that [Published] reads; names are those of the features.
func WriteCalibration(w io.Writer, names []string, scales []Scale, r2 []float64) error {
	out := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	_ = out.Write([]string{"feature", "slope", "intercept", "r2"}) // Error has it
	for i, s := range scales {
		_ = out.Write([]string{names[i], number(s.Slope), number(s.Intercept), strconv.FormatFloat(r2[i], 'f', 6, 64)})
	}
	out.Flush()
	return out.Error()
}

// Apply scales the features in place, one column by one map, and clips them to [−1.1, 1.1]. The
// results are float32 values.
func Apply(scales []Scale, x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, s := range scales {
			row[j] = float64(float32(max(-limit, min(float64(s.Slope*row[j])+s.Intercept, limit))))
		}
	}
}

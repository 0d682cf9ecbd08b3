package cloak

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
)

// Census is the data set of the heights.
const Census = "kung"

// Problem is a regression problem: N public inputs of d dimensions and N private
// outputs, in their unit.
type Problem struct {
	Inputs *mat.Dense // N×d
	Output []float64  // clipped to the interval
	Raw    []float64  // as they were read
	Prior  float64    // prior mean
	// Interval is the range to which outputs are clipped. Its width is the largest change of one
	// output, the sensitivity.
	Low, High, Width float64
	Clipped          int // how many outputs were outside
	// AsRead reports that errors are measured against outputs as they were read, and not against clipped ones.
	AsRead bool
	// Invalid is how many outputs have no value or none that is finite: each counts as the middle of the interval.
	Invalid int
	// Unit is the length in which the kernel's variance is v: as published the standard
	// deviation of the clipped outputs, which are private, otherwise a quarter of the interval.
	Unit float64

	Names Terms
	// Columns are public columns of the series that list the rows, which are
	// ordered by "x".
	Columns  map[string][]float64
	Dropped  int           // rows left out for want of a value
	Warnings []string      // warnings about the public inputs
	Notes    []string      // on settings that follow from the public inputs
	People   *table.People // the persons behind the rows; nil where one output is protected
	Kung     *readers.Kung // where the data are the census
}

// Terms is how a record speaks of a problem.
type Terms struct {
	Inputs  []string // names of the columns of [Problem.Inputs]
	Outputs string   // such as "heights"
	Public  string   // assumed to be public, in addition to membership
	Tuning  string   // hyperparameters outside the guarantee
	Unit    string   // of the outputs, with the space before it
	Suffix  string   // of metrics and columns in that unit
	Output  string   // column of the outputs
}

// LoadCensus reads the !Kung females and normalises their heights.
//
// As published (found in the authors' code, not in the paper): the interval is
// centred on the midpoint of the private heights, and the prior mean is the
// mean of the clipped ones. The authors also divide by the standard deviation,
// and multiply by it after predicting; as predictions are linear in the
// heights, this changes nothing and is left out. With public normalisation the
// interval starts at public_low_cm, and its middle is the prior mean.
func LoadCensus(folder string, x Inputs, h *Heights) (*Problem, error) {
	kung, err := readers.LoadKung(folder)
	if err != nil {
		return nil, err
	}
	return censusOf(kung, x, h), nil
}

func censusOf(kung *readers.Kung, x Inputs, h *Heights) *Problem {
	c := &Problem{
		Kung:    kung,
		Inputs:  InputsOf(kung, x),
		Columns: map[string][]float64{"x": kung.Age, "weight_kg": kung.Weight},
		Names: Terms{
			Inputs: []string{"age"}, Outputs: "heights", Public: "ages, weights",
			Tuning: "; the defaults and the sets A and B of Table 1 were found on these very data, which the guarantee does " +
				"not cover",
			Unit: " cm", Suffix: "_cm", Output: "height_cm",
		},
	}
	if x == AgeAndWeight {
		c.Names.Inputs = []string{"weight", "age"}
	}
	width := h.Sensitivity
	if h.Normalisation == Public {
		c.Clip(kung.Height, h.PublicLow, width)
		return c
	}
	c.Clip(kung.Height, (slices.Min(kung.Height)+slices.Max(kung.Height))/2-width/2, width)
	c.Prior = Mean(c.Output)
	c.Unit = stat.PopStdDev(c.Output, nil)
	return c
}

// Clip clips the outputs to the interval of that width from low, whose middle
// becomes the prior mean. One that is NaN counts as the middle, one that is infinite as well.
func (c *Problem) Clip(output []float64, low, width float64) {
	c.Low, c.High, c.Width = low, low+width, width
	c.Prior = low + width/2
	c.Unit = width / 4
	c.Raw = output
	c.Output = make([]float64, len(output))
	for i, y := range output {
		c.Output[i] = Clipped(y, c.Low, c.High)
		switch {
		case math.IsNaN(y) || math.IsInf(y, 0):
			c.Invalid++
		case c.Output[i] != y:
			c.Clipped++
		}
	}
}

// Clipped is an output as it is used: the nearest of the interval, whose middle stands for one that is not finite.
func Clipped(y, low, high float64) float64 {
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return low + (high-low)/2
	}
	return min(max(y, low), high)
}

// SortRows puts the rows into an order of their own, for a release: the order of a
// file may follow the outputs.
func (c *Problem) SortRows() {
	order := dataset.Order(c.Inputs, c.Raw)
	c.Inputs.Copy(learn.SelectRows(c.Inputs, order))
	c.Output, c.Raw, c.People = learn.Select(c.Output, order), learn.Select(c.Raw, order), People(c.People, order)
}

// Mean adds the values from the first to the last, and divides by their number.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// InputsOf returns the inputs of the census, (N×1) or (N×2) with the weight first.
func InputsOf(k *readers.Kung, x Inputs) *mat.Dense {
	n := len(k.Age)
	if x == Age {
		return mat.NewDense(n, 1, slices.Clone(k.Age))
	}
	both := mat.NewDense(n, 2, nil)
	for i := range n {
		both.SetRow(i, []float64{k.Weight[i], k.Age[i]})
	}
	return both
}

// SyntheticInputs are public inputs that no data set is needed for: 120 ages
// between 0 and 84 years, dense among the young and sparse among the old,
// 84·((i+½)/120)^{3/2}.
func SyntheticInputs() *mat.Dense {
	const n = 120
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 84*math.Pow((float64(i)+0.5)/n, 1.5))
	}
	return x
}

// Predict returns prior + C (y − prior) for the outputs of the training rows.
func (c *Problem) Predict(matrix *mat.Dense, train []int) []float64 {
	return c.PredictBy(&Linear{Matrix: matrix}, train)
}

// PredictBy is [Problem.Predict] by a map.
func (c *Problem) PredictBy(l *Linear, train []int) []float64 {
	y := make([]float64, len(train))
	for i, r := range train {
		y[i] = c.Output[r] - c.Prior
	}
	out := l.Times(y)
	for i := range out {
		out[i] += c.Prior
	}
	return out
}

// product is matrix·y.
func product(matrix *mat.Dense, y []float64) []float64 {
	var f mat.VecDense
	f.MulVec(matrix, mat.NewVecDense(len(y), y))
	return f.RawVector().Data
}

// ClippingWarnings warns of outputs that are invalid, and where many are clipped. The papers' trials clip some of the
// heights of the census: it is suspect where most are, of which the rest is hardly a regression problem.
func (c *Problem) ClippingWarnings() []string {
	var out []string
	if c.Invalid > 0 {
		out = append(out, fmt.Sprintf("%d of %d %s are missing or not finite: each counts as the middle of its range, also "+
			"where errors are measured", c.Invalid, len(c.Output), c.Names.Outputs))
	}
	share := table.MuchClipped
	if c.Kung != nil {
		share = .5
	}
	if warning := c.clipping().Warning(share); warning != "" {
		out = append(out, warning)
	}
	return out
}

// ClippingNote is how many outputs lie outside the interval.
func (c *Problem) ClippingNote() string { return c.clipping().String() }

func (c *Problem) clipping() table.Clipping {
	return table.Clipping{Outside: c.Clipped, Of: len(c.Output), Outputs: c.Names.Outputs, Low: c.Low, High: c.High,
		Unit: c.Names.Unit, AsRead: c.AsRead}
}

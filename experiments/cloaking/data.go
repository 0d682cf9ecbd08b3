package cloaking

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// problem is a regression problem: public inputs and private outputs. Lengths
// of outputs are in their unit, naming.unit.
type problem struct {
	inputs *mat.Dense // N×d
	output []float64  // clipped to the interval
	raw    []float64  // as they were read
	prior  float64    // prior mean
	// Interval is what the outputs are clipped to. Its width is the largest
	// change of one output, the sensitivity.
	low, high, width float64
	clipped          int // how many outputs were outside

	names naming
	// columns are public columns of the series that list the rows, which are
	// ordered by "x".
	columns  map[string][]float64
	dropped  int           // rows left out for want of a value
	warnings []string      // what is suspect about the public inputs
	kung     *dataset.Kung // where the data are the census
}

// naming is how a record speaks of a problem.
type naming struct {
	inputs  []string // the columns of problem.inputs
	outputs string   // such as "heights"
	public  string   // what is taken as public beside who is in the data
	tuning  string   // what the guarantee leaves out of the hyperparameters
	unit    string   // of the outputs, with the space before it
	suffix  string   // of metrics and columns in that unit
	output  string   // column of the outputs
	clipped string   // metric that counts clipped outputs
}

// loadProblem reads the data of the trial.
func loadProblem(t *experiment.Trial) (*problem, error) {
	if ownFile(t.Params) {
		return loadOwn(t)
	}
	return loadCensus(t.Dataset(dataKung), t.Params)
}

// loadCensus reads the !Kung females and normalises their heights.
//
// As published (found in the authors' code, not in the paper): the interval is
// centred on the midpoint of the private heights, and the prior mean is the
// mean of the clipped ones. The authors also divide by the standard deviation,
// and multiply by it after predicting; as predictions are linear in the
// heights, this changes nothing and is left out. With public normalisation the
// interval starts at public_low_cm, and its middle is the prior mean.
func loadCensus(folder string, p experiment.Params) (*problem, error) {
	kung, err := dataset.LoadKung(folder)
	if err != nil {
		return nil, err
	}
	return censusOf(kung, p), nil
}

func censusOf(kung *dataset.Kung, p experiment.Params) *problem {
	c := &problem{
		kung:    kung,
		inputs:  inputsOf(kung, p.Text("inputs")),
		columns: map[string][]float64{"x": kung.Age, "weight_kg": kung.Weight},
		names: naming{
			inputs: []string{inputsAge}, outputs: "heights", public: "ages, weights",
			tuning: "; the defaults and the sets A and B of Table 1 were found on these very data, which the guarantee does not cover",
			unit:   " cm", suffix: "_cm", output: "height_cm", clipped: clippedMetric.Name,
		},
	}
	if p.Text("inputs") == inputsAgeWeight {
		c.names.inputs = []string{"weight", "age"}
	}
	width := p.Float("sensitivity_cm")
	if p.Text("normalisation") == normalisationPublic {
		c.clip(kung.Height, p.Float("public_low_cm"), width)
		return c
	}
	c.clip(kung.Height, (slices.Min(kung.Height)+slices.Max(kung.Height))/2-width/2, width)
	c.prior = mean(c.output)
	return c
}

// clip clips the outputs to the interval of that width from low, whose middle
// becomes the prior mean.
func (c *problem) clip(output []float64, low, width float64) {
	c.low, c.high, c.width = low, low+width, width
	c.prior = low + width/2
	c.raw = output
	c.output = make([]float64, len(output))
	for i, y := range output {
		c.output[i] = min(max(y, c.low), c.high)
		if c.output[i] != y {
			c.clipped++
		}
	}
}

// sortRows brings the rows in an order of their own, for a release: the order of a
// file may follow the outputs.
func (c *problem) sortRows() {
	order := dataset.Order(c.inputs, c.raw)
	c.inputs.Copy(learn.SelectRows(c.inputs, order))
	c.output, c.raw = selected(c.output, order), selected(c.raw, order)
}

// selected returns the values at these places.
func selected(values []float64, order []int) []float64 {
	out := make([]float64, len(order))
	for i, row := range order {
		out[i] = values[row]
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func inputsOf(k *dataset.Kung, inputs string) *mat.Dense {
	n := len(k.Age)
	if inputs == inputsAge {
		return mat.NewDense(n, 1, slices.Clone(k.Age))
	}
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{k.Weight[i], k.Age[i]})
	}
	return x
}

// syntheticInputs are public inputs that no data set is needed for: 120 ages
// between 0 and 84 years, dense among the young and sparse among the old,
// 84·((i+½)/120)^{3/2}.
func syntheticInputs() *mat.Dense {
	const n = 120
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 84*math.Pow((float64(i)+0.5)/n, 1.5))
	}
	return x
}

// predict returns prior + C (y − prior) for the outputs of the training rows.
func (c *problem) predict(matrix *mat.Dense, train []int) []float64 {
	y := make([]float64, len(train))
	for i, r := range train {
		y[i] = c.output[r] - c.prior
	}
	p, _ := matrix.Dims()
	var f mat.VecDense
	f.MulVec(matrix, mat.NewVecDense(len(y), y))
	out := make([]float64, p)
	for i := range out {
		out[i] = c.prior + f.AtVec(i)
	}
	return out
}

// clippedMetric counts what the interval did to the heights, with noise or
// without.
var clippedMetric = experiment.Metric{Name: "clipped_heights", Doc: "number of heights outside the interval of length sensitivity_cm, which were clipped to it: predictions are made from the clipped heights, and errors are measured against them"}

// clippedOutputs is the same for a user's file.
var clippedOutputs = experiment.Metric{Name: "clipped_outputs", Doc: "csv: number of outputs outside [low, high], which were clipped to it: predictions are made from the clipped outputs, and errors are measured against them"}

// clippingWarnings says when what is left of the outputs is no regression
// problem any more.
func (c *problem) clippingWarnings() []string {
	if 2*c.clipped <= len(c.output) {
		return nil
	}
	return []string{"computed but suspect: " + c.clippingNote()}
}

// clippingNote says what the interval did to the outputs.
func (c *problem) clippingNote() string {
	return fmt.Sprintf("%d of %d %[3]s are outside [%.10g, %.10g]%s and were clipped; errors are measured against the clipped %[3]s", c.clipped, len(c.output), c.names.outputs, c.low, c.high, c.names.unit)
}

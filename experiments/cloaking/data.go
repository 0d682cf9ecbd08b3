package cloaking

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// census is the regression problem: public inputs and private heights.
type census struct {
	kung   *dataset.Kung
	inputs *mat.Dense // N×1 (age) or N×2 (weight, age)
	height []float64  // cm, clipped to the interval
	prior  float64    // prior mean, cm
	// Interval is what the heights are clipped to, cm.
	low, high float64
	clipped   int // how many heights were outside
}

// loadCensus reads the !Kung females and normalises their heights.
//
// As published (found in the authors' code, not in the paper): the interval is
// centred on the midpoint of the private heights, and the prior mean is the
// mean of the clipped ones. The authors also divide by the standard deviation,
// and multiply by it after predicting; as predictions are linear in the
// heights, this changes nothing and is left out. With public normalisation the
// interval starts at public_low_cm, and its middle is the prior mean.
func loadCensus(folder string, p experiment.Params) (*census, error) {
	kung, err := dataset.LoadKung(folder)
	if err != nil {
		return nil, err
	}
	c := &census{kung: kung, inputs: inputsOf(kung, p.Text("inputs"))}
	c.clip(p)
	return c, nil
}

func (c *census) clip(p experiment.Params) {
	width := p.Float("sensitivity_cm")
	public := p.Text("normalisation") == normalisationPublic
	if public {
		c.low = p.Float("public_low_cm")
	} else {
		c.low = (slices.Min(c.kung.Height)+slices.Max(c.kung.Height))/2 - width/2
	}
	c.high = c.low + width
	c.height = make([]float64, len(c.kung.Height))
	sum := 0.0
	for i, h := range c.kung.Height {
		c.height[i] = min(max(h, c.low), c.high)
		if c.height[i] != h {
			c.clipped++
		}
		sum += c.height[i]
	}
	if public {
		c.prior = c.low + width/2
	} else {
		c.prior = sum / float64(len(c.height))
	}
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

// predict returns prior + C (y − prior) for the heights of the training rows.
func (c *census) predict(matrix *mat.Dense, train []int) []float64 {
	y := make([]float64, len(train))
	for i, r := range train {
		y[i] = c.height[r] - c.prior
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

// clippingWarnings says when what is left of the heights is no regression
// problem any more.
func (c *census) clippingWarnings() []string {
	if 2*c.clipped <= len(c.height) {
		return nil
	}
	return []string{"computed but suspect: " + c.clippingNote()}
}

// clippingNote says what the interval did to the heights.
func (c *census) clippingNote() string {
	return fmt.Sprintf("%d of %d heights are outside [%.10g, %.10g] cm and were clipped; errors are measured against the clipped heights", c.clipped, len(c.height), c.low, c.high)
}

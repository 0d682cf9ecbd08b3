package ground

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Body is the fitted part of a model: a struct of numbers, texts and lists, with json tags.
type Body interface {
	// Check checks its members by the numbers of inputs and of classes, which are none of a regression.
	Check(c *model.Checker, inputs, classes int)
	// Evaluate predicts at the rows of x (P×d, in [-1, 1]): of a regression the mean of the output, in units of half its
	// public range (1×P), and of a classification the probability of each class (C×P).
	Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error)
}

// Spread is a [Body] of a regression that knows how far off it may be.
type Spread interface {
	// Variance returns that of the function at the rows of x (P), and that of an observation about it.
	Variance(ctx context.Context, e *engine.Engine, x *mat.Dense) (function []float64, observation float64, err error)
}

// File is a baseline that may be published.
type File[B Body] struct {
	Format string   `json:"format"`
	About  string   `json:"about"`
	Inputs []string `json:"inputs"` // d names of columns
	// Low and High are the public ranges of the inputs (d): u = 2 (x − low)/(high − low) − 1, clipped to [−1, 1].
	Low        []float64           `json:"low"`
	High       []float64           `json:"high"`
	Output     Output              `json:"output"`
	Parameters B                   `json:"parameters"`
	Privacy    *experiment.Privacy `json:"privacy"`

	task method.Task // of the format that is read
}

// Output is the predicted column: of a regression centre ± scale is its public range, and a classification has classes.
type Output struct {
	Name    string   `json:"name"`
	Centre  float64  `json:"centre"`
	Scale   float64  `json:"scale"`
	Classes []string `json:"classes,omitempty"`
}

// columns returns the names of the columns of predictions.
func columns(classes []string, spread bool) []string {
	switch {
	case classes != nil:
		return model.ClassColumns(classes)
	case spread:
		return model.RegressionColumns
	}
	return model.RegressionColumns[:1]
}

// Envelope implements [model.Payload].
func (f *File[B]) Envelope() model.Envelope {
	reserved := columns(f.Output.Classes, f.spread() != nil)
	if f.Output.Classes != nil {
		reserved = append(slices.Clone(reserved), model.LabelColumn)
	}
	return model.Envelope{Inputs: f.Inputs, Reserved: reserved, Output: f.Output.Name,
		Classes: f.Output.Classes, Middle: f.Output.Centre, Privacy: f.Privacy}
}

func (f *File[B]) spread() Spread {
	s, _ := any(f.Parameters).(Spread)
	return s
}

// Check implements [model.Payload].
func (f *File[B]) Check(c *model.Checker) {
	d := len(f.Inputs)
	c.Length("low", f.Low, d, "inputs")
	c.Length("high", f.High, d, "inputs")
	if c.Failed() {
		return
	}
	for i, low := range f.Low {
		field, high := fmt.Sprintf("low[%d]", i), f.High[i]
		c.Require(low < high, field, "it is %g, and the upper end %g", low, high)
		c.Require(!math.IsInf(high-low, 0), field, "it is %g, too far from the upper end %g for a number", low, high)
	}
	if f.Output.check(c, f.task); !c.Failed() {
		f.Parameters.Check(c, d, len(f.Output.Classes))
	}
}

// check checks the column that is predicted by a task.
func (o *Output) check(c *model.Checker, task method.Task) {
	if task == method.Regression {
		c.Positive("output.scale", o.Scale)
		c.Require(o.Classes == nil, "output.classes", "a file of this format has none: it predicts numbers")
		return
	}
	c.Require(o.Centre == 0, "output.centre", "it is %g; of classes it is 0", o.Centre)
	c.Require(o.Scale == 0, "output.scale", "it is %g; of classes it is 0", o.Scale)
	n := len(o.Classes)
	c.Require(n >= 2, "output.classes", "there are %d classes; at least two are needed", n)
	c.Names("output.classes", o.Classes, "a class")
}

// Predict implements [model.Payload].
func (f *File[B]) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	p := &model.Prediction{Columns: columns(f.Output.Classes, f.spread() != nil)}
	outside, numbers := 0, 0
	for x := range q.Chunks() {
		outside, numbers = outside+toBox(x, f.Low, f.High), numbers+len(x.RawMatrix().Data)
		values, err := f.Parameters.Evaluate(ctx, q.Engine, x)
		if err != nil {
			return nil, err
		}
		if f.Output.Classes != nil {
			f.addClasses(p, values)
		} else if err := f.addMeans(ctx, p, q.Engine, x, values[0]); err != nil {
			return nil, err
		}
	}
	p.Warnings = q.Engine.Warnings()
	p.WarnOfEnds(outside, numbers)
	return p, nil
}

// addClasses appends classes and their probabilities (C×P).
func (f *File[B]) addClasses(p *model.Prediction, probabilities [][]float64) {
	for i := range probabilities[0] {
		row := make([]float64, len(probabilities))
		for c := range probabilities {
			row[c] = probabilities[c][i]
		}
		p.Rows, p.Labels = append(p.Rows, row), append(p.Labels, f.Output.Classes[floats.MaxIdx(row)])
	}
}

// addMeans appends means (P), with intervals where there are any.
func (f *File[B]) addMeans(ctx context.Context, p *model.Prediction, e *engine.Engine, x *mat.Dense,
	means []float64) error {
	o := f.Output
	s := f.spread()
	if s == nil {
		for _, m := range means {
			p.Rows = append(p.Rows, []float64{o.Centre + o.Scale*m})
		}
		return nil
	}
	variance, noise, err := s.Variance(ctx, e, x)
	if err != nil {
		return err
	}
	for i, m := range means {
		p.Rows = append(p.Rows, model.RegressionRow(o.Centre+o.Scale*m, o.Scale*math.Sqrt(variance[i]),
			o.Scale*math.Sqrt(variance[i]+noise)))
	}
	return nil
}

// boxed returns a copy of x in [−1, 1], see [toBox].
func boxed(x *mat.Dense, low, high []float64) *mat.Dense {
	out := mat.DenseCopyOf(x)
	toBox(out, low, high)
	return out
}

// toBox brings the columns of x to [−1, 1] by their public ranges, in place, and returns the number of values beyond
// these, which become ends; NaN stays.
func toBox(x *mat.Dense, low, high []float64) (outside int) {
	n, d := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j := range d {
			if row[j] < low[j] || row[j] > high[j] {
				outside++
			}
			middle, half := low[j]+(high[j]-low[j])/2, (high[j]-low[j])/2
			if v := (row[j] - middle) / half; !math.IsNaN(v) {
				row[j] = max(-1, min(1, v))
			}
		}
	}
	return outside
}

// Format makes run predict read the files of a baseline, which are of a task.
func Format[B Body](version string, task method.Task) model.Format {
	return model.Format{Versions: []string{version}, New: func() model.Payload { return &File[B]{task: task} }}
}

// Softmax makes scores (C×P) probabilities, in place.
func Softmax(scores [][]float64) {
	column := make([]float64, len(scores))
	for i := range scores[0] {
		for c := range scores {
			column[c] = scores[c][i]
		}
		all := floats.LogSumExp(column)
		for c := range scores {
			scores[c][i] = math.Exp(column[c] - all)
		}
	}
}

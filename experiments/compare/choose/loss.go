package choose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/method"
	"privkern/experiments/model"
)

// bounded is a loss of a prediction, in [0, 1].
type bounded struct {
	measure string // the metric of comparisons that it stands for
	task    method.Task
	words   string // for readers of a release
	// of returns the loss of the prediction of one row, whose output or number of the class is value.
	of func(t *truths, value float64, p *model.Prediction) float64
}

// leastProbability is that at which the log loss is cut off.
const leastProbability = 0.01

// losses are those of the metrics that have one, the first of each task by default. An error of a quarter of the public
// range of the output is half the worst of a rule that always predicts the middle. Larger ones count as no more, so
// that smaller ones are told apart: methods that are worth a choice have them at most rows.
var losses = []bounded{
	{"rmse", method.Regression, "squared error, in units of a quarter of the public range of the output and at most 1",
		func(t *truths, value float64, p *model.Prediction) float64 {
			return min(1, t.miss(value, p)*t.miss(value, p))
		}},
	{"mae", method.Regression, "absolute error, in units of a quarter of the public range of the output and at most 1",
		func(t *truths, value float64, p *model.Prediction) float64 { return min(1, math.Abs(t.miss(value, p))) }},
	{"accuracy", method.Classification, "number of wrong classes",
		func(t *truths, value float64, p *model.Prediction) float64 {
			if p.Labels[0] == t.classes[int(value)] {
				return 0
			}
			return 1
		}},
	{"log_loss", method.Classification, fmt.Sprintf("logarithmic loss, of probabilities of %g and more, over its "+
		"largest value", leastProbability), func(t *truths, value float64, p *model.Prediction) float64 {
		class := t.classes[int(value)]
		probability := p.Rows[0][slices.Index(p.Columns, model.ClassColumns([]string{class})[0])]
		return math.Log(max(probability, leastProbability)) / math.Log(leastProbability)
	}},
}

// lossOf returns the loss that stands for a metric, the first of the task for an empty name.
func lossOf(task method.Task, measure string) (*bounded, error) {
	var names []string
	for i, l := range losses {
		if l.task == task && (l.measure == measure || measure == "") {
			return &losses[i], nil
		}
		if l.task == task {
			names = append(names, l.measure)
		}
	}
	return nil, fmt.Errorf("%s is no sum over rows of losses that are bounded, by which a private choice could be made: "+
		"use %s", measure, strings.Join(names, " or "))
}

// truths are the rows that are held out.
type truths struct {
	inputs  *mat.Dense // P×d; of an empty place zeros
	values  []float64  // P, outputs or numbers of classes; NaN of an empty place
	scale   float64    // half the public range of the output, of a regression
	classes []string   // of a classification
}

// miss is the error of a mean, in units of a quarter of the public range of the output.
func (t *truths) miss(value float64, p *model.Prediction) float64 {
	return (value - p.Rows[0][0]) / (t.scale / 2)
}

// unit is 1 in the whole numbers that losses are added up in.
const unit = 1 << 24

// sum adds up the losses of a candidate at all places, in units of 1/unit. Of each row it adds at most unit, by that
// row and the model alone: each is predicted on its own, since a product of matrices may round a row by its place among
// others, and a row of which the model has no prediction, as of an input beyond all numbers, has the loss 1, since an
// error would tell of it. A model that predicts nothing is found at a row of zeros, which is public.
func (t *truths) sum(ctx context.Context, l *bounded, q *model.Query) (int64, error) {
	_, d := t.inputs.Dims()
	q.X = mat.NewDense(1, d, nil)
	if _, err := q.Files[0].Payload.Predict(ctx, q); err != nil {
		return 0, err
	}
	total := int64(0)
	for row, value := range t.values {
		if math.IsNaN(value) {
			continue
		}
		q.X.SetRow(0, t.inputs.RawRowView(row))
		loss := 1.0
		prediction, err := q.Files[0].Payload.Predict(ctx, q)
		if stopped := ctx.Err(); stopped != nil {
			return 0, stopped
		}
		if err == nil {
			loss = l.of(t, value, prediction)
		}
		if !(loss <= 1) { // NaN, too
			loss = 1
		}
		total += int64(max(0, loss) * unit)
	}
	return total, nil
}

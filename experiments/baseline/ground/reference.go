package ground

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Evaluator predicts as a [Body] does.
type Evaluator interface {
	Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error)
}

// Reference declares a method without privacy, to read baselines by, with the settings S. It has no
// noise and no release.
type Reference[S any] struct {
	Name            string
	Version         int
	Summary, Source string
	Data            func(*S) *Data
	// Fit learns of rows, inputs and outputs in [−1, 1].
	Fit    func(ctx context.Context, p *Problem, rows *method.Part) (Evaluator, error)
	Advice method.Advice
}

// ReferenceRegression returns the definition of a reference of regressions.
func ReferenceRegression[S any](r Reference[S], output func(*S) *method.OutputRange) *method.Definition[S,
	RegressionMetrics, *Unprotected] {
	m := method.Method[S, RegressionMetrics, *Unprotected]{Task: method.Regression, Simulate: simulateValues}
	m.Settings = func(s *S) method.Settings { return r.Data(s).settings(output(s)) }
	m.Metrics = func(_ *Unprotected, s *method.Scores) RegressionMetrics { return regressionMetrics(s) }
	return reference(r, m)
}

// ReferenceClassification returns the definition of a reference of classifications.
func ReferenceClassification[S any](r Reference[S]) *method.Definition[S, method.ClassificationScores, *Unprotected] {
	m := method.Method[S, method.ClassificationScores, *Unprotected]{Task: method.Classification,
		Simulate: simulateClasses}
	m.Settings = func(s *S) method.Settings { return r.Data(s).settings(nil) }
	m.Metrics = func(_ *Unprotected, s *method.Scores) method.ClassificationScores { return s.Classification }
	return reference(r, m)
}

// reference completes the declaration of a method.
func reference[S, M any](r Reference[S], m method.Method[S, M, *Unprotected]) *method.Definition[S, M, *Unprotected] {
	task := m.Task
	m.Declaration = experiment.Declaration[*S, M]{
		Name: r.Name, Version: r.Version, Summary: r.Summary, Source: r.Source,
		Check: func(s *S) error {
			if d := r.Data(s); !d.Noiseless() {
				return fmt.Errorf("epsilon = %g: this method is without privacy, for reference; use epsilon=inf", d.Epsilon)
			}
			return r.Data(s).check("")
		},
		Memory:  func(s *S) int64 { return r.Data(s).memory(process+squares, heldReference) },
		Instead: "it is without privacy; other methods of baseline have releases",
	}
	m.Advice = r.Advice
	m.Taken = func(name string, classes []string) bool { return slices.Contains(taken(task, classes), name) }
	m.Prepare = func(_ context.Context, t *experiment.Trial, s *S, rows *method.Rows) (*Unprotected, error) {
		u := &Unprotected{fit: r.Fit, Problem: &Problem{Data: r.Data(s), Trial: t, Engine: engine.Of(t.Engine), Rows: rows,
			Dims: len(rows.Inputs), Classes: len(rows.Classes), Slots: rows.Slots}}
		var err error
		u.low, u.high, err = u.ends(task)
		return u, err
	}
	return method.Of(m)
}

// Unprotected is a method without privacy that is prepared for rows.
type Unprotected struct {
	*Problem
	low, high []float64 // d, the range of the inputs
	fit       func(ctx context.Context, p *Problem, rows *method.Part) (Evaluator, error)
}

// Fit implements [method.Learner]: there is one fit for all of the sources of noise.
func (u *Unprotected) Fit(ctx context.Context, rows *method.Part, noise ...*rand.Rand) (method.Fit, error) {
	if n, _ := rows.X.Dims(); n < 2 {
		return nil, errors.New("there is one training row: a choice among methods needs two or more")
	}
	model, err := u.fit(ctx, u.Problem, scaled(rows, u.low, u.high))
	return &unprotectedFit{u, model, len(noise)}, err
}

// Guarantee implements [method.Learner]: there is none.
func (u *Unprotected) Guarantee() *experiment.Privacy { return nil }

type unprotectedFit struct {
	*Unprotected
	model Evaluator
	times int
}

// Predict implements [method.Fit].
func (f *unprotectedFit) Predict(ctx context.Context, x *mat.Dense) ([]method.Prediction, error) {
	values, err := f.model.Evaluate(ctx, f.Engine, boxed(x, f.low, f.high))
	if err != nil {
		return nil, err
	}
	p := method.Prediction{Mean: values[0]}
	if f.Classes > 0 {
		p = method.Prediction{Scores: values, Probabilities: values}
	}
	return slices.Repeat([]method.Prediction{p}, f.times), nil
}

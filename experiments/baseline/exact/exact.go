// Package exact has the references without privacy, next to which baselines are read: of several methods, the one with
// the least loss on rows that were held out of the training rows. Of more than 100,000 training rows they learn from a
// sample of that size, and the Gaussian process from 2,000 of them.
package exact

import (
	"context"
	_ "embed"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed exact.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of baseline/exact-regression.
type Settings struct {
	Data
	method.OutputRange
}

// Data are those of baseline/exact-classification, and what both have in common.
type Data struct {
	ground.Data `default:"epsilon: inf" also:"epsilon: it must be inf, because there is no privacy"`
}

const advice = "use inputs that tell more about the output, or more rows"

// Regression is baseline/exact-regression.
var Regression = ground.ReferenceRegression(ground.Reference[Settings]{
	Name: "baseline/exact-regression", Version: 2,
	Summary: "without privacy, for reference: the best of a Gaussian process, ridge regression and boosted trees",
	Source: "Rasmussen and Williams 2006, Eqs. 2.25 and 5.8; Hoerl and Kennard 1970; Friedman 2001; each judged by " +
		"three folds of the training rows; 100,000 of them at most are learned from, and 2,000 by the Gaussian process",
	Data: func(s *Settings) *ground.Data { return &s.Data.Data },
	Fit: func(ctx context.Context, p *ground.Problem, part *method.Part) (ground.Evaluator, error) {
		r := drawn(&rows{x: part.X, y: part.Y}, mostRows)
		process, err := newProcess(ctx, p.Engine, r)
		if err != nil {
			return nil, err
		}
		return choose(ctx, r, process, ridge{}, boosted{few}, boosted{many})
	},
	Advice: method.Advice{Settings: advice},
}, func(s *Settings) *method.OutputRange { return &s.OutputRange })

// Classification is baseline/exact-classification.
var Classification = ground.ReferenceClassification(ground.Reference[Data]{
	Name: "baseline/exact-classification", Version: 2,
	Summary: "without privacy, for reference: the best of a Gaussian process, logistic regression and boosted trees",
	Source: "Rasmussen and Williams 2006, Section 6.5; multinomial logistic regression; Friedman 2001; each judged by " +
		"three folds of the training rows; 100,000 of them at most are learned from, and 2,000 by the Gaussian process",
	Data: func(s *Data) *ground.Data { return &s.Data },
	Fit: func(ctx context.Context, p *ground.Problem, part *method.Part) (ground.Evaluator, error) {
		r := drawn(&rows{x: part.X, labels: part.Labels, classes: p.Classes}, mostRows)
		process, err := newProcess(ctx, p.Engine, r)
		if err != nil {
			return nil, err
		}
		return choose(ctx, r, process, logistic{}, boosted{few}, boosted{many})
	},
	Advice: method.Advice{Settings: advice},
})

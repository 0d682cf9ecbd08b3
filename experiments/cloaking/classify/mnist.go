package classify

import (
	"context"
	"fmt"

	"privkern/experiments/cloaking/internal/digits"
	"privkern/runner/experiment"
)

const dataMNIST = "mnist"

// digitsMemory is the memory for loading the digits, in bytes.
const digitsMemory = 70 << 20

// Digits is the classification of images of low and of high digits, Fig. 5.
var Digits = experiment.Of(experiment.Declaration[*digitsSettings, digitsMetrics]{
	Name:     "cloaking/mnist",
	Version:  4,
	Summary:  "digits 0-4 against 5-9, classified with differential privacy through inducing inputs",
	Source:   "Smith, Álvarez and Lawrence 2019, Section 5.6, Fig. 5",
	Datasets: func(*digitsSettings) []string { return []string{dataMNIST} },
	Check:    func(s *digitsSettings) error { return checkClassifier(&s.ClassifierSettings, s.Method, s.Train) },
	Memory:   func(s *digitsSettings) int64 { return digitsMemory + laplaceMemory(s.Method, s.Train) },
	Run:      runDigits,
})

func runDigits(
	ctx context.Context, t *experiment.Trial, s *digitsSettings,
) (*experiment.Outcome[digitsMetrics], error) {
	images, err := digits.Load(t.Dataset(dataMNIST))
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t, &s.ClassifierSettings, s.Method)
	if err != nil {
		return nil, err
	}
	train, labels := digits.Draw(&images.Train, s.Train, t.Stream("training images"))
	test, truth := digits.Draw(&images.Test, s.Test, t.Stream("test images"))
	if share := positiveShare(labels); share == 0 || share == 1 {
		return nil, fmt.Errorf("all %d training images are of one class: use more", len(labels))
	}
	fit, err := c.predict(ctx, train, labels, test)
	if err != nil {
		return nil, err
	}
	high := positiveShare(truth)
	return &experiment.Outcome[digitsMetrics]{
		Metrics: digitsMetrics{
			accuracyMetrics: c.accuracyMetrics(fit, truth), Chance: max(high, 1-high), fitMetrics: c.fitMetrics(fit),
		},
		Privacy:  c.privacy("whether a digit is above 4", nil),
		Warnings: c.warnings(fit),
	}, nil
}

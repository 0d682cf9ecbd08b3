package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

const (
	dataMNIST = "mnist"
	// digitSide is the side of the down-sampled images (Section 5.6).
	digitSide = 15
)

func digits() *experiment.Experiment {
	metrics := []experiment.Metric{accuracyMetric, accuracySDMetric, accuracySEMetric,
		{Name: "chance", Doc: "share of the test images in the larger of the two classes"},
		stepsMetric, fitRankMetric, fitGapMetric}
	params := classificationParams(672, "grey levels", 25,
		count("train", 256, 2, maxPoints, "training images, drawn from the training file"),
		count("test", 100, 2, dataset.MNISTTest, "test images, drawn from the test file"),
	)
	params = experiment.When(params, []string{"probability"},
		experiment.Never("an accuracy follows from the sign of the posterior mean alone"))
	for i := range params {
		switch params[i].Name {
		case "method":
			params[i].Default = methodSparse
		case "inducing":
			params[i].Default = 15
		}
	}
	return &experiment.Experiment{
		Name:     "cloaking/mnist",
		Version:  2,
		Summary:  "digits 0-4 against 5-9, classified with differential privacy through inducing inputs",
		Source:   "Smith, Álvarez and Lawrence 2019, Section 5.6, Fig. 5",
		Params:   params,
		Metrics:  metrics,
		Datasets: func(experiment.Params) []string { return []string{dataMNIST} },
		Check:    func(p experiment.Params) error { return checkClassification(p, p.Int("train")) },
		Memory:   func(p experiment.Params) int64 { return digitsMemory + laplaceMemory(p, p.Int("train")) },
		Run:      runDigits,
	}
}

func runDigits(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	images, err := mnistOnce(t.Dataset(dataMNIST))
	if err != nil {
		return nil, err
	}
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	train, labels := drawDigits(&images.Train, t.Params.Int("train"), t.Stream("training images"))
	test, truth := drawDigits(&images.Test, t.Params.Int("test"), t.Stream("test images"))
	if share := positiveShare(labels); share == 0 || share == 1 {
		return nil, fmt.Errorf("all %d training images are of one class: use more", len(labels))
	}
	fit, err := c.predict(ctx, train, labels, test, "")
	if err != nil {
		return nil, err
	}
	metrics := c.accuracyMetrics(fit, truth)
	high := positiveShare(truth)
	metrics["chance"] = max(high, 1-high)
	return &experiment.Result{
		Metrics:  metrics,
		Privacy:  c.privacy("whether a digit is above 4"),
		Warnings: c.warnings(fit),
	}, nil
}

// loadedMNIST keeps the images for the next trial of the process: reading them
// takes longer than a trial.
var loadedMNIST struct {
	sync.Mutex
	folder string
	images *dataset.MNIST
}

func mnistOnce(folder string) (*dataset.MNIST, error) {
	loadedMNIST.Lock()
	defer loadedMNIST.Unlock()
	if loadedMNIST.images == nil || loadedMNIST.folder != folder {
		images, err := dataset.LoadMNIST(folder)
		if err != nil {
			return nil, err
		}
		loadedMNIST.folder, loadedMNIST.images = folder, images
	}
	return loadedMNIST.images, nil
}

// drawDigits draws n different images, down-sampled (n×225, grey levels from 0
// to 255), and their classes: −1 for the digits 0 to 4, +1 for 5 to 9.
func drawDigits(images *dataset.Images, n int, rng *rand.Rand) (inputs *mat.Dense, labels []float64) {
	inputs, labels = mat.NewDense(n, digitSide*digitSide, nil), make([]float64, n)
	for i, row := range rng.Perm(images.Len())[:n] {
		downSample(images.Image(row), images.Rows, images.Cols, inputs.RawRowView(i))
		labels[i] = -1
		if images.Labels[row] >= 5 {
			labels[i] = 1
		}
	}
	return inputs, labels
}

// downSample averages an image over the areas of digitSide×digitSide equal
// rectangles; pixels that lie in two of them count for each by their share.
func downSample(pixels []byte, rows, cols int, out []float64) {
	clear(out)
	for i := range rows {
		for j := range cols {
			v := float64(pixels[i*cols+j])
			if v == 0 {
				continue
			}
			for _, a := range shares(i, rows) {
				for _, b := range shares(j, cols) {
					out[a.index*digitSide+b.index] += v * a.share * b.share
				}
			}
		}
	}
}

// share is the part of a rectangle's side that a pixel covers.
type share struct {
	index int
	share float64
}

// shares returns the rectangles that pixel i of n lies in along one side. n is
// at least digitSide, so that there are at most two.
func shares(i, n int) []share {
	side := float64(n) / digitSide
	first := min(int(float64(i)/side), digitSide-1)
	edge := float64(first+1) * side
	if float64(i+1) <= edge || first == digitSide-1 {
		return []share{{first, 1 / side}}
	}
	return []share{{first, (edge - float64(i)) / side}, {first + 1, (float64(i+1) - edge) / side}}
}

// positiveShare is the share of positive labels.
func positiveShare(labels []float64) float64 {
	n := 0
	for _, y := range labels {
		if y > 0 {
			n++
		}
	}
	return float64(n) / float64(len(labels))
}

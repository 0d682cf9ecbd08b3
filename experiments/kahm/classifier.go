package kahm

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

const (
	dataMNIST = "mnist"
	digits    = 10
	pixels    = 28 * 28
)

func classifier() *experiment.Experiment {
	params := []experiment.Param{
		choice("dataset", dataMNIST, "data set", dataMNIST),
		count("train", dataset.MNISTTrain, 1, dataset.MNISTTrain, "training images: the first ones of the file"),
		count("test", dataset.MNISTTest, 1, dataset.MNISTTest, "test images: the first ones of the file"),
		choice("data", dataOriginal, "what the machines model: the original samples (Definition 7), samples with noise (Definition 12), or samples fabricated from those (Definition 15)", dataOriginal, dataNoisy, dataFabricated),
	}
	params = append(params, mechanismFor("inf")...)
	params = append(params, machineParams(20)...)
	params = append(params, pipelineParams()...)
	params = append(params, scoreParams()...)
	return &experiment.Experiment{
		Name:     "kahm/classifier",
		Version:  2,
		Summary:  "digits classified by the nearest kernel affine hull machine, and what the distances tell of membership",
		Source:   "Kumar, Moser and Fischer, Definitions 7, 12 and 15, Section 6.2.1, Table 5, Fig. 13",
		Params:   params,
		Metrics:  classifierMetrics,
		Datasets: func(experiment.Params) []string { return []string{dataMNIST} },
		Check:    checkClassifier,
		Memory:   digitMemory,
		Run: func(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
			d, err := mnist(t)
			if err != nil {
				return nil, err
			}
			for c, s := range d.train {
				if s.samples.IsEmpty() {
					return nil, fmt.Errorf("class %d has no sample among the first %d training images: use more", c, t.Params.Int("train"))
				}
			}
			return runClassifier(ctx, t, d)
		},
	}
}

func checkClassifier(p experiment.Params) error {
	if p.Flag("score") && p.Int("test") < 2 {
		return errors.New("test = 1: the membership-inference score compares densities; use more test images, or score=false")
	}
	return errors.Join(checkColumns(p, pixels), checkPipeline(p))
}

// mnist returns the images of a trial, pixels in [0, 1]. A class may be empty.
func mnist(t *experiment.Trial) (*labelled, error) {
	images, err := dataset.LoadMNIST(t.Dataset(dataMNIST))
	if err != nil {
		return nil, err
	}
	train, test := t.Params.Int("train"), t.Params.Int("test")
	rows := make([][]int, digits)
	for i, l := range images.Train.Labels[:train] {
		rows[l] = append(rows[l], i)
	}
	d := &labelled{classes: digits, unit: "one pixel (from 0 to 1) of one training image", trainPoints: train}
	for c := range rows {
		d.train = append(d.train, source{class: c, samples: images.Train.Matrix(rows[c])})
	}
	all := make([]int, test)
	d.testLabels = make([]int, test)
	for i := range all {
		all[i], d.testLabels[i] = i, int(images.Test.Labels[i])
	}
	d.test = images.Test.Matrix(all)
	return d, nil
}

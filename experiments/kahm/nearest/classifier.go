package nearest

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

const (
	digits = 10
	pixels = 28 * 28
)

// Classifier returns the experiment kahm/classifier.
var Classifier = experiment.Of(experiment.Declaration[*ClassifierSettings, TrialMetrics]{
	Name:    "kahm/classifier",
	Version: 4,
	Summary: "digits, or your own rows, classified by the nearest kernel affine hull machine; what distances reveal of " +
		"membership; fabricated rows and classifiers that can be released",
	Source:       "Kumar, Moser and Fischer, Definitions 7, 12 and 15, Section 6.2.1, Table 5, Fig. 13",
	Datasets:     func(s *ClassifierSettings) []string { return []string{s.Dataset} },
	Tables:       func(s *ClassifierSettings) []experiment.InputTable { return s.Spec(s.Dataset).Tables() },
	Check:        checkClassifier,
	Memory:       func(s *ClassifierSettings) int64 { return memory(&s.Images, &s.Pipeline) },
	CountsShared: true,
	Rules: []experiment.Rule[*ClassifierSettings]{wide.VariantRule(
		func(s *ClassifierSettings) (*wide.Data, *wide.Pipeline) { return &s.Data, &s.Pipeline })},
	Run: func(ctx context.Context, t *experiment.Trial, s *ClassifierSettings,
	) (*experiment.Outcome[TrialMetrics], error) {
		if s.isOwn() {
			return runOwn(ctx, t, s)
		}
		return runDigits(ctx, t, s)
	},
	CheckRelease: checkRelease,
	Forms:        func(s *ClassifierSettings) []experiment.Form { return s.publishing().Forms() },
	Written:      experiment.FormModel,
	Release:      release.Planned(plan),
	CheckExport:  checkExport,
	Export: func(ctx context.Context, t *experiment.Trial, s *ClassifierSettings) (*experiment.Release, error) {
		return s.publishing().Export(ctx, t)
	},
})

// checkClassifier refuses settings that no pipeline of 784 columns has, and fewer test
// points than an estimate of a density needs.
func checkClassifier(s *ClassifierSettings) error {
	if s.isOwn() {
		return errors.Join(checkOwn(&s.Images, &s.Table, &s.Pipeline, ""), s.checkMembership())
	}
	if err := s.check(); err != nil {
		return err
	}
	if s.Score.Score && s.Test < 2 {
		return errors.New("test = 1: the membership-inference score compares densities; use more test images, " +
			"or score=false")
	}
	return s.CheckColumns(pixels)
}

// runDigits evaluates a classifier of the digits.
func runDigits(ctx context.Context, t *experiment.Trial, s *ClassifierSettings,
) (*experiment.Outcome[TrialMetrics], error) {
	d, err := s.read(t)
	if err != nil {
		return nil, err
	}
	for c, of := range d.train {
		if of.Samples.IsEmpty() {
			return nil, fmt.Errorf("class %d has no sample among the first %d training images: use more", c, s.Train)
		}
	}
	r, err := evaluate(ctx, t, s.Data, &s.Pipeline, &s.Score, d)
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[TrialMetrics]{Metrics: TrialMetrics{ClassifierMetrics: r.ClassifierMetrics},
		Series: r.series, Privacy: r.privacy, Warnings: r.warnings}, nil
}

// read returns the images of a trial, pixels in [0, 1]. A class may be empty.
func (s *Images) read(t *experiment.Trial) (*classData, error) {
	images, err := readers.LoadMNIST(t.Dataset(s.Dataset))
	if err != nil {
		return nil, err
	}
	rows := make([][]int, digits)
	for i, l := range images.Train.Labels[:s.Train] {
		rows[l] = append(rows[l], i)
	}
	d := &classData{classes: digits, privacy: entry("one pixel (from 0 to 1) of one training image"), trainPoints: s.Train}
	for c := range rows {
		d.train = append(d.train, wide.Source{Class: c, Samples: s.Pixels.scaled(images.Train.Matrix(rows[c]))})
	}
	all := make([]int, s.Test)
	d.testLabels = make([]int, s.Test)
	for i := range all {
		all[i], d.testLabels[i] = i, int(images.Test.Labels[i])
	}
	d.test = s.Pixels.scaled(images.Test.Matrix(all))
	return d, nil
}

// memory estimates the bytes that a trial of these settings takes.
func memory(s *Images, p *wide.Pipeline) int64 {
	if s.isOwn() {
		return ownMemory(s.Dataset, p)
	}
	return s.memory()
}

// memory estimates the bytes that machines of the digits take: for a training image
// the bounds, coordinates and weights of its machine and the image itself, for a test
// image its float32 and float64 coordinates. With n = 20 and 5 layers 235, 530 and
// 924 MiB were measured for 2,000, 6,000 and 12,000 training images with 1,000 test
// images, 304 MiB for 2,000 with 4,000, and less than 4 GiB for all; shared among
// parties 220 MiB for 2,000 with 1,000.
func (s *Images) memory() int64 {
	const image = pixels * 8
	return process + 20<<20 + int64(s.Train)*image*25/2 + int64(s.Test)*image*15/4
}

// process bounds the bytes that any trial takes.
const process = 100 << 20

package nearest

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

const (
	dataFreiburg         = "freiburg"
	dataFreiburgFeatures = "freiburg-features"
)

// Freiburg returns the experiment kahm/freiburg.
var Freiburg = experiment.Of(experiment.Declaration[*FreiburgSettings, FreiburgMetrics]{
	Name:     "kahm/freiburg",
	Version:  4,
	Summary:  "groceries classified by the nearest machine, from features of their images that the user supplies",
	Source:   "Kumar, Moser and Fischer, Definitions 7, 8, 12 and 15, Sections 6.1 and 6.2.2, Tables 3, 4 and 6",
	Datasets: func(*FreiburgSettings) []string { return []string{dataFreiburg, dataFreiburgFeatures} },
	Check:    func(s *FreiburgSettings) error { return s.Pipeline.Check() },
	// The user's features have as many columns as they have.
	Memory:       func(*FreiburgSettings) int64 { return 0 },
	CountsShared: true,
	Rules: []experiment.Rule[*FreiburgSettings]{wide.VariantRule(
		func(s *FreiburgSettings) (*wide.Data, *wide.Pipeline) { return &s.Data, &s.Pipeline })},
	Run: runFreiburg,
})

// runFreiburg evaluates a classifier of the user's features, which are scaled by the
// range of the training images.
func runFreiburg(ctx context.Context, t *experiment.Trial, s *FreiburgSettings,
) (*experiment.Outcome[FreiburgMetrics], error) {
	images, err := readers.LoadFreiburg(t.Dataset(dataFreiburg), t.Dataset(dataFreiburgFeatures), s.Split-1)
	if err != nil {
		return nil, err
	}
	d, clipped, err := groceries(images, s.N)
	if err != nil {
		return nil, fmt.Errorf("split %d: %w", s.Split, err)
	}
	r, err := evaluate(ctx, t, s.Data, &s.Pipeline, &s.Score, d)
	if err != nil {
		return nil, err
	}
	if r.privacy != nil {
		_, p := d.test.Dims()
		r.privacy.Notes = append(r.privacy.Notes,
			fmt.Sprintf("an image is a row of %d features, and a change of the image may change all of them", p))
		r.privacy.Refute("the range that scales each feature is computed from the private training images " +
			"without noise")
	}
	return &experiment.Outcome[FreiburgMetrics]{
		Metrics: FreiburgMetrics{AccuracyPercent: 100 * r.Accuracy, ClassifierMetrics: r.ClassifierMetrics,
			MatchingMetrics: r.MatchingMetrics, ClippedFraction: clipped},
		Series: r.series, Privacy: r.privacy, Warnings: r.warnings,
	}, nil
}

// groceries scales the features of both parts in place and divides the training
// images by class. dim is the subspace dimension of their machines; clipped is the
// share of clipped test features.
func groceries(images *readers.Freiburg, dim int) (d *classData, clipped float64, err error) {
	n, columns := images.Train.Features.Dims()
	if dim > columns {
		return nil, 0, fmt.Errorf("n = %d, but the images have only %d features: use an n of at most %[2]d", dim, columns)
	}
	clipped = scaleToTraining(images.Train.Features, images.Test.Features)
	d = &classData{
		classes: len(images.Classes), test: images.Test.Features, testLabels: images.Test.Labels, trainPoints: n,
		matching: true,
		privacy:  entry("one scaled feature (from -1 to 1) of one training image"),
	}
	rows := make([][]int, d.classes)
	for i, l := range images.Train.Labels {
		rows[l] = append(rows[l], i)
	}
	for c, name := range images.Classes {
		switch {
		case len(rows[c]) == 0:
			return nil, 0, fmt.Errorf("class %d (%s) has no training image: a machine needs at least one; use the official "+
				"lists, which have some of every class", c, name)
		case !slices.Contains(d.testLabels, c):
			return nil, 0, fmt.Errorf("class %d (%s) has no test image, so it has no ROC curve; use the official lists, "+
				"which have some of every class", c, name)
		}
		d.train = append(d.train, wide.Source{Class: c, Samples: learn.SelectRows(images.Train.Features, rows[c])})
	}
	return d, clipped, nil
}

// scaleToTraining maps every column linearly so that the training values run
// from −1 to 1, and returns the share of test values that were clipped to that
// range. A column that is constant in training becomes 0 in both parts: it
// distinguishes nothing that was seen.
//
// The paper scales the features to values between −1 and 1 and does not say from
// which images. Ours takes the range of the training images, because that of
// all images would let the test images choose the classifier. Test values are
// clipped, because otherwise a single extreme value would carry an image away from
// all training images, which the membership-inference score would take for a leak.
func scaleToTraining(train, test *mat.Dense) (clipped float64) {
	n, p := train.Dims()
	q, _ := test.Dims()
	low, high := slices.Clone(train.RawRowView(0)), slices.Clone(train.RawRowView(0))
	for i := range n {
		for j, v := range train.RawRowView(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	scale := func(row []float64) (outside int) {
		for j, v := range row {
			// Halves first: the range itself may overflow.
			middle, half := low[j]/2+high[j]/2, high[j]/2-low[j]/2
			if half == 0 {
				row[j] = 0
				continue
			}
			if v < low[j] || v > high[j] {
				outside++
			}
			// The clamp also removes rounding errors beyond an end.
			row[j] = max(-1, min(1, (v-middle)/half))
		}
		return outside
	}
	for i := range n {
		scale(train.RawRowView(i))
	}
	outside := 0
	for i := range q {
		outside += scale(test.RawRowView(i))
	}
	return float64(outside) / float64(q) / float64(p)
}

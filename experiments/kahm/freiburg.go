package kahm

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

const (
	dataFreiburg         = "freiburg"
	dataFreiburgFeatures = "freiburg-features"
)

func freiburg() *experiment.Experiment {
	params := []experiment.Param{
		count("split", 1, 1, dataset.FreiburgSplits, "official train-test split, numbered as in the paper: split 1 is train0.txt and test0.txt"),
		choice("data", dataOriginal, "what the machines model: the original features (Definition 7), features with noise (Definition 12), or features fabricated from those (Definition 15)", dataOriginal, dataNoisy, dataFabricated),
	}
	params = append(params, scaledMechanism("d is in units of a scaled feature, which runs from -1 to 1")...)
	params = append(params, machineParams(20)...)
	params = append(params, pipelineParams()...)
	params = append(params, scoreParams()...)
	metrics := []experiment.Metric{{Name: "accuracy_percent", Unit: "%", Doc: "accuracy in per cent, as Table 3 has it"}}
	metrics = append(append(metrics, classifierMetrics...), matchingMetrics...)
	metrics = append(metrics, experiment.Metric{Name: "clipped_fraction", Doc: "share of the scaled features of test images that lay outside [-1, 1], the range of the training images, and were set to its end"})
	return &experiment.Experiment{
		Name:     "kahm/freiburg",
		Version:  2,
		Summary:  "groceries classified by the nearest machine, from features of their images that the user supplies",
		Source:   "Kumar, Moser and Fischer, Definitions 7, 8, 12 and 15, Sections 6.1 and 6.2.2, Tables 3, 4 and 6",
		Params:   params,
		Metrics:  metrics,
		Datasets: func(experiment.Params) []string { return []string{dataFreiburg, dataFreiburgFeatures} },
		Check:    checkPipeline,
		Memory:   freiburgMemory,
		Run:      runFreiburg,
	}
}

// scaledMechanism returns the parameters of the mechanism with a word on the
// unit of d.
func scaledMechanism(unit string) []experiment.Param {
	params := mechanismFor("inf")
	i := slices.IndexFunc(params, func(p experiment.Param) bool { return p.Name == "d" })
	params[i].Doc += "; " + unit
	return params
}

func runFreiburg(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
	split := t.Params.Int("split")
	images, err := dataset.LoadFreiburg(t.Dataset(dataFreiburg), t.Dataset(dataFreiburgFeatures), split-1)
	if err != nil {
		return nil, err
	}
	d, clipped, err := groceries(images, t.Params)
	if err != nil {
		return nil, fmt.Errorf("split %d: %w", split, err)
	}
	result, err := runClassifier(ctx, t, d)
	if err != nil {
		return nil, err
	}
	result.Metrics["accuracy_percent"] = 100 * result.Metrics["accuracy"]
	result.Metrics["clipped_fraction"] = clipped
	if result.Privacy != nil {
		_, p := d.test.Dims()
		result.Privacy.Notes = append(result.Privacy.Notes,
			fmt.Sprintf("an image is a row of %d features, and a change of the image may change all of them", p))
		result.Privacy.Refute("the range that scales each feature is computed from the private training images " +
			"without noise")
	}
	return result, nil
}

// groceries scales the features of both parts in place and divides the training
// images by class. clipped is the share of clipped test features.
func groceries(images *dataset.Freiburg, p experiment.Params) (d *labelled, clipped float64, err error) {
	n, columns := images.Train.Features.Dims()
	if dim := p.Int("n"); dim > columns {
		return nil, 0, fmt.Errorf("n = %d, but the images have only %d features: use an n of at most %[2]d", dim, columns)
	}
	clipped = scaleToTraining(images.Train.Features, images.Test.Features)
	d = &labelled{
		classes: len(images.Classes), test: images.Test.Features, testLabels: images.Test.Labels, trainPoints: n, matching: true,
		unit: "one scaled feature (from -1 to 1) of one training image",
	}
	rows := make([][]int, d.classes)
	for i, l := range images.Train.Labels {
		rows[l] = append(rows[l], i)
	}
	for c, name := range images.Classes {
		switch {
		case len(rows[c]) == 0:
			return nil, 0, fmt.Errorf("class %d (%s) has no training image: a machine needs at least one; use the official lists, which have some of every class", c, name)
		case !slices.Contains(d.testLabels, c):
			return nil, 0, fmt.Errorf("class %d (%s) has no test image, so it has no ROC curve; use the official lists, which have some of every class", c, name)
		}
		d.train = append(d.train, source{class: c, samples: learn.SelectRows(images.Train.Features, rows[c])})
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
// all images would let the test images choose the classifier; test values are
// clipped, so that the same holds of them, and a single extreme value does not
// carry an image away from all training images, which the membership-inference
// score would take for a leak.
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
			// The clamp also takes off what rounding leaves beyond an end.
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

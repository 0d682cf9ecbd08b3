package sgd

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/graphs/clipped"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

//go:embed digits.go
var digitsSource string

func init() {
	experiment.Document[DigitsSettings](digitsSource)
	experiment.Document[DigitsMetrics](digitsSource)
}

// DigitsSettings are those of baseline/sgd-mnist.
type DigitsSettings struct {
	// training images: the first ones of the file; all of its 10,000 test images are predicted
	Train int `name:"train" default:"60000" min:"1000" max:"60000"`
	mechanism.Budget
	// neighbouring data, between which the guarantee tells nobody apart: substitute replaces an image by any other,
	// add-remove has one more or less, which takes less noise and protects less
	Neighbours ground.Relation `name:"neighbours" default:"substitute" when:"epsilon is not inf"`
	Training
	// the numbers of an image that the model sees: its pixels as inputs, or features, which are means of fixed waves of
	// two scales and eight directions in squares of 4 by 4 pixels (scattering), or those of filters that are learnt, with
	// 32 hidden units (convolution)
	Features Kind `name:"features" default:"scattering"`
}

// DigitsMetrics are those of baseline/sgd-mnist; without noise they are those of epsilon=inf.
type DigitsMetrics struct {
	// share of the test images whose digit has the largest score
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// share of the test images of the most frequent digit
	AccuracyChance float64 `name:"accuracy_chance"`
	method.ClassMeasures
}

// data are the settings of a baseline.
func (s *DigitsSettings) data() *ground.Data {
	return &ground.Data{Columns: method.Columns{Dataset: dataMNIST}, Budget: s.Budget, Neighbours: s.Neighbours}
}

// size is that of the images where the model sees their features.
func (s *DigitsSettings) size() *picture {
	if s.Features == Inputs {
		return nil
	}
	return &picture{side, side}
}

const (
	dataMNIST = "mnist"
	digits    = 10
	side      = 28
	pixels    = side * side
)

// Digits is baseline/sgd-mnist: the images of MNIST, and those that its publishers hold out.
var Digits = experiment.Of(experiment.Declaration[*DigitsSettings, DigitsMetrics]{
	Name: "baseline/sgd-mnist", Version: 2,
	Summary:  "handwritten digits by noisy gradients, with protection of an image",
	Source:   paper + "; scattering features (Tramèr and Boneh 2021)",
	Datasets: func(*DigitsSettings) []string { return []string{dataMNIST} },
	Check:    func(s *DigitsSettings) error { return s.check(s.data(), s.Features) },
	Memory:   (*DigitsSettings).memory,
	Instead:  "MNIST is public; baseline/sgd-classification with features=scattering has releases of your own pictures",
	Run:      runDigits,
})

// memory estimates the bytes of a trial: a process with the files, and the features of an image three times, as samples
// of them are copied, and those of test images added, before memory is collected. 20,000 images took 2.1 GB, and 60,000
// 5.6 GB. Filters have windows and derivatives of parts besides: with them 60,000 took 2.6 GB.
func (s *DigitsSettings) memory() int64 {
	process := int64(500 << 20)
	if s.Features == Convolution {
		process += 1 << 30
	}
	return process + 3*8*int64(s.Train)*int64(s.Features.view(s.size()).len(pixels)+1)
}

// images returns the first images of a file, with pixels in [−1, 1].
func images(file *readers.Images, count int) *method.Part {
	part := &method.Part{X: mat.NewDense(count, pixels, nil), Labels: make([]int, count)}
	for i := range count {
		part.Labels[i] = int(file.Labels[i])
		for j, v := range file.Image(i) {
			part.X.Set(i, j, float64(v)/127.5-1)
		}
	}
	return part
}

// runDigits judges by the images of the data set.
func runDigits(ctx context.Context, t *experiment.Trial, s *DigitsSettings,
) (*experiment.Outcome[DigitsMetrics], error) {
	files, err := readers.LoadMNIST(t.Dataset(dataMNIST))
	if err != nil {
		return nil, err
	}
	return s.judge(ctx, t, files)
}

// judge trains, and predicts the test images.
func (s *DigitsSettings) judge(ctx context.Context, t *experiment.Trial, files *readers.MNIST,
) (*experiment.Outcome[DigitsMetrics], error) {
	p := &ground.Problem{Data: s.data(), Trial: t, Engine: engine.Of(t.Engine), Dims: pixels, Classes: digits,
		Slots: s.Train}
	a, err := prepare(p, &s.Training, s.Features, s.size())
	if err != nil {
		return nil, err
	}
	train, err := a.View(ctx, images(&files.Train, s.Train))
	if err != nil {
		return nil, err
	}
	weights, err := a.descend(ctx, train, p.Judging(ctx, train, t.Stream("mechanism")))
	if err != nil {
		return nil, err
	}
	train.X = nil // the features of the test images take their place
	test, err := a.View(ctx, images(&files.Test, files.Test.Len()))
	if err != nil {
		return nil, err
	}
	probabilities, err := a.scores(ctx, weights, test.X)
	if err != nil {
		return nil, err
	}
	return &experiment.Outcome[DigitsMetrics]{
		Metrics: *digitsMetrics(train, test, probabilities), Privacy: a.digitsPrivacy(),
		Warnings: p.Engine.Warnings(),
	}, nil
}

// scores returns the probabilities of classes at rows (C×P).
func (a *algorithm) scores(ctx context.Context, weights []float64, x *mat.Dense) ([][]float64, error) {
	outputs, err := clipped.Evaluate(ctx, a.Engine, a.network.program(), weights, x)
	if err != nil {
		return nil, err
	}
	out := byOutput(outputs)
	ground.Softmax(out)
	return out, nil
}

// digitsMetrics compares probabilities of classes at the test images with their labels.
func digitsMetrics(train, test *method.Part, probabilities [][]float64) *DigitsMetrics {
	trained, tested, names := make([]int, digits), make([]int, digits), make([]string, digits)
	for _, l := range train.Labels {
		trained[l]++
	}
	for _, l := range test.Labels {
		tested[l]++
	}
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	got := (&method.Prediction{Scores: probabilities}).Class()
	return &DigitsMetrics{
		Accuracy:       learn.Accuracy(got, test.Labels),
		AccuracyChance: float64(slices.Max(tested)) / float64(len(test.Labels)),
		ClassMeasures: *(&method.Classified{Classes: names, Truth: test.Labels, Predicted: got, Scores: probabilities,
			Probabilities: probabilities, Trained: trained}).Measures(),
	}
}

// digitsPrivacy states the protection of an image; nil without noise.
func (a *algorithm) digitsPrivacy() *experiment.Privacy {
	if a.Noiseless() {
		return nil
	}
	unit := "one training image with its digit, "
	if a.Neighbours == ground.AddRemove {
		unit += "added or removed"
	} else {
		unit += "substituted by any other"
	}
	p := &experiment.Privacy{Unit: unit, Mechanism: a.Mechanism(), Notes: []string{
		fmt.Sprintf("protects pixels and digit of an image; that there are %d is taken as public", a.Slots),
		"settings are taken as public; defaults of clip and learning_rate were found on images of the training file, which " +
			"the guarantee does not cover"}}
	p.State(a.Epsilon, a.Delta)
	if a.Neighbours == ground.AddRemove {
		p.Simulated.Neighbours = "add-remove"
	}
	return p
}

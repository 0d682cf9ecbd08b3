// Package sgd learns by gradient descent on clipped, noisy gradients, linear models and networks with one hidden layer:
// DP-SGD (Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep learning with differential privacy", CCS
// 2016).
package sgd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/graphs/clipped"
	"privkern/runner/experiment"
)

//go:embed sgd.go
var source string

func init() { experiment.Document[Training](source) }

// Auto is the word of a number that follows from public ones.
type Auto int

// Choices are the word.
func (Auto) Choices() []string { return []string{"auto"} }

// Training are the settings of the descent.
type Training struct {
	// units of the hidden layer, each the hyperbolic tangent of a linear function of the inputs; 0: a linear model, or the
	// 32 units of filters that are learnt
	Hidden int `name:"hidden" default:"0" min:"0" max:"10000"`
	// steps of the descent, each of which takes an equal part of the budget
	Steps int `name:"steps" default:"100" min:"1" max:"100000"`
	// probability with which a row is in the sample of a step; 1 takes all rows in each, as a release does. Below 1 it
	// protects rows, and no persons
	Rate float64 `name:"rate" default:"1" above:"0" max:"1"`
	// the norm to which the gradient of a row is clipped, where inputs have the norm 1 at most, and an output is in
	// [-1, 1]; auto: 1 of classes, 0.4 of classes of pictures by features, and 0.1 by filters that are learnt, 0.2 of a
	// regression, 0.5 of one with hidden units
	Clip experiment.Or[Auto, float64] `name:"clip" default:"auto" above:"0" max:"1e6"`
	// length of a step, by which the mean gradient is multiplied; auto: the steps add up to the length at which noise
	// moves a weight by 0.6 (of classes 2), and to 1000 (of a linear regression 300) at most; with features of pictures
	// each is 500 at most instead; with filters that are learnt noise moves a weight by 0.08, and each is 70 at most
	LearningRate experiment.Or[Auto, float64] `name:"learning_rate" default:"auto" above:"0" max:"1e6"`
}

// RegressionSettings are those of baseline/sgd-regression.
type RegressionSettings struct {
	ground.Data
	method.OutputRange
	Training
}

// ClassificationSettings are those of baseline/sgd-classification.
type ClassificationSettings struct {
	ground.Data
	Training
	Pictures
}

// check refuses samples where their losses have no proof.
func (s *Training) check(d *ground.Data, k Kind) error {
	if k == Convolution && s.Hidden > 0 {
		return errors.New("hidden is given: features=convolution has 32 hidden units of its own; use hidden=0")
	}
	if s.Rate < 1 && !d.Noiseless() && d.Person.Given() {
		return errors.New("rate is below 1: rows are sampled one by one, and a person has several; use rate=1 or person=none")
	}
	return nil
}

// checkRelease refuses samples, which the exact sums of a release do not have.
func (s *Training) checkRelease() error {
	if s.Rate < 1 {
		return errors.New("rate is below 1: samples are for judging, and a release takes all rows in each step; use rate=1")
	}
	return nil
}

const (
	regressionFormat     = "baseline/sgd-regression/1"
	classificationFormat = "baseline/sgd-classification/1"
	paper                = "DP-SGD (Abadi et al. 2016); bounded units (Papernot et al. 2021)"
	about                = "made with differential privacy: run predict THIS_FILE --at x.csv gives %s. At u, the inputs " +
		"brought to [-1, 1], v is tanh(hidden·(u, 1)), or u without hidden units, and %s"
)

// Formats make run predict read the files.
var (
	PredictRegression     = ground.Format[Body](regressionFormat, method.Regression)
	PredictClassification = ground.Format[Body](classificationFormat, method.Classification)
)

var advice = method.Advice{Noise: "use a larger epsilon, fewer inputs or hidden units, or more rows",
	Settings: "use hidden units, or a larger learning_rate"}

// Regression is baseline/sgd-regression.
var Regression = ground.Regression(ground.Baseline[RegressionSettings, Body]{
	Name: "baseline/sgd-regression", Version: 3, Source: paper, Held: 30, Format: regressionFormat,
	Summary: "a linear model or a perceptron by noisy gradients, with protection of rows",
	Data:    func(s *RegressionSettings) *ground.Data { return &s.Data },
	Check:   func(s *RegressionSettings) error { return s.Training.check(&s.Data, Inputs) },

	CheckRelease: func(s *RegressionSettings) error { return s.checkRelease() },
	Prepare: func(p *ground.Problem, s *RegressionSettings) (ground.Algorithm[Body], error) {
		return prepare(p, &s.Training, Inputs, nil)
	},
	About: "A regression, " + fmt.Sprintf(about, "means",
		"the mean is centre + scale·(output·(v, 1)), the latter clipped to [-1, 1]."),
	Advice: advice,
}, func(s *RegressionSettings) *method.OutputRange { return &s.OutputRange })

// Classification is baseline/sgd-classification.
var Classification = ground.Classification(ground.Baseline[ClassificationSettings, Body]{
	Name: "baseline/sgd-classification", Version: 4, // 4: accuracy_largest is that of persons
	Source: paper, Held: 30, Format: classificationFormat,
	Summary: "a logistic model or a perceptron by noisy gradients, with protection of rows",
	Data:    func(s *ClassificationSettings) *ground.Data { return &s.Data },
	Check: func(s *ClassificationSettings) error {
		if _, err := s.size(); err != nil {
			return err
		}
		return s.Training.check(&s.Data, s.Features)
	},
	CheckRelease: func(s *ClassificationSettings) error { return s.checkRelease() },
	Prepare: func(p *ground.Problem, s *ClassificationSettings) (ground.Algorithm[Body], error) {
		size, err := s.size()
		if err != nil {
			return nil, err
		}
		return prepare(p, &s.Training, s.Features, size)
	},
	More: func(s *ClassificationSettings) int { return s.Pictures.features() },
	About: "A classification, " + fmt.Sprintf(about, "classes and probabilities",
		"the scores are output·(v, 1), of which the softmax has the probabilities. Of pictures u are features, or v follows "+
			"from filters of the pixels, where the parameters have them."),
	Advice: advice,
})

// momentum is the part of a step that the next one keeps.
const momentum = 0.9

// algorithm asks one query in each of T steps: the sum over rows of the gradients of the loss, clipped to the norm C.
// The weights of a step follow from public numbers and the noisy sums of the steps before it, with momentum, which is
// post-processing. So for every outcome of those the next sum moves by Δ at most between neighbours, 2C where a row is
// substituted and C where one is there or not, and by m times as much for m rows of a person.
//
// With all rows in each step the noise is Gaussian with the standard deviation √T Δ/μ, and the steps compose to μ-GDP
// (Dong, Roth and Su 2022, Corollary 2), exactly the budget. This is the default for both relations: for as many steps
// a smaller sample does not lessen the noise of the mean gradient, and adds that of the sample (Räisä, Jälkö and
// Honkela, "Subsampling is not magic: why large batch sizes work for differentially private stochastic optimisation",
// ICML 2024).
//
// With Poisson samples a step has the pair (1−q) N(0, 1) + q N(C/σ, 1) and N(0, 1) where a row is there or not (Zhu,
// Dong and Wang 2022, Theorem 11), and (1−q) N(0, 1) + q N(±C/σ, 1) where one is substituted (package loss has the
// proof, and computes compositions). No batch is truncated.
//
// # Length
//
// A step is η times the noisy sum over the number of rows. T of them, τ = ηT long together, move a weight by noise of
// the standard deviation τs with s = σ/(√T qN), which does not depend on T. The default has τs = 0.6 of a regression,
// and 2 of classes, whose scores may be scaled; but τ = 300 at most of a linear regression and 1000 else, where it has
// nearly converged. These four numbers, and the norms, were found on public data, at ε from 0.3 to 10 and δ = 1e-5.
// For the features of pictures τs = 2, in steps of η = 500 at most, and the norm 0.4 were found on training images of
// MNIST, at ε = 2.93. Filters that are learnt have the norm 0.1 of Tramèr and Boneh ("Differentially private learning
// needs better features (or much more data)", ICLR 2021), τs = 0.08, and steps of η = 70 at most, from a few lengths on
// training images of MNIST at the same ε.
type algorithm struct {
	*ground.Problem
	view    view
	network network
	steps   int
	rate    float64 // q
	clip    float64 // C
	length  float64 // η
	noise   *ground.Noise
}

func prepare(p *ground.Problem, s *Training, kind Kind, pictures *picture) (*algorithm, error) {
	if pictures != nil && pictures.Width*pictures.Height != p.Dims {
		return nil, fmt.Errorf("picture = %dx%d: it has %d pixels, and there are %d inputs", pictures.Width,
			pictures.Height, pictures.Width*pictures.Height, p.Dims)
	}
	a := &algorithm{Problem: p, steps: s.Steps, rate: s.Rate, clip: s.Clip.Number, length: s.LearningRate.Number,
		view:    kind.view(pictures),
		network: network{hidden: s.Hidden, outputs: max(1, p.Classes), classes: p.Classes > 0}}
	a.network.inputs = a.view.len(p.Dims)
	clip, noise, longest := 1.0, 2.0, 1000.0
	switch {
	case kind == Convolution:
		a.network.filters = &clipped.Convolution{Width: pictures.Width, Height: pictures.Height, Targets: p.Classes}
		clip, noise, longest = 0.1, 0.08, 70*float64(s.Steps)
	case pictures != nil:
		clip, longest = 0.4, 500*float64(s.Steps)
	case p.Classes > 0:
	case s.Hidden > 0:
		clip, noise = 0.5, 0.6
	default:
		clip, noise, longest = 0.2, 0.6, 300
	}
	if s.Clip.IsWord {
		a.clip = clip
	}
	q := ground.Query{What: "clipped gradients", Coordinates: a.network.size(), Norm: a.clip, Largest: a.clip,
		Rows: p.Slots, Times: s.Steps}
	root := math.Sqrt(float64(s.Steps))
	var err error
	if s.Rate < 1 {
		a.noise, err = p.Subsampled(q, s.Rate)
	} else {
		a.noise, err = p.Gaussian(q, 1/root)
	}
	if err != nil {
		return nil, err
	}
	if s.LearningRate.IsWord {
		if one := a.noise.Scale() / (root * s.Rate * float64(p.Slots)); one > 0 {
			longest = min(longest, noise/one)
		}
		a.length = longest / float64(s.Steps)
	}
	return a, nil
}

// View implements [ground.Viewer]: the vectors of rows are those that the weights multiply.
func (a *algorithm) View(ctx context.Context, rows *method.Part) (*method.Part, error) {
	out := *rows
	var err error
	out.X, err = a.view.matrix(ctx, a.Engine, rows.X, 1/math.Sqrt(float64(a.network.inputs)))
	return &out, err
}

// Fit implements [ground.Algorithm].
func (a *algorithm) Fit(ctx context.Context, rows *method.Part, sums *ground.Sums) (Body, error) {
	weights, err := a.descend(ctx, rows, sums)
	if err != nil {
		return Body{}, err
	}
	return a.newBody(weights), nil
}

// descend returns the weights after all steps, from rows of View.
func (a *algorithm) descend(ctx context.Context, rows *method.Part, sums *ground.Sums) ([]float64, error) {
	e := newExamples(a, rows)
	defer e.close()
	weights, step := a.network.start(), make([]float64, a.network.size())
	for range a.steps {
		sum, used, err := e.gradient(ctx, weights, sums)
		if err != nil {
			return nil, err
		}
		floats.Scale(momentum, step)
		floats.AddScaled(step, (1-momentum)*a.length/(used*float64(a.Slots)), sum)
		floats.Sub(weights, step)
	}
	return weights, nil
}

// Losses implements [ground.Algorithm].
func (a *algorithm) Losses() []experiment.Loss { return ground.Losses(a.noise) }

// Mechanism implements [ground.Algorithm].
func (a *algorithm) Mechanism() string {
	if a.rate < 1 {
		return fmt.Sprintf("Gaussian noise on sums of clipped gradients in %d steps, over Poisson samples of rate %g, by "+
			"the composition of privacy losses (DP-SGD, Abadi et al. 2016; Zhu, Dong and Wang 2022)", a.steps, a.rate)
	}
	return fmt.Sprintf("analytic Gaussian mechanism (Balle and Wang 2018) on sums of clipped gradients over all rows, in "+
		"%d steps that compose to the budget (DP-SGD, Abadi et al. 2016)", a.steps)
}

// Public implements [ground.Algorithm].
func (a *algorithm) Public() string { return "the hidden units, steps, clip and learning_rate" }

// Size implements [ground.Algorithm].
func (a *algorithm) Size() (numbers, lists int) {
	if n := a.network.filters; n != nil {
		for _, size := range n.Sizes() {
			lists += size[0]
		}
		return n.Len(), lists
	}
	return a.network.size(), a.network.hidden + a.network.outputs
}

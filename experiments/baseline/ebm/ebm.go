// Package ebm learns a sum of functions of single inputs, boosted by noisy sums of residuals: explainable boosting
// machines with differential privacy.
package ebm

import (
	_ "embed"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed ebm.go
var source string

func init() {
	experiment.Document[Boosting](source)
	experiment.Document[RegressionSettings](source)
	experiment.Document[ClassificationSettings](source)
}

// automatic is the word of a number that follows from public ones.
type automatic int

// Choices are the word.
func (automatic) Choices() []string { return []string{"auto"} }

// Boosting are the settings of the algorithm. Those of interpret-core 0.7.8 are rounds=300, learning_rate=0.01,
// leaves=3, bins=32, counts=0.1, prior=1e9, and clip=2 of regressions, clip=1 of classifications.
type Boosting struct {
	// rounds of boosting, each over all inputs
	Rounds int `name:"rounds" default:"100" min:"1" max:"100000"`
	// share of the mean residual of a leaf that is added to its score; auto: by epsilon, delta and the numbers of rows and
	// inputs, such that noise moves a prediction by a tenth of half the output's range, or log odds by a quarter
	Rate experiment.Or[automatic, float64] `name:"learning_rate" default:"auto" above:"0" max:"1"`
	// leaves into which random cuts divide the bins of an input, anew in each round
	Leaves int `name:"leaves" default:"3" min:"2" max:"256"`
	// most bins of a number: the parts of its public range, twice as many, which are merged until one has this share of
	// the rows by noisy counts
	Bins int `name:"bins" default:"32" min:"2" max:"1024"`
	// share of the budget that goes to counts of the rows in bins; its square and that of the residuals' share add to 1
	Counts float64 `name:"counts" default:"0.2" above:"0" below:"1"`
	// standard deviation of the count of a bin about an equal part of the rows, in such parts: noisy counts are shrunk to
	// equal ones by it, and a large number leaves them as they are
	Prior float64 `name:"prior" default:"1" above:"0"`
	// magnitude to which the residual of a row is clipped: of a regression in units of half the output's range, and of a
	// classification in units of the largest residual that there is
	Clip float64 `name:"clip" default:"0.35" above:"0" max:"2"`
}

// RegressionSettings are those of baseline/ebm-regression.
type RegressionSettings struct {
	ground.Data
	method.OutputRange
	Boosting
}

// ClassificationSettings are those of baseline/ebm-classification.
type ClassificationSettings struct {
	ground.Data
	Boosting `default:"clip: 0.5"`
}

const (
	regressionFormat     = "baseline/ebm-regression/1"
	classificationFormat = "baseline/ebm-classification/1"
)

// The formats make run predict read the files.
var (
	RegressionFormat     = ground.Format[Regressor](regressionFormat, method.Regression)
	ClassificationFormat = ground.Format[Classifier](classificationFormat, method.Classification)
)

const (
	paper = "Nori, Caruana, Bu, Shen and Kulkarni, \"Accuracy, interpretability, and differential privacy via " +
		"explainable boosting\", ICML 2021, Algorithm 2 (DP-EBM)"
	functions = "An input brought to [-1, 1] lies in one of as many equal parts as its list in scores has numbers (a " +
		"category, which has levels, at the number of its level); the intercept and the scores of the parts are added. "
)

var advice = method.Advice{Noise: "use a larger epsilon, fewer inputs, or more rows",
	Settings: "use more leaves, or a method in which inputs act together"}

// Regression is baseline/ebm-regression.
var Regression = ground.Regression(ground.Baseline[RegressionSettings, Regressor]{
	Name: "baseline/ebm-regression", Version: 2,
	Summary: "a sum of functions of the inputs, boosted by noisy sums of residuals (DP-EBM), with protection of rows",
	Source:  paper,
	Data:    func(s *RegressionSettings) *ground.Data { return &s.Data },
	Prepare: func(p *ground.Problem, s *RegressionSettings) (ground.Algorithm[Regressor], error) {
		a, err := prepare(p, s.Boosting, target{noise: 0.1, most: 6})
		return regressor{a}, err
	},
	Held: 60, Format: regressionFormat,
	About: "Functions of the inputs, made with differential privacy: run predict THIS_FILE --at x.csv gives means. " +
		functions + "The sum, clipped to [-1, 1], is the output in units of half its range from its centre.",
	Advice: advice,
}, func(s *RegressionSettings) *method.OutputRange { return &s.OutputRange })

// Classification is baseline/ebm-classification.
var Classification = ground.Classification(ground.Baseline[ClassificationSettings, Classifier]{
	Name: "baseline/ebm-classification", Version: 3, // 3: accuracy_largest is that of persons
	Summary: "sums of functions of the inputs, boosted by noisy sums of residuals (DP-EBM), with protection of rows",
	Source:  paper + "; of more than two classes by multinomial logistic regression",
	Data:    func(s *ClassificationSettings) *ground.Data { return &s.Data },
	Prepare: func(p *ground.Problem, s *ClassificationSettings) (ground.Algorithm[Classifier], error) {
		a, err := prepare(p, s.Boosting, target{noise: 0.25, most: 10})
		return classifier{a}, err
	},
	Held: 60, Format: classificationFormat,
	About: "Functions of the inputs, made with differential privacy: run predict THIS_FILE --at x.csv gives classes and " +
		"probabilities. " + functions + "Of two classes the sum is the log odds of the second; of more there is one for " +
		"each, with the probabilities as shares of its exponential. Scores of an input follow one another by class.",
	Advice: advice,
})

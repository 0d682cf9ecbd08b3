package nearest

import (
	_ "embed"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/own"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[ClassifierSettings](source) }

// Images are the settings of the data: handwritten digits, or the user's own.
type Images struct {
	// mnist, handwritten digits, or your own rows: csv:PATH or parquet:PATH, a table with a
	// header; npy:PATH, features and a file of labels; images:FOLDER, pictures in a
	// folder for each class
	Dataset string `name:"dataset" default:"mnist"`
	// training images: the first ones of the file
	Train int `name:"train" default:"60000" min:"1" max:"60000" when:"dataset is mnist"`
	// test images: the first ones of the file
	Test int `name:"test" default:"10000" min:"1" max:"10000" when:"dataset is mnist"`
	// values of pixels: their grey level, from 0 to 1, or its hyperbolic tangent, as in the
	// authors' code
	Pixels Pixels `name:"pixels" default:"level" later:"yes" when:"dataset is mnist"`
}

// Pixels is a scale of grey levels.
type Pixels int

// The values of the setting "pixels".
const (
	Level Pixels = iota
	Tanh
)

// Choices returns the names of the values.
func (Pixels) Choices() []string { return []string{"level", "tanh"} }

// scaled returns a matrix of grey levels on the scale, which takes the place of them.
func (p Pixels) scaled(x *mat.Dense) *mat.Dense {
	if p == Tanh {
		x.Apply(func(_, _ int, v float64) float64 { return math.Tanh(v) }, x)
	}
	return x
}

// dataMNIST is the name of the handwritten digits.
const dataMNIST = "mnist"

// isOwn reports whether a trial reads data of the user's own.
func (s *Images) isOwn() bool { return s.Dataset != dataMNIST }

// check refuses unknown data.
func (s *Images) check() error {
	if !s.isOwn() || table.Is(s.Dataset) {
		return nil
	}
	return fmt.Errorf("dataset = %q: it is %s, or data of your own: csv:PATH, parquet:PATH, npy:PATH or images:FOLDER",
		s.Dataset, dataMNIST)
}

// Score are the settings of the membership-inference score.
type Score struct {
	// compute the membership-inference score, for which training points are evaluated,
	// too
	Score bool `name:"score" default:"true"`
	// training points, drawn at random, that the score is computed from; all for every
	// one
	Points experiment.Or[wide.Whole, int] `name:"score_points" default:"10000" min:"10" when:"score is true"`
	// kernel widths and ridges that the estimate of the density difference (LSDD) is
	// chosen from: scaled, those that follow the spread of the distances; published, the
	// fixed ones of the code of its authors (learn.PublishedGrid), from 0.25 units up
	Grid Grid `name:"lsdd" default:"scaled" when:"score is true"`
}

// allImages reports whether a trial reads all images, as the paper's do.
func (s *Images) allImages() bool {
	return !s.isOwn() && s.Train == readers.MNISTTrain && s.Test == readers.MNISTTest
}

// Grid is the set of candidates for the estimate of the density difference.
type Grid int

// The values of the setting "lsdd".
const (
	ScaledGrid Grid = iota
	PublishedGrid
)

// Choices returns the names of the values.
func (Grid) Choices() []string { return []string{"scaled", "published"} }

// densities returns the kernel widths and ridges.
func (g Grid) densities() learn.DensityGrid {
	if g == PublishedGrid {
		return learn.PublishedGrid()
	}
	return learn.DensityGrid{}
}

// ClassifierSettings are those of kahm/classifier.
type ClassifierSettings struct {
	classifierSettings
	own.Table
	method.Recorded `when:"membership: dataset is not mnist" also:"membership: of each class half of the rows"`
}

// classifierSettings are those that do not describe the user's own data.
type classifierSettings struct {
	Images
	// samples that the machines model: the original ones (Definition 7), those with noise
	// (Definition 12), or those fabricated from noisy ones (Definition 15)
	Data          wide.Data `name:"data" default:"original"`
	wide.Pipeline `when:"delta: dataset is mnist" also:"d: of your own data, a share of its range"`
	Score
}

// FederatedSettings are those of kahm/federated.
type FederatedSettings struct {
	federatedSettings
	own.Table
	// column with the party that holds a row (your own data, where it must be given)
	Party string `name:"party" default:"" later:"yes" when:"dataset is not mnist"`
}

// federatedSettings are those that do not describe the user's own data.
type federatedSettings struct {
	Images
	// how the images are shared: 1, each class belongs to one of 10 parties; 2, each
	// class is halved between two of 20 parties; 3, at random among a given number
	// of parties
	Scenario int `name:"scenario" default:"1" min:"1" max:"3" when:"dataset is mnist"`
	// scenario 3: number of parties; scenarios 1 and 2 have 10 and 20
	Parties int `name:"parties" default:"10" min:"1" max:"1000" when:"scenario is 3"`
	// samples that the parties' machines model
	Data          wide.Data `name:"data" default:"fabricated"`
	wide.Pipeline `default:"epsilon: 16" when:"delta: dataset is mnist" also:"d: of your own data, a share of its range"`
	// build and evaluate the classifier of all images in one place, too
	Centralised bool `name:"centralised" default:"true"`
}

// The scenarios of kahm/federated.
const (
	classByParty = 1
	halvedClass  = 2
	randomShares = 3
)

// FreiburgSettings are those of kahm/freiburg.
type FreiburgSettings struct {
	// official train-test split, numbered as in the paper: split 1 is train0.txt and
	// test0.txt
	Split int `name:"split" default:"1" min:"1" max:"5"`
	// features that the machines model: the original ones (Definition 7), those with noise
	// (Definition 12), or those fabricated from noisy ones (Definition 15)
	Data          wide.Data `name:"data" default:"original"`
	wide.Pipeline `also:"d: d is in units of a scaled feature, which runs from -1 to 1"`
	Score
}

// Scheme is a way to halve the vectors of a subject.
type Scheme int

// The values of the setting "split_scheme".
const (
	AutoSplit Scheme = iota // as the variant has it
	RandomSplit
	BlockedSplit
)

// Choices returns the names of the values.
func (Scheme) Choices() []string { return []string{"auto", "random", "blocked"} }

// historyDefault is the longest history, in tens, for which the stand-in still has
// vectors of most of its subjects: 8429 at rest and 3838 under stress of 29 subjects,
// 24 with both. The paper's 216 leaves those of one subject with both, because the
// wristband loses beats.
const historyDefault = 30

// StressSettings are those of kahm/stress.
type StressSettings struct {
	// R-R intervals before the current one in a vector; the paper has 216, some three
	// minutes, for which the stand-in has hardly any vectors
	History int `name:"history" default:"30" min:"1" max:"2000"`
	// which half of each subject's vectors is for training: random, any half (the paper's
	// words), although successive vectors share all intervals but one; blocked, the first
	// half in time, and no test vector shares an interval with one for training; auto:
	// random as published, blocked when corrected
	Scheme Scheme `name:"split_scheme" default:"auto"`
	// vectors that the machines model: the original ones (Definition 7), those with noise
	// (Definition 12), or those fabricated from noisy ones (Definition 15)
	Data          wide.Data `name:"data" default:"original"`
	wide.Pipeline `default:"n: 5" also:"d: d is in seconds, as R-R intervals are"`
	Score
}

// scheme returns the resolved scheme, never AutoSplit.
func (s *StressSettings) scheme() Scheme {
	switch {
	case s.Scheme != AutoSplit:
		return s.Scheme
	case s.Variant == wide.AsPublished:
		return RandomSplit
	}
	return BlockedSplit
}

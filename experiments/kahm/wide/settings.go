package wide

import (
	_ "embed"
	"errors"
	"fmt"
	"math"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Budget](source) }

// Data is a kind of samples that machines model.
type Data int

// The kinds of samples that are modelled.
const (
	Original   Data = iota // the samples themselves (Definition 7)
	Noisy                  // with the noise of Algorithm 1 (Definition 12)
	Fabricated             // images of smoothed noisy samples (Definitions 13 to 15)
)

// Choices returns the names of the values.
func (Data) Choices() []string { return []string{"original", "noisy", "fabricated"} }

// Variant selects the paper's form, or one that protects the values that the paper leaves
// unprotected.
type Variant int

// The variants.
const (
	AsPublished Variant = iota
	Corrected
)

// Choices returns the names of the values.
func (Variant) Choices() []string { return []string{"as-published", "corrected"} }

// Clusters is a kind of samples for k-means.
type Clusters int

// The values of the setting "clusters".
const (
	AutoClusters Clusters = iota // by the variant
	OriginalClusters
	NoisyClusters
)

// Choices returns the names of the values.
func (Clusters) Choices() []string { return []string{"auto", "original", "noisy"} }

// Rounding is the rounding of the number of machines of a class.
type Rounding int

// The roundings.
const (
	Nearest Rounding = iota
	Upwards
)

// Choices returns the names of the values.
func (Rounding) Choices() []string { return []string{"round", "ceil"} }

// LambdaRule is the rule that ends the iteration to the λ of a machine (Eqs. 40 to 44).
type LambdaRule int

// The values of the setting "lambda".
const (
	Near    LambdaRule = iota // within 1e-3 of λ*
	Exact                     // within 1e-10 of λ*
	Authors                   // as the authors' code has it
)

// Choices returns the names of the values.
func (LambdaRule) Choices() []string { return []string{"near", "exact", "authors"} }

// Whole is the word for all, in a setting that is otherwise a number.
type Whole int

// All is the only value.
const All Whole = 0

// Choices returns the name of the value.
func (Whole) Choices() []string { return []string{"all"} }

// Collection is a data set of handwritten digits.
type Collection int

// MNIST is the only one.
const MNIST Collection = 0

// Choices returns the name of the value.
func (Collection) Choices() []string { return []string{"mnist"} }

// Digits are the settings of the handwritten digits that a trial reads.
type Digits struct {
	// data set
	Dataset Collection `name:"dataset" default:"mnist"`
}

// Names returns the names of the data sets that a trial reads.
func (d *Digits) Names() []string { return []string{experiment.NameOf(d.Dataset)} }

// Budget are the parameters of the entry noise of Algorithm 1, which protects one entry of
// the data matrix. D is in the unit of the data.
type Budget struct {
	// privacy-loss bound of the entry noise; inf adds no noise
	Epsilon float64 `name:"epsilon" default:"inf" above:"0" infinite:"yes"`
	// probability with which an entry is released as it is (Eq. 74)
	Delta float64 `name:"delta" default:"1e-5" above:"0" below:"1" when:"epsilon is not inf"`
	// adjacency: largest change of one entry of the data matrix (Definition 10)
	D float64 `name:"d" default:"1" above:"0" when:"epsilon is not inf"`
}

// Noiseless reports whether nothing is protected.
func (b *Budget) Noiseless() bool { return math.IsInf(b.Epsilon, 1) }

// noise returns the mechanism for samples of that kind; nil for none.
func (b *Budget) noise(data Data) (*mechanism.EntryNoise, error) {
	if data == Original || b.Noiseless() {
		return nil, nil
	}
	m := &mechanism.EntryNoise{Epsilon: b.Epsilon, Delta: b.Delta, D: b.D}
	return m, m.Validate()
}

// Machine are the settings of the wide machine of a class.
type Machine struct {
	// subspace dimension: principal directions of the first layer; machines with fewer
	// samples use fewer, with a warning
	N int `name:"n" default:"20" min:"1" max:"1000"`
	// L, the layers of a machine; at most n
	Layers int `name:"layers" default:"5" min:"1" max:"1000"`
	// S, the machines of a class: its samples divided by 1000, to the nearest integer
	// (as the text has it) or upwards (as Eq. 59 is printed), or a number
	Branches experiment.Or[Rounding, int] `name:"branches" default:"round" min:"1" max:"10000"`
	// where the iteration to the regularisation λ ends: near, within 1e-3 of λ, which takes half
	// of the time; exact, within 1e-10, as in files of models; authors, before the first change
	// by at most 0.01, as in the authors' code
	Lambda LambdaRule `name:"lambda" default:"near" later:"yes"`
}

// perMachine is the number of samples that the paper gives to a machine.
const perMachine = 1000.0

// Count returns the number of machines of a class of n samples.
func (m *Machine) Count(n int) int { return m.branches(n) }

// branches returns the number of machines for a class of n samples (Eq. 59).
func (m *Machine) branches(n int) int {
	switch {
	case m.Branches.Is(Nearest):
		return max(1, int(math.Round(float64(n)/perMachine)))
	case m.Branches.Is(Upwards):
		return max(1, int(math.Ceil(float64(n)/perMachine)))
	}
	return min(m.Branches.Number, n)
}

// Clustering are the settings of the division of the samples of a class.
type Clustering struct {
	// samples that k-means clusters: the original ones, or the noisy ones (their leading n
	// principal scores); auto: original as published, noisy when corrected
	Clusters Clusters `name:"clusters" default:"auto"`
	// starts of k-means, each by k-means++ and until no sample moves; the best result is
	// kept
	Starts int `name:"starts" default:"1" min:"1" max:"1000" when:"branches is not 1"`
}

// CheckLayers refuses more layers than a machine of n directions has.
func CheckLayers(n, layers int) error {
	if layers > n {
		return fmt.Errorf("layers = %d: a machine has at most n = %d layers (Definition 3)", layers, n)
	}
	return nil
}

// Pipeline are the settings of noise, clusters, fabrication and machines. Experiments have
// the setting "data", a [Data], as well.
type Pipeline struct {
	Budget `when:"epsilon: data is not original"`
	Machine
	// as-published lets the clusters and the radius of the fabrication (Eqs. 96-98) come
	// from the private data; corrected computes both from the noisy data and public
	// numbers
	Variant    Variant `name:"variant" default:"corrected"`
	Clustering `when:"clusters: data is not original and epsilon is not inf and branches is not 1"`
	// corrected: smoothing steps of the fabrication, a public number; as published they
	// go on until the modelling error is below the private radius (Eq. 92)
	Smoothing int `name:"smoothing" default:"2" min:"0" max:"100" when:"data is fabricated and variant is corrected"`
}

// Pure returns the pipeline with Laplace noise, without an atom of entries that stay as they
// are: the noise of a release.
func (p *Pipeline) Pure() *Pipeline {
	pure := *p
	pure.Delta = 0
	return &pure
}

// Check refuses impossible settings.
func (p *Pipeline) Check() error { return CheckLayers(p.N, p.Layers) }

// CheckColumns refuses more directions than the data have columns.
func (p *Pipeline) CheckColumns(columns int) error {
	var tooMany error
	if p.N > columns {
		tooMany = fmt.Errorf("n = %d: the data have only %d columns", p.N, columns)
	}
	return errors.Join(tooMany, p.Check())
}

// clustersOf returns the samples that k-means clusters in a trial with data of a kind.
func (p *Pipeline) clustersOf(data Data) Clusters {
	switch {
	case p.Clusters != AutoClusters:
		return p.Clusters
	case p.Variant == AsPublished || data == Original:
		return OriginalClusters
	}
	return NoisyClusters
}

// VariantRule returns the rule where the variant of a pipeline changes anything. of returns
// the setting "data" and the pipeline.
func VariantRule[S any](of func(*S) (*Data, *Pipeline)) experiment.Rule[*S] {
	return experiment.Rule[*S]{
		To: func(s *S) []any { _, p := of(s); return []any{&p.Variant} },
		DecidedBy: func(s *S) []any {
			data, p := of(s)
			return []any{data, &p.Epsilon, &p.Clusters, &p.Branches}
		},
		Words: "data is fabricated, or noisy with clusters=auto, a finite epsilon and more branches than 1",
		Holds: func(s *S) bool {
			data, p := of(s)
			return *data == Fabricated || *data == Noisy && p.Clusters == AutoClusters && !p.Noiseless() &&
				p.Branches != experiment.NumberOr[Rounding](1)
		},
	}
}

// Smoothing are the settings of a fabrication of one cluster, in which only the number of
// smoothing steps can depend on private data.
type Smoothing struct {
	// as-published smooths until the modelling error is not above that of the original,
	// private samples (Eqs. 88 and 92); corrected takes a public number of steps
	Variant Variant `name:"variant" default:"corrected"`
	// corrected: smoothing steps, a public number
	Steps int `name:"smoothing" default:"2" min:"0" max:"100" when:"variant is corrected"`
}

package audit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"regexp"

	"privkern/experiments/mechanism"
)

// Subject is a mechanism or a release, with the guarantee that it claims.
type Subject struct {
	Name  string
	Unit  string // of protection
	Claim mechanism.Guarantee
	// Law is that of the stated noise, and "" where none is stated: a choice, or a
	// mixture. The tests of the noise and the bound of Gaussian releases need it.
	Law Law
	// Sigma is the noise's standard deviation in units of the sensitivity, as it
	// is stated, where the release is a Gaussian mechanism or a composition of
	// such; 0 elsewhere. The exact δ follows from it. An error in the sensitivity
	// or in the draws shows in the other tests only.
	Sigma float64
	Pairs []Pair
	// Draws is the number of releases of each data set where the options have none; 0
	// stands for [DefaultDraws].
	Draws int
}

// Law is a law of noise.
type Law string

// The laws that noise is tested against.
const (
	Gaussian Law = "gaussian" // in units of its standard deviation
	Laplace  Law = "laplace"  // in units of its scale, which is the deviation over √2
)

// Pair is two neighbouring data sets, the worst that are known or that a search
// finds ([Worst]), and how they are released.
type Pair struct {
	Name string // their difference
	// Draw releases one of the data sets anew. All randomness comes from the
	// stream, so that equal streams give equal releases; it serves as an io.Reader
	// and as a rand.Source. Draw is called from several goroutines, each with a
	// stream of its own, and returns slices that it does not write to again.
	Draw func(second bool, entropy *rand.ChaCha8) (Output, error)
	// Whole returns everything that one release publishes. It is nil where the
	// subject has no files, and then the test of them is not made.
	Whole func(second bool, entropy *rand.ChaCha8) (Whole, error)
	// Follows describes a part of the two releases that depends on more than the noisy
	// numbers, "" where there is none. It is nil where that cannot be tried.
	Follows func(ctx context.Context) (string, error)
	// Release is the same release as a user asks for it, from which whoever can make
	// such releases sets Whole; nil where there is none.
	Release *Request

	apart float64 // of the queries, in units of the noise, where they are known
}

// Output is one release, as the tests look at it.
type Output struct {
	// Published holds the coordinates as a reader has them, before any
	// post-processing that loses digits: equally many in all releases, none NaN.
	Published []float64
	// Statistic, where HasStatistic, is an increasing function of the likelihood
	// ratio of the second data set to the first, computed from the published numbers.
	// Of a subject whose law is Gaussian it is linear in Published. Without one, a
	// discriminant is learnt from the draws; with one, the better of the two.
	Statistic    float64
	HasStatistic bool
	// Noise holds the published coordinates less the exact query, in units of the
	// stated noise and uncorrelated: independent draws of the subject's law. It is
	// nil where no noise is stated.
	Noise []float64
	// Grid holds the stated spacing of each published coordinate; 0 where a
	// coordinate is no noisy number but an index. It is nil where no grid is
	// stated.
	Grid []float64
	// Scale holds the stated scale of the noise of each published coordinate, where
	// each is stated to be on a grid that follows the scale; nil elsewhere.
	Scale []float64
	// NoiseGrid is the largest spacing of Noise: that of Grid in units of the noise.
	NoiseGrid float64

	length int // of Published, before it was fitted to that of other releases
}

// streamOf returns the stream of a chunk of the sample, which does not depend on goroutines.
func streamOf(name, purpose string, pair int, second bool, chunk int, seed uint64) *rand.ChaCha8 {
	place := fmt.Appendf(nil, "audit\x00%s\x00%s\x00%d\x00%v\x00%d\x00%d", name, purpose, pair, second, chunk, seed)
	return rand.NewChaCha8(sha256.Sum256(place))
}

// Request is a release as a user asks for one, of a file of data: all that it publishes
// is compared between two files whose rows are neighbours or further apart, and
// which differ in everything else that is not public: digits, columns, order of the
// columns, length.
type Request struct {
	Experiment string
	Given      map[string]any // the settings, but for the place of the file
	// Set is the data set whose File the data are; "" for a user's file, named by
	// the setting "dataset".
	Set, File string
	// Name is that of the released file, which may choose its form; "" for "release".
	Name     string
	Contents [2]string
	// Table matches the noisy numbers of the released file, and Record those of the
	// record: see [Part].Noisy.
	Table, Record *regexp.Regexp
	// Described matches the noisy numbers of the description; nil where it has none.
	Described *regexp.Regexp
}

package method

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"

	"privkern/experiments/learn"
)

// SplitSource is the origin of the rows that a split holds out.
type SplitSource int

// The sources.
const (
	OwnSplits    SplitSource = iota // the seed and the experiment
	CommonSplits                    // the seed and the number of rows alone
)

// Choices are the names of the sources.
func (SplitSource) Choices() []string { return []string{"own", "common"} }

// CommonSplit holds out a number of tests of n rows, or of n persons: which ones depends on the seed, the repeat and n
// alone, so that methods of different experiments are compared by the same rows. A split is no secret, and the noise of
// a release has no part in it: the generator is ChaCha8 with the SHA-256 of these numbers as its key.
func CommonSplit(seed int64, repeat, n, tests int) learn.Fold {
	order := commonOrder(seed, repeat, n)
	test, train := order[:tests], order[tests:]
	slices.Sort(test)
	slices.Sort(train)
	return learn.Fold{Train: train, Test: test}
}

// commonOrder is the order of units of which the first ones are held out. A uniform order is a uniform matching of its
// two halves, and for each pair a fair coin.
func commonOrder(seed int64, repeat, n int) []int {
	key := sha256.Sum256(fmt.Appendf(nil, "privkern common split 1\n%d\n%d\n%d\n", seed, repeat, n))
	return rand.New(rand.NewChaCha8(key)).Perm(n)
}

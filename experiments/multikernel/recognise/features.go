package recognise

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Samples are samples with both of their labels.
type Samples struct {
	X                *mat.Dense // N×M
	Utility, Privacy []int
}

// Spec selects the features that are made of samples.
type Spec struct {
	Kernels []kernellist.Kernel
	weights weighting
	// The ridge term of the scores: ρ_snr or ρ_upr.
	scoreRidge  float64
	compression discriminant.Options
}

// weighting is how kernels are combined.
type weighting string

const (
	weightUniform        weighting = "uniform"
	weightAlignment      weighting = "alignment"
	weightSNR            weighting = "snr"
	weightUPR            weighting = "upr"
	weightUtilityPrivacy weighting = "utility-privacy"
)

// Features are explicit features whose inner products are the compressive
// multi-kernel (Eq. 16).
type Features struct {
	// Train and Test have one row for each sample.
	Train, Test *mat.Dense
	// Scores and weights of the kernels, in their order. Scores are nil for
	// weights that come from none.
	Scores, Weights []float64
	// Traces of the compressive kernels before they are scaled to trace one.
	Traces []float64
	// Rank of the multi-kernel, which the paper wants below the number
	// of columns of the samples.
	Rank int
	// MachineRows is the number of training samples that an adversary's support vector machine learns from at most, drawn
	// at random, with kernel matrices in float32; 0: all.
	MachineRows int
}

// MakeFeatures compresses every kernel for the utility labels of the training
// samples, weights the compressive kernels, and projects the test samples, which
// may be nil. Test labels have no part in it, and a test sample's features do not
// depend on other test samples. Progress, if not nil, is called once
// per kernel. A kernel that another trial of t's sweep has compressed for the same
// samples is not compressed again.
func MakeFeatures(ctx context.Context, t *experiment.Trial, e *engine.Engine, train Samples, test *mat.Dense, s Spec,
	progress func(done, total int, what string)) (*Features, error) {
	factors, tests := make([]*mat.Dense, len(s.Kernels)), make([]*mat.Dense, len(s.Kernels))
	c := newCompressor(t, e, train, test, s.compression)
	for l, k := range s.Kernels {
		// One kernel after the other: each has an N×N matrix while it is fitted.
		var err error
		if factors[l], tests[l], err = c.compress(ctx, k.Kernel); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(l+1, len(s.Kernels), "kernels compressed")
		}
	}
	return s.Combine(ctx, e, factors, tests, train.Utility, train.Privacy)
}

// Combine weights compressive kernels, of which factors are the features of the training
// samples (each N×Q) and tests those of the test samples, with nil in it where there are
// none. The labels are those of the training samples.
func (s Spec) Combine(ctx context.Context, e *engine.Engine, factors, tests []*mat.Dense, utility, privacy []int,
) (*Features, error) {
	set, err := discriminant.NewSet(ctx, e, factors, utility, privacy)
	if err != nil {
		return nil, err
	}
	f := &Features{}
	if f.Scores, f.Weights, err = s.weigh(set); err != nil {
		return nil, err
	}
	for l := range s.Kernels {
		f.Traces = append(f.Traces, set.Trace(l))
	}
	if f.Rank, err = set.Rank(f.Weights); err != nil {
		return nil, err
	}
	if f.Train, err = set.Combine(factors, f.Weights); err != nil {
		return nil, err
	}
	if tests[0] != nil {
		f.Test, err = set.Combine(tests, f.Weights)
	}
	return f, err
}

func (s Spec) weigh(set *discriminant.Set) (scores, weights []float64, err error) {
	switch s.weights {
	case weightUniform:
		return nil, set.Uniform(), nil
	case weightAlignment:
		weights, err = set.Alignment()
		return nil, weights, err
	case weightUtilityPrivacy:
		weights, err = set.UtilityPrivacyAlignment()
		return nil, weights, err
	case weightSNR:
		scores, err = set.SNR(s.scoreRidge)
	case weightUPR:
		scores, err = set.UtilityToPrivacy(s.scoreRidge)
	default:
		return nil, nil, fmt.Errorf("unknown weights %q", s.weights)
	}
	if err != nil {
		return nil, nil, err
	}
	weights, err = discriminant.UnitNorm(scores)
	return scores, weights, err
}

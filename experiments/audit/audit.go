// Package audit looks for violations of what a mechanism claims to protect. It
// runs the mechanism many times on two neighbouring data sets, worst cases as
// far as they are known, and bounds ε from below by how often the outputs fall
// into some event (Jagielski, Ullman and Oprea, "Auditing differentially private
// machine learning", NeurIPS 2020; Ding, Wang, Wang, Zhang and Kifer, "Detecting
// violations of differential privacy", CCS 2018). The event is chosen on one half
// of the draws and tested on the other.
//
// An audit can show that a claim is false. It can never show that it is true:
// other neighbours, other events or more draws may say more, and the noise's
// behaviour below the resolution of floating-point numbers is out of its reach.
// Of Gaussian noise the exact δ(ε) is computed besides, see [CheckGaussian].
package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"privkern/experiments/mechanism"
)

// Pair is a mechanism on two neighbouring data sets.
type Pair struct {
	Name string // in what they differ
	// Draw releases one of the data sets anew and reduces the release to a
	// number, which is post-processing and costs no privacy. The number should
	// keep what tells the data sets apart. Draw is called from several
	// goroutines, each with a stream of its own.
	Draw func(second bool, rng *rand.Rand) (float64, error)
}

// Subject is a mechanism with its claim.
type Subject struct {
	Name, Doc string
	Unit      string // what is protected
	Claim     mechanism.Guarantee
	Pairs     []Pair
	// Sigma is the noise's standard deviation in units of the sensitivity where
	// the release is a Gaussian mechanism or a composition of such, and 0
	// elsewhere. It is as calculated, so that an error in the draws shows in the
	// black box only.
	Sigma float64
}

// Options are the settings of an audit.
type Options struct {
	Draws      int     // from each data set of each pair; half of them choose the event
	Confidence float64 // that the bound of ε holds, strictly between 0 and 1
	Seed       uint64
	// Drawn, if not nil, is told how many numbers were drawn since the last
	// call. It is called from several goroutines.
	Drawn func(n int)
}

// maxDraws bounds the memory of an audit: the draws from both data sets of a pair
// are kept, and those of the best pair, 8 bytes each.
const maxDraws = 100_000_000

// MinDraws is the least number of draws with which an event can be chosen.
const MinDraws = 100

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	if o.Draws < MinDraws {
		return fmt.Errorf("%d draws are too few to choose an event; take at least %d", o.Draws, MinDraws)
	}
	if o.Draws > maxDraws {
		return fmt.Errorf("%d draws are too many to keep; take at most %d", o.Draws, maxDraws)
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return fmt.Errorf("a confidence of %v is no probability strictly between 0 and 1", o.Confidence)
	}
	return nil
}

// Total is how many numbers the audit of a subject draws.
func (o Options) Total(s Subject) int { return 2 * o.Draws * len(s.Pairs) }

// Result is the outcome of an audit.
type Result struct {
	Mechanism  string  `json:"mechanism"`
	Unit       string  `json:"unit"`
	Epsilon    float64 `json:"claimed_epsilon"`
	Delta      float64 `json:"claimed_delta"`
	Draws      int     `json:"draws"`
	Confidence float64 `json:"confidence"`
	Seed       uint64  `json:"seed"`
	// EpsilonAtLeast bounds ε at the claimed δ from below, at the confidence. 0
	// says nothing.
	EpsilonAtLeast float64 `json:"epsilon_at_least"`
	Event          Event   `json:"event"`
	// ExactDelta is the smallest δ at the claimed ε, of Gaussian mechanisms only.
	ExactDelta *float64 `json:"exact_delta,omitempty"`
	Violation  bool     `json:"violation"`
}

// Event is the set of outputs that was tested, with what came of it in the
// second half of the draws.
type Event struct {
	Pair string `json:"pair"`
	// Outputs describes the set.
	Outputs string `json:"outputs"`
	// Likely is the data set, 1 or 2, under which the event is the likelier one.
	Likely int `json:"likely"`
	// Hits and OtherHits count the draws in the event under the likely data set
	// and under the other, of Tested each.
	Hits      int `json:"hits"`
	OtherHits int `json:"other_hits"`
	Tested    int `json:"tested"`
}

// Run audits a subject. Equal seeds give equal results, on any number of cores.
func Run(ctx context.Context, s Subject, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(s.Pairs) == 0 {
		return nil, fmt.Errorf("audit of %s: there are no neighbouring data sets", s.Name)
	}
	r := &Result{
		Mechanism: s.Name, Unit: s.Unit, Epsilon: s.Claim.Epsilon, Delta: s.Claim.Delta,
		Draws: o.Draws, Confidence: o.Confidence, Seed: o.Seed,
	}
	// One event of one pair is tested, so that there is nothing to correct for.
	var best choice
	for i, pair := range s.Pairs {
		first, errFirst := draw(ctx, s, i, false, o)
		second, errSecond := draw(ctx, s, i, true, o)
		if err := errors.Join(errFirst, errSecond); err != nil {
			return nil, err
		}
		half := o.Draws / 2
		c := choose(first[:half], second[:half], s.Claim.Delta, o.Confidence)
		c.pair, c.first, c.second = pair.Name, first[half:], second[half:]
		if i == 0 || c.bound > best.bound {
			best = c
		}
	}
	r.Event = best.test()
	r.EpsilonAtLeast = EpsilonAtLeast(r.Event.Hits, r.Event.OtherHits, r.Event.Tested, s.Claim.Delta, o.Confidence)
	r.Violation = r.EpsilonAtLeast > s.Claim.Epsilon
	if s.Sigma != 0 {
		exact, err := mechanism.GaussianDelta(s.Claim.Epsilon, s.Sigma)
		if err != nil {
			return nil, fmt.Errorf("audit of %s: %w", s.Name, err)
		}
		r.ExactDelta = &exact
		r.Violation = r.Violation || exceeds(exact, s.Claim.Delta)
	}
	return r, nil
}

// chunk is how many numbers come from one stream.
const chunk = 1000

// draw draws from one data set. The streams belong to places in the sample, not
// to goroutines.
func draw(ctx context.Context, s Subject, pair int, second bool, o Options) ([]float64, error) {
	out := make([]float64, o.Draws)
	chunks := (o.Draws + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	failures := make([]error, workers)
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= chunks {
					return
				}
				if failures[w] = ctx.Err(); failures[w] != nil {
					return
				}
				part := out[k*chunk : min((k+1)*chunk, o.Draws)]
				if err := drawChunk(s.Pairs[pair], second, part, stream(s.Name, pair, second, k, o.Seed)); err != nil {
					failures[w] = fmt.Errorf("audit of %s, %s: %w", s.Name, s.Pairs[pair].Name, err)
					next.Store(int64(chunks)) // the others need not go on
					return
				}
				if o.Drawn != nil {
					o.Drawn(len(part))
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, errors.Join(failures...)
}

func drawChunk(p Pair, second bool, out []float64, rng *rand.Rand) error {
	for i := range out {
		v, err := p.Draw(second, rng)
		if err != nil {
			return err
		}
		if math.IsNaN(v) {
			return errors.New("an output is NaN, which belongs to no event")
		}
		out[i] = v
	}
	return nil
}

func stream(name string, pair int, second bool, chunk int, seed uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "audit\x00%s\x00%d\x00%v\x00%d\x00%d", name, pair, second, chunk, seed))))
}

// CheckGaussian compares a claim with the exact δ(ε) of Gaussian noise whose
// standard deviation is sigma in units of the sensitivity (Balle and Wang 2018,
// Theorem 8). It returns a *[ViolationError] where the noise is too little, by
// more than the 1e-9 that the calculation's rounding can explain, and the errors
// of [mechanism.GaussianDelta]. It needs no draws: it is for the rows of tables.
func CheckGaussian(claim mechanism.Guarantee, sigma float64) error {
	exact, err := mechanism.GaussianDelta(claim.Epsilon, sigma)
	if err != nil {
		return err
	}
	if exceeds(exact, claim.Delta) {
		return &ViolationError{Claim: claim, Sigma: sigma, Delta: exact}
	}
	return nil
}

// exceeds says whether an exact δ is above a claim by more than rounding.
func exceeds(exact, claimed float64) bool { return !(exact <= claimed*(1+1e-9)) }

// ViolationError says that Gaussian noise is too little for what it claims.
type ViolationError struct {
	Claim mechanism.Guarantee
	Sigma float64 // in units of the sensitivity
	Delta float64 // the exact δ at the claim's ε
}

func (e *ViolationError) Error() string {
	return fmt.Sprintf("Gaussian noise of %.6g times the sensitivity has delta = %.6g at epsilon = %g, above the claimed %g; calibrate it with the analytic Gaussian mechanism",
		e.Sigma, e.Delta, e.Claim.Epsilon, e.Claim.Delta)
}

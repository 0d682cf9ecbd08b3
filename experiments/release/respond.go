package release

import (
	"errors"
	"fmt"
	"math"

	"privkern/runner/experiment"
)

// Response is k-ary randomised response (Warner, "Randomized response", 1965; Kairouz, Bonawitz and Ramage, "Discrete
// distribution estimation under local privacy", ICML 2016, Section 4.1): each label, one of k classes, is answered by
// itself with probability e^ε/(e^ε + k − 1), and by each of the others with 1/(e^ε + k − 1). An answer is
// (ε, 0)-differentially private for its label, and answers are independent.
type Response struct {
	What    string // for those who get the release, such as "class"
	Epsilon float64
	Classes int // k, at least 2
	// Labels are those that one protected unit has at most.
	Labels int
}

// Check refuses a response that cannot be drawn.
func (r Response) Check() error {
	switch {
	case !(r.Epsilon > 0) || math.IsInf(r.Epsilon, 1):
		return fmt.Errorf("%s: epsilon = %g: a positive, finite number is required to answer by", r.What, r.Epsilon)
	case r.Classes < 2 || uint64(r.Classes) > math.MaxUint32:
		return fmt.Errorf("%s: randomised response of %d classes", r.What, r.Classes)
	}
	return nil
}

// lawResponse is the law of [Source.Respond].
const lawResponse = "randomised response"

// Respond answers labels (n, from 0). A class is drawn uniformly, and accepted where it is the label, or else with
// the probability exp(−ε), by an exact Bernoulli trial (Canonne, Kamath and Steinke 2020, Algorithm 1): no
// probability is rounded.
func (s *Source) Respond(r Response, labels []int) ([]int, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	for _, label := range labels {
		if label < 0 || label >= r.Classes {
			return nil, errors.New("a defect: a label is none of the classes")
		}
	}
	out := make([]int, len(labels))
	for i, label := range labels {
		if s.bits == nil {
			if out[i] = 0; len(s.outputs) > 0 {
				out[i], s.outputs = int(s.outputs[0]), s.outputs[1:]
			}
			continue
		}
		for {
			out[i] = s.IntN(r.Classes)
			if out[i] == label || s.bits.exp(r.Epsilon) {
				break
			}
		}
	}
	s.describe(experiment.Noise{Law: lawResponse, Query: r.What, Coordinates: len(labels), Sensitivity: float64(r.Labels)})
	if s.trace != nil {
		*s.trace = append(*s.trace, Draw{Query: numbers(labels), Output: numbers(out)})
	}
	return out, nil
}

func numbers(of []int) []float64 {
	out := make([]float64, len(of))
	for i, n := range of {
		out[i] = float64(n)
	}
	return out
}

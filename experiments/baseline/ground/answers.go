package ground

import (
	"math"

	"privkern/experiments/mechanism/loss"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Answers are answers at random to the classes of all rows, see [release.Response].
type Answers struct {
	response release.Response
	none     bool // without privacy
}

// bisections bring the ε of an answer to within a thousandth of the largest.
const bisections = 12

// Answers calibrates answers at random: of one row with the ε of the budget, and of the m rows of a person with the
// largest ε₀ of which m compose to the budget, at least ε/m.
func (p *Problem) Answers() (*Answers, error) {
	a := &Answers{release.Response{What: "class", Classes: p.Classes, Labels: p.settings(nil).Person.Rows()}, p.Noiseless()}
	if a.none {
		return a, nil
	}
	m := float64(a.response.Labels)
	low, high := p.Epsilon, p.Epsilon
	if m > 1 {
		low = p.Epsilon / m * (1 - 0x1p-50)
	}
	for range bisections {
		if low == high {
			break
		}
		a.response.Epsilon = (low + high) / 2
		composed, err := loss.Epsilon(a.Losses(), p.Delta)
		if err != nil {
			return nil, err
		}
		if composed <= p.Epsilon {
			low = a.response.Epsilon
		} else {
			high = a.response.Epsilon
		}
	}
	a.response.Epsilon = low
	return a, a.response.Check()
}

// Losses are those of the answers for one protected unit.
func (a *Answers) Losses() []experiment.Loss {
	if a.none {
		return nil
	}
	return []experiment.Loss{{Law: "randomised response", Size: a.response.Epsilon, Times: a.response.Labels}}
}

// Matrix returns the probabilities of an answer (k classes): that of the label itself, and that of each other class.
func (a *Answers) Matrix() (own, other float64) {
	if a.none {
		return 1, 0
	}
	other = 1 / (math.Exp(min(a.response.Epsilon, 700)) + float64(a.response.Classes-1))
	return 1 - float64(a.response.Classes-1)*other, other
}

// Answers returns an answer to the class of every row.
func (s *Sums) Answers(a *Answers) ([]int, error) {
	switch {
	case s.source != nil:
		return s.source.Respond(a.response, s.rows.Labels)
	case s.rng == nil || a.none:
		return s.rows.Labels, nil
	}
	own, other := a.Matrix()
	out := make([]int, len(s.rows.Labels))
	for i, label := range s.rows.Labels {
		if out[i] = label; s.rng.Float64() < own-other {
			continue
		}
		out[i] = s.rng.IntN(a.response.Classes)
	}
	return out, nil
}

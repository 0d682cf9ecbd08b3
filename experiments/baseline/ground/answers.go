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
// largest ε₀ of which m compose to the budget, at least ε/m. Answers are independent, and the loss of each is dominated
// by that of any mechanism of its ε (package loss).
func (p *Problem) Answers() (*Answers, error) {
	a := &Answers{none: p.Noiseless(),
		response: release.Response{What: "class", Classes: p.Classes, Labels: p.settings(nil).Person.Rows()}}
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

// matrix returns the probability of an answer that is the label, and that of each other class.
func (a *Answers) matrix() (own, other float64) {
	other = 1 / (math.Exp(min(a.response.Epsilon, 700)) + float64(a.response.Classes-1))
	return 1 - float64(a.response.Classes-1)*other, other
}

// Answers returns an answer to the class of every row, the probability of one that is the label, and that of each other
// class.
func (s *Sums) Answers(a *Answers) (answers []int, own, other float64, err error) {
	if s.source == nil && s.rng == nil || a.none {
		return s.rows.Labels, 1, 0, nil
	}
	own, other = a.matrix()
	if s.source != nil {
		answers, err = s.source.Respond(a.response, s.rows.Labels)
		return answers, own, other, err
	}
	answers = make([]int, len(s.rows.Labels))
	for i, label := range s.rows.Labels {
		if answers[i] = label; s.rng.Float64() >= own-other {
			answers[i] = s.rng.IntN(a.response.Classes)
		}
	}
	return answers, own, other, nil
}

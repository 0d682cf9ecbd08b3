package stats

import (
	"fmt"
	"math"

	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// The laws of the losses.
const (
	laplace = "laplace"
	choice  = "exponential mechanism"
)

// lossesOf returns the losses of all queries with ε₀ each.
func (p *problem) lossesOf(each float64) []experiment.Loss {
	columns := len(p.names)
	scalars := columns // numbers of values
	if p.Mean {
		scalars += columns
	}
	if p.data.People != nil {
		scalars++ // the number of rows
	}
	out := []experiment.Loss{{Law: laplace, Size: each, Times: scalars}}
	unknown := 0
	for j := range columns {
		if !p.known(j) {
			unknown++
		}
	}
	if unknown > 0 {
		out = append(out, experiment.Loss{Law: laplace, Size: each / 2, Times: 2 * unknown})
	}
	if n := len(p.Quantiles); n > 0 {
		out = append(out, experiment.Loss{Law: choice, Size: each, Times: n * columns})
	}
	return out
}

// leastEpsilon is well above the part of ε that the rounding of exponents costs, some 2⁻²⁸
// ([release.Source.Choose]).
const leastEpsilon = 1e-7

// compose finds ε₀.
func (p *problem) compose() error {
	sum := 0.0
	for _, l := range p.lossesOf(1) {
		sum += l.Size * float64(l.Times)
	}
	p.pure = true
	for p.epsilon = p.Epsilon / sum; ; p.epsilon = math.Nextafter(p.epsilon, 0) {
		p.losses = p.lossesOf(p.epsilon)
		booked, err := loss.Book(p.losses, 0)
		if err != nil {
			return err
		}
		if booked.Pure <= p.Epsilon {
			break
		}
	}
	if p.Delta > 0 {
		if err := p.composeTightly(); err != nil {
			return err
		}
	}
	if p.epsilon < leastEpsilon {
		return fmt.Errorf("epsilon = %g leaves %.3g for each of the statistics; at least %g is needed: use a larger "+
			"epsilon, or fewer columns or quantiles", p.Epsilon, p.epsilon, leastEpsilon)
	}
	return nil
}

// bisections bring ε₀ to within a thousandth of the largest.
const bisections = 12

// composeTightly raises ε₀ as far as (ε, δ) allows, if that is farther than the sum of ε does.
func (p *problem) composeTightly() error {
	low, high := p.epsilon, min(p.Epsilon, 4*p.epsilon)
	for range bisections {
		each := (low + high) / 2
		composed, err := loss.Epsilon(p.lossesOf(each), p.Delta)
		if err != nil {
			return err
		}
		if composed <= p.Epsilon {
			low, p.pure = each, false
		} else {
			high = each
		}
	}
	p.epsilon, p.losses = low, p.lossesOf(low)
	return nil
}

package choose

import (
	"fmt"
	"math"

	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// The laws of [experiment.Loss].
const (
	gaussian    = "gaussian"
	exponential = "exponential mechanism"
)

// Budget is an (ε, δ) that is divided.
type Budget struct {
	Epsilon, Delta float64
	// Whole is the μ of (ε, δ), Choice that of the choice and Release that of the release after it: the sum of squares
	// of these two is at most the square of Whole. Release is 0 where the choice takes all.
	Whole, Choice, Release mechanism.GDP
	// Candidate is the most that each of the candidates may have.
	Candidate mechanism.GDP
	// Exponential is the ε of the exponential mechanism.
	Exponential float64
}

// below takes more off a μ than rounding adds to the sum of squares of a hundred of them.
const below = 1 - 1e-9

// Split divides (ε, δ): of the square of its μ, the choice among that many candidates takes a share from above 0 up to
// 1, of which each candidate takes an equal part, and the release the rest.
func Split(epsilon, delta, share float64, candidates int) (*Budget, error) {
	whole, err := mechanism.GDPFor(epsilon, delta)
	if err != nil {
		return nil, err
	}
	b := &Budget{Epsilon: epsilon, Delta: delta, Whole: whole * below}
	square := float64(b.Whole * b.Whole)
	b.Choice = mechanism.GDP(math.Sqrt(share*square)) * below
	b.Release = mechanism.GDP(math.Sqrt((1-share)*square)) * below
	b.Candidate = b.Choice / mechanism.GDP(math.Sqrt(float64(candidates))) * below
	b.Exponential, err = exponentialOf(b.Choice)
	return b, err
}

// exponentialOf returns the largest ε, but for a part in a million, of a choice by the exponential mechanism that is
// μ-Gaussian differentially private.
func exponentialOf(mu mechanism.GDP) (float64, error) {
	low, high := 0.0, 4*float64(mu)+1 // the μ of ε is 0.62 ε and more for small ε, and grows with its root for large ones
	within := func(epsilon float64) (bool, error) {
		is, err := gdpOf([]experiment.Loss{{Law: exponential, Size: epsilon, Times: 1}})
		return is <= mu, err
	}
	for {
		ok, err := within(high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1e-6*high {
		middle := low + (high-low)/2
		ok, err := within(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
		if high < 1e-300 {
			return 0, fmt.Errorf("mu = %g is too little to choose by", mu)
		}
	}
	return low, nil
}

// gdpOf returns the μ of a composition of mechanisms.
func gdpOf(losses []experiment.Loss) (mechanism.GDP, error) {
	booked, err := loss.Book(losses, 0)
	return mechanism.GDP(booked.Mu), err
}

package bench

import (
	"math"
	"slices"
)

// Clock is the clock of a time; empty for other values.
type Clock string

// CPU is the processor time of all threads, user and system.
const CPU Clock = "cpu"

// Measurement is one measured value, with its bound where there is one.
type Measurement struct {
	Benchmark string    `json:"benchmark"`
	Name      string    `json:"name"` // of the value, within its benchmark
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`               // of Value, its samples and the bounds
	Clock     Clock     `json:"clock,omitempty"`    // of Samples
	Samples   []float64 `json:"samples,omitempty"`  // in the order of measuring; Value is their median
	AtMost    *float64  `json:"at_most,omitempty"`  // nil: no upper bound
	AtLeast   *float64  `json:"at_least,omitempty"` // nil: no lower bound
	Met       *bool     `json:"met,omitempty"`      // nil: no bound
	Peer      *Peer     `json:"peer,omitempty"`     // nil: it was not measured
}

// Peer is the time of the same work in another library.
type Peer struct {
	Library string    `json:"library"`
	Value   float64   `json:"value"`   // the median of the processor time, in s
	Samples []float64 `json:"samples"` // one after each of the measurement's
	// Ratio is the median of the ratios of the measurement to the peer, over pairs of
	// samples.
	Ratio  float64  `json:"ratio"`
	AtMost *float64 `json:"at_most,omitempty"` // the bound of Ratio; nil: none
	// Met is true where the bound is above the lower quartile of the ratios.
	Met *bool `json:"met,omitempty"`
}

func newPeer(library string, ours, theirs []float64, atMost float64) *Peer {
	ratios := make([]float64, min(len(ours), len(theirs)))
	for i := range ratios {
		ratios[i] = ours[i] / theirs[i]
	}
	p := &Peer{Library: library, Value: median(theirs), Samples: theirs, Ratio: median(ratios)}
	if atMost != 0 {
		met := quantile(ratios, .25) <= atMost
		p.AtMost, p.Met = &atMost, &met
	}
	return p
}

// median returns the median of some numbers; NaN of none.
func median(v []float64) float64 { return quantile(v, .5) }

// quantile interpolates between the order statistics of v.
func quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	at := p * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// spread returns half the interquartile range of the samples, as a share of the median.
func spread(v []float64) float64 { return (quantile(v, .75) - quantile(v, .25)) / 2 / median(v) }

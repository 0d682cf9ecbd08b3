package bench

import (
	"math"
	"slices"
)

// Clock is what a time was measured with; empty for what is no repeated measure of a time.
type Clock string

// The clocks of measurements.
const (
	CPU  Clock = "cpu"  // the processor time of all threads, user and system
	Wall Clock = "wall" // a clock on the wall
)

// Measurement is one measured value, with the bound that it is meant to keep where
// there is one.
type Measurement struct {
	Benchmark string    `json:"benchmark"`
	Name      string    `json:"name"` // of the value, within its benchmark
	Value     float64   `json:"value"`
	Unit      string    `json:"unit"`               // of Value, its samples and the bounds
	Clock     Clock     `json:"clock,omitempty"`    // of repeated measures, whose median Value is
	Samples   []float64 `json:"samples,omitempty"`  // in the order of their measuring
	AtMost    *float64  `json:"at_most,omitempty"`  // nil: no upper bound
	AtLeast   *float64  `json:"at_least,omitempty"` // nil: no lower bound
	Met       *bool     `json:"met,omitempty"`      // nil: no bound
	Peer      *Peer     `json:"peer,omitempty"`     // nil: it was not measured

	spread float64 // of samples that are not kept, as a share; see the function
}

// Peer is what the same work takes in another library.
type Peer struct {
	Library string    `json:"library"`
	Value   float64   `json:"value"`   // the median of the processor time, in s
	Samples []float64 `json:"samples"` // one after each of the measurement's
	// Ratio is the median of the ratios of samples that follow one another: the
	// measurement in times the peer.
	Ratio  float64  `json:"ratio"`
	AtMost *float64 `json:"at_most,omitempty"` // the bound of Ratio; nil: none
	// Met says that no more than noise, the middle half of the ratios, is above the bound.
	Met *bool `json:"met,omitempty"`
}

func newPeer(library string, ours, theirs []float64, atMost float64) *Peer {
	each := ratios(ours, theirs)
	p := &Peer{Library: library, Value: median(theirs), Samples: theirs, Ratio: median(each)}
	if atMost != 0 {
		met := middle(each).low <= atMost
		p.AtMost, p.Met = &atMost, &met
	}
	return p
}

// ratios are those of the samples of a measurement to its peer's, in pairs.
func ratios(ours, theirs []float64) []float64 {
	out := make([]float64, min(len(ours), len(theirs)))
	for i := range out {
		out[i] = ours[i] / theirs[i]
	}
	return out
}

// median is the middle one of some numbers, or the mean of the middle two; NaN of none.
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

// interval is a range of values.
type interval struct{ low, high float64 }

// middle is the middle half of some samples, between the quartiles.
func middle(v []float64) interval { return interval{quantile(v, .25), quantile(v, .75)} }

// overlaps says whether intervals have a value in common.
func (i interval) overlaps(j interval) bool { return i.low <= j.high && j.low <= i.high }

// spread is half the width of the middle half of the samples, as a share of the median.
func spread(v []float64) float64 {
	m := middle(v)
	return (m.high - m.low) / 2 / median(v)
}

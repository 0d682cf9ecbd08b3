package readers

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// RRVectors returns the vectors y^i = [RR^i, RR^(i−1), ..., RR^(i−history)] of
// history+1 consecutive intervals, in s, and their labels (StressRest or
// StressTask): n × (history+1), one for every beat i that has as many
// intervals before it in its burst ([Beat.Follows]), so that no gap is bridged.
// Vectors whose beats have not all the same label, or none, are left out.
// Successive vectors overlap: an interval is in up to history+1 of them.
// Without vectors the matrix is empty.
func RRVectors(s StressSubject, history int) (vectors *mat.Dense, labels []int) {
	if history < 0 {
		panic("dataset: a history below 0")
	}
	var data []float64
	run := 0 // beats up to here that follow each other with the same label
	for i, b := range s.Beats {
		switch {
		case b.Label == StressUnlabelled:
			run = 0
			continue
		case !b.Follows || run > 0 && b.Label != s.Beats[i-1].Label:
			run = 0
		}
		if run++; run <= history {
			continue
		}
		for j := range history + 1 {
			data = append(data, s.Beats[i-j].Interval)
		}
		labels = append(labels, int(b.Label))
	}
	if len(labels) == 0 {
		return new(mat.Dense), nil
	}
	return mat.NewDense(len(labels), history+1, data), labels
}

// RRWindows returns windows of that many consecutive intervals, in s, that have none in common, with their labels: each
// burst ([Beat.Follows]) with one label is cut from its beginning, and its rest is left out. It takes the intervals as
// they are, with artefacts.
func RRWindows(s StressSubject, length int) (windows [][]float64, labels []int8) {
	var window []float64
	for i, b := range s.Beats {
		if b.Label == StressUnlabelled || !b.Follows || i > 0 && b.Label != s.Beats[i-1].Label {
			window = nil
		}
		if b.Label == StressUnlabelled {
			continue
		}
		if window = append(window, b.Interval); len(window) == length {
			windows, labels, window = append(windows, window), append(labels, b.Label), nil
		}
	}
	return windows, labels
}

// The settings of [RejectImpulses] for intervals between heart beats.
const (
	ImpulseWindow    = 51 // intervals: most of a minute
	ImpulseThreshold = 5
)

// intervalResolution is the resolution of the recorded intervals, in s.
const intervalResolution = 1. / 64

// RejectImpulses returns the subject with artefacts among its intervals, such
// as missed and extra beats, replaced, and their number. An interval x is
// replaced by the median m of the window of that many intervals around it,
// itself included, if
//
//	|x − m| / (1.483·MAD) > threshold
//
// where MAD is the median of |x − m| over the window, and 1.483·MAD estimates
// the standard deviation of normal values. The window is centred, must be odd,
// is cut at the ends of the recording, and goes over gaps, as the heart rate
// does. Because times are recorded in steps of 1/64 s, a smaller MAD is taken
// as 1/64 s; a steady heart would have all its variation rejected otherwise.
// Only Interval changes: times, labels and bursts stay.
//
// After J. McNames, T. Thong, M. Aboy, "Impulse rejection filter for artifact removal
// in spectral analysis of biomedical signals", EMBS 2004; m and MAD are those of the
// window instead of the whole recording, because a heart rate drifts. It takes
// O(n·window·log window) operations.
func RejectImpulses(s StressSubject, window int, threshold float64) (filtered StressSubject, replaced int) {
	if window < 1 || window%2 == 0 || !(threshold > 0) {
		panic("dataset: a window that is not odd and positive, or a threshold that is not positive")
	}
	filtered = StressSubject{Subject: s.Subject, Beats: slices.Clone(s.Beats)}
	values := make([]float64, 0, window)
	for i, b := range s.Beats {
		values = values[:0]
		for _, near := range s.Beats[max(0, i-window/2):min(len(s.Beats), i+window/2+1)] {
			values = append(values, near.Interval)
		}
		m := median(values)
		for j, x := range values {
			values[j] = math.Abs(x - m)
		}
		spread := 1.483 * max(median(values), intervalResolution)
		if math.Abs(b.Interval-m)/spread > threshold {
			filtered.Beats[i].Interval = m
			replaced++
		}
	}
	return filtered, replaced
}

// median sorts x, which must not be empty.
func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

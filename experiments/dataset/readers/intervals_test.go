package readers

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// session makes beats of the given intervals that follow each other; an
// interval of 0 is a gap, and makes no beat.
func session(label int8, intervals ...float64) (beats []Beat) {
	follows := false
	for _, x := range intervals {
		if x > 0 {
			beats = append(beats, Beat{Interval: x, Label: label, Follows: follows})
		}
		follows = x > 0
	}
	return beats
}

func TestRRVectors(t *testing.T) {
	// continued joins a part without a gap before it.
	continued := func(b []Beat) []Beat { b[0].Follows = true; return b }
	for _, c := range []struct {
		name    string
		beats   []Beat
		history int
		want    []float64 // rows of history+1
		labels  []int
	}{
		{"the newest interval comes first", session(0, 1, 2, 3, 4), 2, []float64{3, 2, 1, 4, 3, 2}, []int{0, 0}},
		{"no history", session(1, 1, 2), 0, []float64{1, 2}, []int{1, 1}},
		{"as long as the burst", session(0, 1, 2, 3), 2, []float64{3, 2, 1}, []int{0}},
		{"longer than the burst", session(0, 1, 2, 3), 3, nil, nil},
		{"a gap is not bridged", session(0, 1, 2, 0, 3, 4, 5), 2, []float64{5, 4, 3}, []int{0}},
		{"labels are not mixed", append(session(0, 1, 2), continued(session(1, 3, 4))...), 1, []float64{2, 1, 4, 3},
			[]int{0, 1}},
		{"unlabelled beats are left out", append(session(0, 1, 2),
			continued(append(session(-1, 3), continued(session(0, 4, 5))...))...), 1, []float64{2, 1, 5, 4}, []int{0, 0}},
		{"no beats", nil, 1, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, labels := RRVectors(StressSubject{Beats: c.beats}, c.history)
			if !slices.Equal(labels, c.labels) {
				t.Errorf("labels %v, want %v", labels, c.labels)
			}
			if len(c.want) == 0 {
				if !got.IsEmpty() {
					t.Errorf("%v, want none", mat.Formatted(got))
				}
				return
			}
			if want := mat.NewDense(len(c.labels), c.history+1, c.want); !mat.Equal(got, want) {
				t.Errorf("%s:\n%v\nwant\n%v", c.name, mat.Formatted(got), mat.Formatted(want))
			}
		})
	}
}

func TestRejectImpulses(t *testing.T) {
	for _, c := range []struct {
		name      string
		intervals []float64
		window    int
		want      []float64
	}{
		// median 0.8, MAD 0.02: a deviation beyond 5·1.483·0.02 = 0.1483 goes
		{"a missed and an extra beat", []float64{0.78, 0.82, 1.6, 0.8, 0.4, 0.78, 0.82}, 13,
			[]float64{0.78, 0.82, 0.8, 0.8, 0.8, 0.78, 0.82}},
		{"just inside the threshold", []float64{0.78, 0.82, 0.948, 0.8, 0.652, 0.78, 0.82}, 13,
			[]float64{0.78, 0.82, 0.948, 0.8, 0.652, 0.78, 0.82}},
		// 5·1.483/64 = 0.1159
		{"a steady heart keeps small changes", []float64{0.8, 0.8, 0.9, 0.8, 0.8}, 5, []float64{0.8, 0.8, 0.9, 0.8, 0.8}},
		{"a steady heart loses large ones", []float64{0.8, 0.8, 0.92, 0.8, 0.8}, 5, []float64{0.8, 0.8, 0.8, 0.8, 0.8}},
		{"a slow drift stays", []float64{0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9}, 3,
			[]float64{0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := StressSubject{Subject: 7, Beats: session(1, c.intervals...)}
			got, replaced := RejectImpulses(s, c.window, ImpulseThreshold)
			changed := 0
			for i, b := range got.Beats {
				if b.Interval != c.want[i] || !b.Follows && i > 0 || b.Label != 1 {
					t.Errorf("beat %d is %+v, want the interval %g", i, b, c.want[i])
				}
				if c.want[i] != c.intervals[i] {
					changed++
				}
				if s.Beats[i].Interval != c.intervals[i] {
					t.Error("the argument was changed")
				}
			}
			if replaced != changed || got.Subject != 7 {
				t.Errorf("%d replaced, want %d", replaced, changed)
			}
		})
	}
}

// Windows begin with a burst, have one label and no interval in common; a rest is left out.
func TestRRWindows(t *testing.T) {
	beat := func(interval float64, follows bool, label int8) Beat {
		return Beat{Interval: interval, Follows: follows, Label: label}
	}
	s := StressSubject{Beats: []Beat{
		beat(.1, false, StressRest), beat(.2, true, StressRest), beat(.3, true, StressRest), // a rest of one
		beat(.4, true, StressTask), beat(.5, true, StressTask), // a change of the label
		beat(.6, true, StressUnlabelled), beat(.7, true, StressTask), // no label
		beat(.8, false, StressTask), beat(.9, true, StressTask), // a gap
	}}
	windows, labels := RRWindows(s, 2)
	if got, want := fmt.Sprint(windows, labels), "[[0.1 0.2] [0.4 0.5] [0.8 0.9]] [0 1 1]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

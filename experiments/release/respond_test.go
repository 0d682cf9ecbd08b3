package release

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// Answers have the probabilities of randomised response, whichever class is the label.
func TestRespond(t *testing.T) {
	for i, c := range []struct {
		epsilon float64
		classes int
	}{{1, 2}, {0.1, 3}, {2.5, 7}, {12, 4}} {
		for _, label := range []int{0, c.classes - 1} {
			t.Run(fmt.Sprint(c, label), func(t *testing.T) {
				s, counts := honest(byte(i)), make([]int, c.classes)
				var draws []Draw
				s.Trace(&draws)
				r := Response{What: "class", Epsilon: c.epsilon, Classes: c.classes, Labels: 2}
				out, err := s.Respond(r, slices.Repeat([]int{label}, manyDraws))
				if err != nil {
					t.Fatal(err)
				}
				for _, answer := range out {
					counts[answer]++
				}
				probabilities := slices.Repeat([]float64{1 / (math.Exp(c.epsilon) + float64(c.classes) - 1)}, c.classes)
				probabilities[label] *= math.Exp(c.epsilon)
				checkCounts(t, counts, probabilities)
				if n := s.Drawn()[0]; n.Law != lawResponse || n.Coordinates != manyDraws || n.Sensitivity != 2 {
					t.Errorf("%+v", n)
				}
				if d := draws[0]; d.Noise != nil || d.Query[7] != float64(label) || d.Output[7] != float64(out[7]) {
					t.Errorf("traced %v %v", d.Query[7], d.Output[7])
				}
			})
		}
	}
}

func TestRespondReplayed(t *testing.T) {
	s := Replay([]float64{2, 1})
	got, err := s.Respond(Response{What: "class", Epsilon: 1, Classes: 3, Labels: 1}, []int{0, 0, 1})
	if err != nil || !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRespondRefused(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		classes int
		label   int
		want    string
	}{
		{0, 2, 0, "positive, finite"},
		{math.Inf(1), 2, 0, "positive, finite"},
		{math.NaN(), 2, 0, "positive, finite"},
		{1, 1, 0, "1 classes"},
		{1, 3, 3, "none of the classes"},
		{1, 3, -1, "none of the classes"},
	} {
		_, err := honest(1).Respond(Response{What: "class", Epsilon: c.epsilon, Classes: c.classes, Labels: 1},
			[]int{c.label})
		trialtest.Refuses(t, err, c.want)
	}
}

package method

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
)

// Measures of predictions of three unbalanced classes, counted by hand: of the 8 pairs of a row of the
// second class and another, one is in the wrong order.
func TestMeasures(t *testing.T) {
	p := [][]float64{{.7, .6, .5, .2, .4, .1}, {.2, .3, .4, .7, .35, .2}, {.1, .1, .1, .1, .25, .7}}
	c := Classified{Classes: []string{"a", "b c", "b-c"}, Truth: []int{0, 0, 0, 1, 1, 2},
		Predicted: []int{0, 0, 0, 1, 0, 2},
		Scores:    p, Probabilities: p, Trained: []int{5, 2, 0}}
	m := c.Measures()
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"AUC", *m.AUC, (1 + 7.0/8 + 1) / 3},
		{"balanced accuracy", *m.Balanced, (1 + .5 + 1) / 3},
		{"balanced accuracy of one class", *m.BalancedTrivial, 1.0 / 3},
		{"logarithmic loss", *m.LogLoss, -math.Log(.7*.6*.5*.7*.35*.7) / 6},
		{"logarithmic loss of shares", *m.LogLossTrivial, -math.Log(.6*.6*.6*.3*.3*.1) / 6},
	} {
		trialtest.Near(t, v.name, v.got, v.want, 1e-14)
	}
	want := map[string]float64{"a_as_a": 3, "a_as_b_c": 0, "a_as_b_c_2": 0, "b_c_as_a": 1, "b_c_as_b_c": 1,
		"b_c_as_b_c_2": 0, "b_c_2_as_a": 0, "b_c_2_as_b_c": 0, "b_c_2_as_b_c_2": 1}
	if !maps.Equal(m.Confusion, want) {
		t.Errorf("%v", m.Confusion)
	}

	// Where the test rows are of one class there is no order of classes; a row may have no class.
	one := Classified{Classes: c.Classes, Truth: []int{1, 1}, Predicted: []int{1, -1}, Scores: p, Trained: c.Trained}
	if m := one.Measures(); m.AUC != nil || m.LogLoss != nil || *m.Balanced != .5 || *m.BalancedTrivial != 1 ||
		m.Confusion["b_c_as_b_c"] != 1 {
		t.Errorf("%+v", m)
	}
	zero := Classified{Classes: []string{"a", "b"}, Truth: []int{0}, Predicted: []int{1}, Trained: []int{0, 0},
		Probabilities: [][]float64{{0}, {1}}}
	trialtest.Near(t, "loss of the impossible", *zero.Measures().LogLoss, -math.Log(1e-15), 1e-12)
	many := Classified{Classes: make([]string, 11), Truth: []int{3}, Predicted: []int{3}, Trained: make([]int, 11)}
	if many.Measures().Confusion != nil {
		t.Error("the confusion of eleven classes is counted")
	}
}

func TestLossWarning(t *testing.T) {
	for _, c := range []struct {
		loss, trivial *float64
		want          string
	}{
		{new(5.28), new(1.1), "a log_loss of 5.28, and the shares of the classes have 1.1; do not use the probabilities"},
		{new(.104), new(.1), ""}, {new(.05), new(.1), ""}, {nil, new(.1), ""}, {new(3.), nil, ""},
		{new(math.NaN()), new(.1), ""},
	} {
		l := ClassLosses{LogLoss: c.loss, LogLossTrivial: c.trivial}
		if got := l.Warning(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Names of metrics are different for different classes, and fit into MLflow.
func TestNamesOfClasses(t *testing.T) {
	long := strings.Repeat("é", 300)
	of := []string{"x", "x_as_x", "X", "x_2", "", "日本, 1", "-1", long, long + "1", "İ"}
	c := Classified{Classes: of, Trained: make([]int, len(of))}
	for i := range of {
		c.Truth, c.Predicted = append(c.Truth, i, i), append(c.Predicted, i, 0)
	}
	m, sum := c.Measures(), 0.0
	for name, n := range m.Confusion {
		sum += n
		if len("confusion_"+name) > 250-longestName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("%q", name)
		}
	}
	if len(m.Confusion) != len(of)*len(of) || sum != float64(len(c.Truth)) || m.Confusion["x_as_x"] != 2 {
		t.Errorf("%d counts of %g rows", len(m.Confusion), sum)
	}
	if got := MetricNames([]string{"Ä", "Ö", "2", "b c"}); !slices.Equal(got, []string{"1", "2", "2_2", "b_c"}) {
		t.Error(got)
	}
}

// The mean is over the parts that have a metric.
func TestMeanOf(t *testing.T) {
	part := func(auc *float64, a float64) *ClassMeasures {
		m := &ClassMeasures{AUC: auc}
		m.Confusion = map[string]float64{"x": a}
		return m
	}
	m := MeanOf([]*ClassMeasures{part(new(.5), 1), part(nil, 2), part(new(1.0), 6)})
	if *m.AUC != .75 || m.Confusion["x"] != 3 || m.Balanced != nil {
		t.Errorf("%+v", m)
	}
}

func TestExplained(t *testing.T) {
	for _, c := range []struct {
		square  float64
		outputs []float64
		want    string
	}{
		{0, []float64{1, 2, 3}, "1"}, {2, []float64{1, 2, 3}, "0"}, {5, []float64{1, 2, 3}, "-1.5"},
		{1, []float64{.1, .1, .1}, "none"}, {1, nil, "none"},
	} {
		got := "none"
		if v := Explained(c.square, c.outputs); v != nil {
			got = fmt.Sprint(*v)
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", slices.Clone(c.outputs), got, c.want)
		}
	}
}

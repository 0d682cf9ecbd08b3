package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// formulaScores are given by a formula, so that another implementation can be
// run on them; steps > 0 rounds down to multiples of 1/steps, for ties.
func formulaScores(steps float64) (positive, negative []float64) {
	round := func(v float64) float64 {
		if steps > 0 {
			return math.Floor(v*steps) / steps
		}
		return v
	}
	for i := range 40 {
		positive = append(positive, round(math.Sin(0.7*float64(i))+0.3))
	}
	for i := range 55 {
		negative = append(negative, round(math.Cos(0.9*float64(i))))
	}
	return positive, negative
}

// scikit-learn 1.9.1 roc_auc_score, SciPy 1.17.1 ks_2samp.
func TestAUCAndAdvantageAgainstScikitLearn(t *testing.T) {
	for _, c := range []struct{ steps, auc, advantage float64 }{
		{0, 0.6499999999999999, 0.2909090909090909},
		{3, 0.6399999999999999, 0.2318181818181818},
	} {
		t.Run(fmt.Sprintf("steps of %v", c.steps), func(t *testing.T) {
			p, n := formulaScores(c.steps)
			auc, err := AUC(p, n)
			if err != nil || math.Abs(auc-c.auc) > 1e-14 {
				t.Errorf("steps %g: AUC %.17g, %v; want %.17g", c.steps, auc, err, c.auc)
			}
			advantage, err := Advantage(p, n)
			if err != nil || math.Abs(advantage-c.advantage) > 1e-14 {
				t.Errorf("steps %g: advantage %.17g, %v; want %.17g", c.steps, advantage, err, c.advantage)
			}
			mirrored, _ := AUC(n, p)
			if math.Abs(auc+mirrored-1) > 1e-15 {
				t.Errorf("steps %g: AUC %g and %g with the roles exchanged", c.steps, auc, mirrored)
			}
			if back, _ := Advantage(n, p); back != advantage {
				t.Errorf("steps %g: advantage %g and %g with the roles exchanged", c.steps, advantage, back)
			}
		})
	}
}

// scikit-learn 1.9.1 roc_curve(drop_intermediate=False).
func TestROC(t *testing.T) {
	fpr, tpr, err := ROC([]float64{3, 2, 2, 1}, []float64{2, 1, 0})
	if err != nil || !slices.Equal(fpr, []float64{0, 0, 1. / 3, 2. / 3, 1}) ||
		!slices.Equal(tpr, []float64{0, 0.25, 0.75, 1, 1}) {
		t.Errorf("%v, %v, %v", fpr, tpr, err)
	}
	// Of six pairs one is a tie of infinities, and two have the larger positive.
	inf := math.Inf(1)
	if a, err := AUC([]float64{inf, 1, -inf}, []float64{inf, 0}); err != nil || a != 2.5/6 {
		t.Errorf("with infinite scores: %v, %v", a, err)
	}
}

// Area and advantage are those of the curve, and a thinned curve stays near it.
func TestROCCurveAgreesWithItsArea(t *testing.T) {
	p, n := normal(1, 4000, 0.5, 1), normal(2, 3000, 0, 1)
	fpr, tpr, err := ROC(p, n)
	if err != nil {
		t.Fatal(err)
	}
	area := func(x, y []float64) (a float64) {
		for i := 1; i < len(x); i++ {
			a += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
		}
		return a
	}
	auc, _ := AUC(p, n)
	if math.Abs(area(fpr, tpr)-auc) > 1e-12 {
		t.Errorf("area %g under the curve, AUC %g", area(fpr, tpr), auc)
	}
	// Φ(0.5/√2) for normal scores half a unit apart.
	if math.Abs(auc-0.638) > 0.02 {
		t.Errorf("AUC %g, want about 0.638", auc)
	}
	best := 0.0
	for i := range fpr {
		best = max(best, math.Abs(tpr[i]-fpr[i]))
	}
	if advantage, _ := Advantage(p, n); advantage != best {
		t.Errorf("advantage %g, the curve's is %g", advantage, best)
	}
}

// The mean of scikit-learn 1.9.1's roc_auc_score over the four classes.
func TestMacroAUC(t *testing.T) {
	scores, labels := mat.NewDense(60, 4, nil), make([]int, 60)
	for j := range 60 {
		labels[j] = j * 7 / 5 % 4
		for c := range 4 {
			v := math.Sin(0.31 * float64(j) * float64(c+1))
			if labels[j] == c {
				v += 0.8
			}
			scores.Set(j, c, v)
		}
	}
	got, err := MacroAUC(scores, labels)
	if err != nil || math.Abs(got-0.8085185185185186) > 1e-14 {
		t.Errorf("%.17g, %v", got, err)
	}
	without1 := slices.Clone(labels)
	for i, l := range labels {
		if l == 1 {
			without1[i] = 0
		}
	}
	for want, bad := range map[string][]int{
		"scores of 60 rows, but 3 labels":                          {0, 1, 2},
		"row 0 has label 4; the scores are for the classes 0 to 3": append([]int{4}, labels[1:]...),
		"row 59 has label -1":                                      append(slices.Clone(labels[:59]), -1),
		"class 1 against the others: AUC: no positive rows":        without1,
		"class 0 against the others: AUC: no negative rows":        make([]int, 60),
	} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if _, err := MacroAUC(scores, bad); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
		})
	}
}

func TestROCRefusals(t *testing.T) {
	for _, c := range []struct {
		p, n []float64
		want string
	}{
		{nil, []float64{1}, "no positive rows"},
		{[]float64{1}, nil, "no negative rows"},
		{[]float64{1, math.NaN()}, []float64{1}, "positive row 1 is NaN"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, auc := AUC(c.p, c.n)
			_, advantage := Advantage(c.p, c.n)
			_, _, roc := ROC(c.p, c.n)
			for _, err := range []error{auc, advantage, roc} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want %q", err, c.want)
				}
			}
		})
	}
}

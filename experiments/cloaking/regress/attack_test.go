package regress

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/attack"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/floatnoise"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
)

// attackRows are 40 rows at 8 inputs, with whole outputs from 0 to 100.
func attackRows(missing, output int) (file string, outputs []float64) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 40 {
		y := (37*i*i + 11) % 101
		if i == missing {
			y = output
		}
		outputs = append(outputs, float64(y))
		fmt.Fprintf(&b, "%d,%d\n", 10*(i%8), y)
	}
	return b.String(), outputs
}

// A missing output is one of 101 numbers. From a single release with noise of math/rand/v2 it is
// read off for every ε; with exact noise it is guessed as rarely as the guarantee promises.
func TestAttackOnRegression(t *testing.T) {
	for _, epsilon := range []float64{1, 0.1, 0.01} {
		attacked := func(s *regressionSettings) {
			ownFile("x", "y", 0, 100)(s)
			s.Lengthscale, s.Epsilon, s.Delta = method.LengthscalesOf(8), epsilon, attack.Delta
			s.Calibration = mechanism.Analytic
		}
		a := observer(t, attacked)
		for name, normal := range attack.Samplers(1) {
			t.Run(fmt.Sprintf("epsilon %g, %s", epsilon, name), func(t *testing.T) {
				releases := 10
				if normal == nil {
					releases = 100
				}
				right, rng := 0, rand.New(rand.NewPCG(2, 3))
				for i := range releases {
					missing, output := rng.IntN(40), rng.IntN(101)
					text, outputs := attackRows(missing, output)
					s := trialtest.Options{File: cloaktest.File(t, text), Seed: uint64(i)}
					plan := cloaktest.PlanOf(t, s, Plan, Regression(), attacked)
					r, err := floatnoise.Release(t.Context(), plan, cloaktest.Entropy(i), normal)
					if err != nil {
						t.Fatal(err)
					}
					noisy := a.Whitened(t, cloaktest.ColumnOf(t, r, columnPrediction))
					candidates := make([][]float64, 101)
					for y := range candidates {
						outputs[missing] = float64(y)
						for _, v := range outputs {
							candidates[y] = append(candidates[y], v-a.Mechanism.Within.Prior)
						}
					}
					if a.Best(t, noisy, candidates) == output {
						right++
					}
				}
				t.Logf("%d of %d right", right, releases)
				switch limit := attack.AtMost(releases, attack.Guessing(epsilon, 101)); {
				case normal != nil && right < releases:
					t.Errorf("%d of %d missing outputs are found; the attack finds all", right, releases)
				case normal == nil && right > limit:
					t.Errorf("%d of %d missing outputs are found; chance and epsilon explain %d", right, releases, limit)
				}
			})
		}
	}
}

// observer holds the public part of a release.
func observer(t *testing.T, changes ...func(*regressionSettings)) *attack.Attacker {
	t.Helper()
	text, _ := attackRows(0, 0)
	s := Regression().With(changes...)
	r, err := newOwnPredictor(trialtest.New(t, trialtest.Options{File: cloaktest.File(t, text)}), s)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := r.linear(t.Context(), cloak.Group(r.data.Inputs).Rows)
	if err != nil {
		t.Fatal(err)
	}
	ranges, designs, err := cloak.SolveLinear(t.Context(), r.work(), []cloak.Linear{c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cloak.NewMechanism(ranges[0], designs[0], &s.GaussianBudget,
		cloak.Interval{Low: r.data.Low, High: r.data.High, Prior: r.data.Prior}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rank := len(ranges[0].Scale)
	a := &attack.Attacker{Layers: floatnoise.New(), Mechanism: m, From: mat.NewDense(8, rank, nil)}
	for k := range rank {
		a.From.SetCol(k, mat.Col(nil, 0, ranges[0].Predictions(designs[0].Unwhiten(attack.Unit(rank, k)))))
	}
	for range 8 {
		a.Offset = append(a.Offset, r.data.Prior)
	}
	return a
}

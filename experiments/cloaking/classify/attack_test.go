package classify

import (
	"fmt"
	"math"
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

// attackLabels are 32 rows of two classes at 8 inputs.
func attackLabels(missing, class int) (file string, sums []float64) {
	var b strings.Builder
	b.WriteString("x,ill\n")
	sums = make([]float64, 8)
	for i := range 32 {
		y := i * i % 7 % 2
		if i == missing {
			y = class
		}
		sums[i%8] += float64(2*y - 1)
		fmt.Fprintf(&b, "%d,%d\n", 10*(i%8), y)
	}
	return b.String(), sums
}

// The same for a missing label, of which there are two.
func TestAttackOnClassification(t *testing.T) {
	for _, epsilon := range []float64{1, 0.1, 0.01} {
		attacked := func(s *classificationSettings) {
			ownFile("x", "ill", 0, 1)(s)
			// A small variance keeps probabilities away from zero and one, where they have
			// fewer digits of the latent function.
			s.Lengthscale, s.KernelVariance = method.LengthscalesOf(8), 0.02*epsilon
			s.Epsilon, s.Delta, s.Calibration = epsilon, attack.Delta, mechanism.Analytic
		}
		a := observer(t, attacked)
		for name, normal := range attack.Samplers(4) {
			t.Run(fmt.Sprintf("epsilon %g, %s", epsilon, name), func(t *testing.T) {
				releases := 30
				if normal == nil {
					releases = 150 // chance is one half: it takes more to see more than chance
				}
				right, rng := 0, rand.New(rand.NewPCG(5, 6))
				for i := range releases {
					missing, class := rng.IntN(32), rng.IntN(2)
					text, _ := attackLabels(missing, class)
					s := trialtest.Options{File: cloaktest.File(t, text), Seed: uint64(i)}
					plan := cloaktest.PlanOf(t, s, Plan, Classification(), attacked)
					r, err := floatnoise.Release(t.Context(), plan, cloaktest.Entropy(i), normal)
					if err != nil {
						t.Fatal(err)
					}
					latent := cloaktest.ColumnOf(t, r, columnProbability)
					for j, p := range latent {
						latent[j] = math.Log(p) - math.Log1p(-p)
					}
					_, zero := attackLabels(missing, 0)
					_, one := attackLabels(missing, 1)
					if a.Best(t, a.Whitened(t, latent), [][]float64{zero, one}) == class {
						right++
					}
				}
				t.Logf("%d of %d right", right, releases)
				switch limit := attack.AtMost(releases, attack.Guessing(epsilon, 2)); {
				case normal != nil && right < releases-1:
					t.Errorf("%d of %d missing labels are found; the attack finds them", right, releases)
				case normal == nil && right > limit:
					t.Errorf("%d of %d missing labels are found; chance and epsilon explain %d", right, releases, limit)
				}
			})
		}
	}
}

// observer holds the public part of a release.
func observer(t *testing.T, change func(*classificationSettings)) *attack.Attacker {
	t.Helper()
	text, _ := attackLabels(0, 0)
	s := Classification().With(change)
	trial := trialtest.New(t, trialtest.Options{File: cloaktest.File(t, text)})
	d, err := s.load(trial, true)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClassifier(trial, &s.ClassifierSettings, s.Method)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := c.prepare(t.Context(), d.inputs, cloak.Group(d.inputs).Rows, "")
	if err != nil {
		t.Fatal(err)
	}
	mode := make([]float64, 8)
	a := &attack.Attacker{Layers: floatnoise.New()}
	if a.Mechanism, err = c.calibrated(t.Context(), fit, mode); err != nil {
		t.Fatal(err)
	}
	rank := len(a.Mechanism.Directions.Scale)
	w := mat.NewDense(rank, rank+1, nil)
	for k := range rank {
		w.SetCol(k, mat.Col(nil, 0, a.Mechanism.Design.Unwhiten(attack.Unit(rank, k))))
	}
	step, err := fit.cov.model.Step(t.Context(), mode, a.Mechanism.Directions.Labels(w))
	if err != nil {
		t.Fatal(err)
	}
	out := new(prediction)
	if err := c.posterior(t.Context(), fit.cov, columns(step.Latent), []*mat.Dense{step.Dual}, out); err != nil {
		t.Fatal(err)
	}
	a.Offset, a.From = mat.Col(nil, rank, out.mean), mat.NewDense(8, rank, nil)
	for i, zero := range a.Offset {
		for k := range rank {
			a.From.Set(i, k, out.mean.At(i, k)-zero)
		}
	}
	return a
}

package dpgp

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
)

// A row's part in the sums of all classes, and of one, has at most the norm that noise is calibrated to where a row is
// added or removed, and some row has it.
func TestAddedSensitivityBoundsRows(t *testing.T) {
	const kk, classes = 1.7, 4
	rng := rand.New(rand.NewPCG(1, 3))
	for _, from := range []centre{balancedCentre, noCentre} {
		for _, ratio := range []float64{0.3, 1, 4} {
			d := newDirichlet(0.1, from, nil)
			all, one := 0.0, 0.0
			for n := range 200 {
				square := kk
				if n > 0 {
					square *= rng.Float64()
				}
				sum := 0.0
				for class := range classes {
					i := indicator(class == n%classes)
					a, b := d.w[i]*d.y[i]*math.Sqrt(square), ratio*d.w[i]*square // norms in A and in ratio·B̂
					sum += a*a + b*b
					one = max(one, math.Hypot(a, b))
				}
				all = max(all, math.Sqrt(sum))
			}
			trialtest.Near(t, "all classes", all/d.jointAdded(classes, ratio, kk), 1, 1e-12)
			trialtest.Near(t, "one class", one/d.classAdded(ratio, kk), 1, 1e-12)
			if d.publishedAdded(ratio, kk) < one {
				t.Errorf("as published: %g, and a row adds %g", d.publishedAdded(ratio, kk), one)
			}
			if s := d.jointSensitivity(classes, ratio, kk); !(all < s) {
				t.Errorf("added or removed %g, substituted %g", all, s)
			}
		}
	}
}

// A row that is added or removed takes less noise in every composition; a record states the relation, and a release
// refuses it.
func TestAddRemove(t *testing.T) {
	file := ownFile(t)
	for name, c := range map[string]composition{"joint": jointly, "split": equalShares, "as published": wholeBudgets} {
		t.Run(name, func(t *testing.T) {
			judge := func(r method.Relation) (float64, string, string) {
				out := trialtest.Compute(t, trialtest.Options{File: file}, classification(), func(s *ClassificationSettings) {
					ownClasses(s)
					s.Composition, s.Neighbours.Neighbours, s.Repeats, s.Delta = c, r, 1, 1e-5
				})
				p := out.Privacy
				return out.Metrics.SigmaA, p.Simulated.Neighbours, p.Unit + "; " + strings.Join(p.Notes, "; ")
			}
			a, relation, text := judge(method.AddRemove)
			if relation != "add-remove" || !strings.Contains(text, "added or removed") ||
				!strings.Contains(text, "one unit more or less") {
				t.Errorf("%s: %s", relation, text)
			}
			if b, relation, text := judge(method.Substitute); relation != "substitute" || a > 0.75*b ||
				strings.Contains(text, "one unit more") {
				t.Errorf("noise %g and %g, %s: %s", a, b, relation, text)
			}
		})
	}
	s := classification().Defaults()
	s.Neighbours.Neighbours, s.Output = method.AddRemove, "kind[a|b]"
	trialtest.Refuses(t, checkClassRelease(s), "the number of rows would have to be private")
}

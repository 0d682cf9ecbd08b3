package cloak

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"privkern/experiments/method"
	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/design"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// matrices are cloaking matrices of several sizes over 30 training ages, each of which
// occurs twice.
func matrices(t *testing.T) []*mat.Dense {
	t.Helper()
	var ages []float64
	for i := range 60 {
		ages = append(ages, float64(i%30)*2.5)
	}
	m := Model{Method: Standard, Hyperparameters: Hyperparameters{
		Kernel: Kernel{Lengthscale: method.LengthscalesOf(9), KernelVariance: 1}, NoiseVariance: 1,
	}}
	var all []*mat.Dense
	for _, points := range [][]float64{{0, 10, 30, 60}, {5, 15, 25, 35, 45, 55, 65}, {0, 40}} {
		c, err := m.Matrix(cloaktest.Engine(t), cloaktest.Column(ages...), cloaktest.Column(points...))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// descending solves by some steps of the gradient descent.
func descending(t *testing.T, steps int, change func(*Solver)) *Work {
	t.Helper()
	s := &Solver{Algorithm: Gradient, Steps: steps, LearningRate: 0.05, Starts: 1, StartBelow: 0.08,
		Rank: trialtest.WordOr[int](FullRank), Start: trialtest.WordOr[float64](UniformStart)}
	change(s)
	most := DefaultCaps().Design
	return &Work{Engine: cloaktest.Engine(t), Solver: s, MaxSteps: most, Stream: func(purpose string) *rand.Rand {
		var seed [32]byte
		copy(seed[:], purpose)
		return rand.New(rand.NewChaCha8(seed))
	}}
}

// size is log|s²M| for noise that is scaled by s, with the largest Mahalanobis norm for s.
func size(logdet, norm float64, rank int) float64 { return logdet + 2*float64(rank)*math.Log(norm) }

// Every way to start and every choice of columns leads to the covariance of the
// interior-point method, within the gap that the descent certifies.
func TestDescentsReachTheCertifiedDesign(t *testing.T) {
	tier.Sequential(t)
	cs := matrices(t)
	_, certified, err := SolveDesigns(t.Context(), descending(t, 1, func(s *Solver) { s.Algorithm = Certified }), cs)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Solver){
		"uniform":  func(*Solver) {},
		"number":   func(s *Solver) { s.Start = experiment.NumberOr[Weights](0.7) },
		"random":   func(s *Solver) { s.Start = trialtest.WordOr[float64](RandomStart) },
		"separate": func(s *Solver) { s.Columns = Separate },
		"separate, three random starts": func(s *Solver) {
			s.Columns, s.Start, s.Starts = Separate, trialtest.WordOr[float64](RandomStart), 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			ranges, designs, err := SolveDesigns(t.Context(), descending(t, 8000, change), cs)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range designs {
				rank := len(ranges[i].Scale)
				above := size(d.LogDet, d.MaxMahalanobis, rank) - size(certified[i].LogDet, certified[i].MaxMahalanobis, rank)
				if above < -1e-7 || above > d.Gap+1e-7 || d.Gap > 0.01 {
					t.Errorf("set %d: %g above the smallest, and gap %g", i, above, d.Gap)
				}
			}
		})
	}
}

// The batch that a GPU solves has the certificate of the method alone, and the same noise.
func TestDesignsTogether(t *testing.T) {
	cs := matrices(t)
	w := descending(t, 1, func(s *Solver) { s.Algorithm = Certified })
	ranges, alone, err := SolveDesigns(t.Context(), w, cs)
	if err != nil {
		t.Fatal(err)
	}
	together := make([]*design.Design, len(ranges))
	if err := w.together(t.Context(), ranges, together, w.MaxSteps); err != nil {
		t.Fatal(err)
	}
	for i, d := range together {
		if d == nil || d.Gap > 2*design.DefaultGap || math.Abs(d.LogDet-alone[i].LogDet) > 1e-8 || d.Iterations < 2 {
			t.Fatalf("set %d: %+v, alone %+v", i, d, alone[i])
		}
		for j, v := range d.Lambda {
			if math.Abs(v-alone[i].Lambda[j]) > 1e-4 {
				t.Errorf("set %d: weight %d is %g, alone %g", i, j, v, alone[i].Lambda[j])
			}
		}
	}
	// A descent that ends short of the certificate is not improved by another method.
	short := make([]*design.Design, len(ranges))
	if err := w.together(t.Context(), ranges, short, 2); err != nil {
		t.Fatal(err)
	}
	for i, d := range short {
		if d != nil {
			t.Errorf("set %d: a design after two steps, with a gap of %g", i, d.Gap)
		}
	}
}

// Equal columns have one weight between them, or one each.
func TestColumnsWithWeights(t *testing.T) {
	cs := matrices(t)
	for _, columns := range []Columns{Distinct, Separate} {
		_, designs, err := SolveDesigns(t.Context(), descending(t, 1, func(s *Solver) { s.Columns = columns }), cs)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range designs {
			for j := range 30 { // rows 30 to 59 repeat rows 0 to 29
				if first, second := d.Lambda[j], d.Lambda[j+30]; columns == Distinct && second != 0 ||
					columns == Separate && math.Abs(first-second) > 1e-12 {
					t.Errorf("%v, set %d: equal columns have the weights %g and %g", columns, i, first, second)
				}
			}
		}
	}
}

// Of several starts the best counts: more of them never have a larger covariance, and each set has
// starts of its ownin every batch.
func TestBestOfSeveralStarts(t *testing.T) {
	cs := matrices(t)
	of := func(starts int, cs []*mat.Dense) ([]float64, any) {
		ranges, designs, err := SolveDesigns(t.Context(), descending(t, 5, func(s *Solver) {
			s.Start, s.Starts = trialtest.WordOr[float64](RandomStart), starts
		}), cs)
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]float64, len(designs))
		for i, d := range designs {
			sizes[i] = size(d.LogDet, d.MaxMahalanobis, len(ranges[i].Scale))
		}
		return sizes, designs[0].Lambda
	}
	one, first := of(1, cs)
	better := 0
	for _, starts := range []int{2, 9} {
		more, _ := of(starts, cs)
		for i, v := range more {
			if v > one[i] {
				t.Errorf("set %d: %d starts end at %g, the first of them at %g", i, starts, v, one[i])
			} else if v < one[i] {
				better++
			}
		}
	}
	if better == 0 {
		t.Error("no further start is ever better than the first")
	}
	if _, alone := of(1, cs[:1]); !reflect.DeepEqual(alone, first) {
		t.Errorf("alone the first set has %v, among others %v", alone, first)
	}
}

// Without the root the noise is multiplied by the square of the norm, which withdraws the guarantee
// with a remark.
func TestScalingWithoutTheRoot(t *testing.T) {
	cs := matrices(t)
	for _, scaling := range []Scaling{Norm, Squared} {
		w := descending(t, 3, func(s *Solver) { s.Scaling = scaling })
		ranges, designs, err := SolveDesigns(t.Context(), w, cs)
		if err != nil {
			t.Fatal(err)
		}
		d := designs[1]
		if math.Abs(d.MaxMahalanobis-1) < 0.01 {
			t.Fatalf("a norm of %g shows no difference", d.MaxMahalanobis)
		}
		want := d.MaxMahalanobis
		if scaling == Squared {
			want *= d.MaxMahalanobis
		}
		coordinates := d.Coordinates(rand.New(rand.NewPCG(1, 2)), 1)
		d.NoiseScale = 1
		coordinates.Scale(1/want, coordinates)
		if plain := d.Coordinates(rand.New(rand.NewPCG(1, 2)), 1); !mat.EqualApprox(plain, coordinates, 1e-12) {
			t.Errorf("%v: noise that is not scaled by %g", scaling, want)
		}
		d.NoiseScale = want
		p := new(experiment.Privacy).State(1, 0.01)
		w.Refute(p)
		refuted, refused := p.Guarantee == "", w.CheckGuarantee() != nil
		said := strings.Contains(fmt.Sprint(DesignWarnings([]Quality{QualityOf(ranges[1], d)})), "the square of the largest")
		if squared := scaling == Squared; refuted != squared || refused != squared || said != squared {
			t.Errorf("%v: refuted %v, refused %v, said %v", scaling, refuted, refused, said)
		}
	}
	certified := Solver{Scaling: Squared}
	if err := certified.CheckGuarantee(); err != nil {
		t.Errorf("without a descent the setting does nothing, and is refused: %v", err)
	}
}

package loss

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// compositions have the ε at δ = 1e-3, 1e-6 and 1e-9 of dp-accounting 0.6.0 with a spacing of 1e-4 (of choices by the
// divergences of the package comment; see tests/peers/loss.py), which are upper bounds, too.
var compositions = []struct {
	name    string
	losses  []experiment.Loss
	epsilon [3]float64
}{
	{"pixels", []experiment.Loss{{Law: laplace, Size: 0.1, Times: 784}},
		[3]float64{11.61288958925035, 16.23617000257982, 19.659191392871264}},
	{"pixels and sums", []experiment.Loss{{Law: laplace, Size: 0.1, Times: 784}, {Law: gaussian, Size: 0.5, Times: 20}},
		[3]float64{16.524856890845477, 22.483213073043157, 26.917466798234884}},
	{"few", []experiment.Loss{{Law: laplace, Size: 0.1144, Times: 15}},
		[3]float64{1.100990377521491, 1.6861910453127753, 1.71596724378182}},
	{"two and a sum", []experiment.Loss{{Law: laplace, Size: 1, Times: 2}, {Law: gaussian, Size: 0.1, Times: 1}},
		[3]float64{2.141006909875743, 2.3644440645880618, 2.5103834402229253}},
	{"choices", []experiment.Loss{{Law: exponential, Size: 0.5, Times: 20}},
		[3]float64{4.172340337143713, 6.063466942112553, 7.25085242171599}},
	{"choice and sum", []experiment.Loss{{Law: exponential, Size: 1, Times: 1}, {Law: gaussian, Size: 0.8, Times: 1}},
		[3]float64{2.9284938502862423, 4.435182158586455, 5.517870391952698}},
	{"samples", []experiment.Loss{{Law: subsampled, Size: 1, Times: 1000, Rate: 0.01}},
		[3]float64{1.1625178978904498, 2.124522530138565, 2.9895945307060257}},
	{"samples of substitutes", []experiment.Loss{{Law: substituted, Size: 2, Times: 1000, Rate: 0.01}},
		[3]float64{1.9587682939356672, 3.2142370120989456, 4.188100579558511}},
	{"large samples of substitutes", []experiment.Loss{{Law: substituted, Size: 0.5, Times: 20, Rate: 0.5}},
		[3]float64{3.5705184886534274, 5.502176562281848, 6.92732856872785}},
	// Of randomised response by sums of binomial probabilities.
	{"answers", []experiment.Loss{{Law: response, Size: 0.1, Times: 50}},
		[3]float64{2.0074417167373926, 3.1729027340191904, 3.9531097931682924}},
	{"answer", []experiment.Loss{{Law: response, Size: 1, Times: 1}},
		[3]float64{0.9986311841577258, 0.9999986321196233, 0.9999999986321205}},
	{"three answers", []experiment.Loss{{Law: response, Size: 1, Times: 3}},
		[3]float64{2.997437287814839, 2.9999974405654832, 2.999999997440569}},
	{"unequal", []experiment.Loss{{Law: laplace, Size: 2, Times: 1}, {Law: laplace, Size: 0.05, Times: 300},
		{Law: exponential, Size: 0.7, Times: 3}}, [3]float64{5.26859925206401, 7.051539837602499, 8.28497689964803}},
}

// least is booked without a δ₀.
func least(t *testing.T, losses []experiment.Loss) Booked {
	t.Helper()
	b, err := Book(losses, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What is booked outside of a thousandth of δ covers the composition at every δ.
func TestCompositions(t *testing.T) {
	for _, c := range compositions {
		for i, delta := range []float64{1e-3, 1e-6, 1e-9} {
			t.Run(fmt.Sprintf("%s/%g", c.name, delta), func(t *testing.T) {
				got, err := Epsilon(c.losses, delta)
				if err != nil {
					t.Fatal(err)
				}
				// Of many choices ρ has a smaller ε than the pair that dominates each.
				concentrated, err := mechanism.ZCDP(least(t, c.losses).Rho).Epsilon(delta)
				if err != nil {
					t.Fatal(err)
				}
				// The rounding of the library lifts what is exact here, by a part in 10^5.
				if want := min(c.epsilon[i], concentrated); !(got >= want*(1-2e-5) && got <= 1.005*want) {
					t.Errorf("epsilon = %.9g, dp-accounting has %.9g", got, want)
				}
				for _, share := range []float64{0, 1e-3, 0.1} {
					b, err := Book(c.losses, share*delta)
					if err != nil {
						t.Fatal(err)
					}
					all, err := mechanism.GDP(b.Mu).Epsilon((delta - b.MuDelta) / (1 - b.MuDelta))
					if err != nil {
						t.Fatal(err)
					}
					if !(all >= got*(1-2e-3)) {
						t.Errorf("mu = %g outside of %g has epsilon %g, below %g", b.Mu, b.MuDelta, all, got)
					}
				}
			})
		}
	}
}

// The distribution of Gaussian noise, which needs none, has its ε to a thousandth and never less, however small δ.
func TestGridOfGaussian(t *testing.T) {
	for _, mu := range []float64{0.01, 0.3, 1, 8} {
		for _, delta := range []float64{0.2, 1e-3, 1e-10, 1e-40, 1e-100} {
			t.Run(fmt.Sprintf("%g/%g", mu, delta), func(t *testing.T) {
				want, err := mechanism.GDP(mu).Epsilon(delta)
				if err != nil {
					t.Fatal(err)
				}
				ds := distributions([]experiment.Loss{{Law: gaussian, Size: mu, Times: 1}}, delta)
				got := ds[0].curve(delta).epsilon(delta)
				if !(got >= want*(1-1e-9) && got <= want*1.001+1e-12) && want > 0 {
					t.Errorf("epsilon = %.12g, exactly %.12g", got, want)
				}
			})
		}
	}
}

// Losses beyond the grid, and beyond the largest window, count as unbounded: no δ is below the exact one.
func TestCutLosses(t *testing.T) {
	for _, c := range []struct{ h, z float64 }{{0.01, 2.5}, {2e-5, 8}} {
		d := newDistribution([]experiment.Loss{{Law: gaussian, Size: 1, Times: 1}}, c.h, c.z, false)
		curve := d.curve(0.01)
		for i, got := range curve.delta {
			epsilon := float64(curve.at+i) * c.h
			if epsilon < 0 {
				continue
			}
			want, err := mechanism.GaussianDelta(epsilon, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got < want*(1-1e-9) {
				t.Fatalf("spacing %g: delta %g at %g, exactly %g", c.h, got, epsilon, want)
			}
		}
	}
}

// A composition of choices has no smaller a δ than the worst sequence of mechanisms of bounded range, each of which
// is chosen after the outcomes before it.
func TestChoicesAgainstAdversary(t *testing.T) {
	for _, epsilon := range []float64{0.3, 1, 3} {
		// worst returns the largest δ(ε) of count further choices.
		var worst func(count int, at float64) float64
		worst = func(count int, at float64) float64 {
			if count == 0 {
				return max(0, -math.Expm1(at))
			}
			var most float64
			for i := range 9 {
				high := epsilon * float64(i) / 8
				p := math.Expm1(high-epsilon) / math.Expm1(-epsilon)
				most = max(most, p*worst(count-1, at-high)+(1-p)*worst(count-1, at-high+epsilon))
			}
			return most
		}
		for count := 1; count <= 4; count++ {
			for _, share := range []float64{0, 0.25, 0.5, 0.75} {
				at := share * float64(count) * epsilon
				delta := worst(count, at)
				got, err := Epsilon([]experiment.Loss{{Law: exponential, Size: epsilon, Times: count}}, delta)
				if err != nil {
					t.Fatal(err)
				}
				if got < at*(1-1e-12) {
					t.Errorf("%d choices of %g: epsilon %g at delta %g, an adversary has %g", count, epsilon, got, delta, at)
				}
			}
		}
	}
}

// Of random compositions: more loses more, the order does not matter, and ε falls with δ.
func TestEpsilonIsMonotone(t *testing.T) {
	n, rng := tier.Random(t, 20, 300)
	laws := []string{laplace, exponential, gaussian, subsampled, response, substituted}
	for range n {
		losses := make([]experiment.Loss, 2+rng.IntN(3))
		for i := range losses {
			law := laws[rng.IntN(len(laws))]
			losses[i] = experiment.Loss{Law: law, Size: 0.05 + rng.Float64(), Times: 1 + rng.IntN(30)}
			if sampled(law) {
				losses[i].Rate = 0.01 + 0.2*rng.Float64()
			}
		}
		delta := math.Pow(10, -1-9*rng.Float64())
		epsilon := func(losses []experiment.Loss, delta float64) float64 {
			got, err := Epsilon(losses, delta)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		all := epsilon(losses, delta)
		if fewer := epsilon(losses[1:], delta); fewer > all*1.002 {
			t.Errorf("%+v: epsilon %g at %g, and %g without the first", losses, all, delta, fewer)
		}
		if less := epsilon(losses, delta*1.5); less > all*1.0001 {
			t.Errorf("%+v: epsilon rises with delta %g", losses, delta)
		}
		losses[0], losses[1] = losses[1], losses[0]
		if swapped := epsilon(losses, delta); math.Abs(swapped-all) > 1e-6*all {
			t.Errorf("%+v: epsilon %g depends on the order, %g", losses, swapped, all)
		}
	}
}

// Sizes beyond every grid have the closed forms, and end.
func TestEpsilonOfExtremes(t *testing.T) {
	for _, c := range []struct {
		name   string
		losses []experiment.Loss
		most   float64
	}{
		{"huge", []experiment.Loss{{Law: laplace, Size: 1e150, Times: 3}}, 3e150},
		{"tiny", []experiment.Loss{{Law: laplace, Size: 1e-300, Times: 3}}, 3e-300},
		{"huge and tiny", []experiment.Loss{{Law: laplace, Size: 1e9, Times: 1}, {Law: laplace, Size: 1e-9, Times: 1}},
			1e9 + 1e-9},
		{"many", []experiment.Loss{{Law: exponential, Size: 1e-6, Times: 1e9}}, 0.075},
		{"much Gaussian noise", []experiment.Loss{{Law: gaussian, Size: 1e-12, Times: 1}, {Law: laplace, Size: 1e-12,
			Times: 1}}, 1e-8},
		{"little Gaussian noise", []experiment.Loss{{Law: gaussian, Size: 1e6, Times: 1}, {Law: laplace, Size: 1,
			Times: 1}}, 6e11},
		{"huge answer", []experiment.Loss{{Law: response, Size: 1e150, Times: 3}}, 3e150},
		{"tiny answer", []experiment.Loss{{Law: response, Size: 1e-300, Times: 3}}, 3e-300},
		{"answers of unequal size", []experiment.Loss{{Law: response, Size: 300, Times: 2}, {Law: response, Size: 1e-3,
			Times: 1}}, 600.001},
		{"samples", []experiment.Loss{{Law: subsampled, Size: 300, Times: 10, Rate: 1e-9}}, 1e11},
		{"samples of substitutes", []experiment.Loss{{Law: substituted, Size: 300, Times: 10, Rate: 1e-9}}, 1e11},
		{"tiny samples of substitutes", []experiment.Loss{{Law: substituted, Size: 1e-9, Times: 10, Rate: 1e-9}}, 1e-8},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Epsilon(c.losses, 1e-6)
			if err != nil || !(got >= 0 && got <= c.most*(1+1e-9)) {
				t.Errorf("epsilon = %g, %v; want at most %g", got, err, c.most)
			}
			if b, err := Book(c.losses, 1e-9); err != nil || !(b.Mu > 0) {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
}

func BenchmarkEpsilon(b *testing.B) {
	benchmark(b, func(l []experiment.Loss) error { _, err := Epsilon(l, 1e-6); return err })
}

func BenchmarkBook(b *testing.B) {
	benchmark(b, func(l []experiment.Loss) error { _, err := Book(l, 1e-9); return err })
}

func benchmark(b *testing.B, f func([]experiment.Loss) error) {
	for _, c := range compositions {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := f(c.losses); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

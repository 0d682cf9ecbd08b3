package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The check values for (ε, δ, d) = (1, 0.01, 1), from Eq. (76) by hand.
func TestEntryNoiseQuantile(t *testing.T) {
	m := EntryNoise{Epsilon: 1, Delta: 0.01, D: 1}
	for _, c := range []struct{ t, want float64 }{
		{0.1, -1.5993875765805987}, // log(0.2/0.99)
		{0.9, 1.5993875765805987},
		{0.495, 0}, {0.5, 0}, {0.505, 0},
		{0, math.Inf(-1)}, {1, math.Inf(1)},
	} {
		t.Run(fmt.Sprint(c.t), func(t *testing.T) {
			if got := m.Quantile(c.t); got != c.want && !(math.Abs(got-c.want) < 1e-15) {
				t.Errorf("Quantile(%g) = %.17g, want %.17g", c.t, got, c.want)
			}
		})
	}
	if got := m.Quantile(0.4949); !(got < 0 && got > -1e-3) {
		t.Errorf("just below the atom the quantile is %g", got)
	}
	for _, outside := range []float64{-0.1, 1.1, math.NaN()} {
		if got := m.Quantile(outside); !math.IsNaN(got) {
			t.Errorf("Quantile(%g) = %g, want NaN", outside, got)
		}
	}
	wide := EntryNoise{Epsilon: 0.5, Delta: 0.01, D: 3}
	if got, want := wide.Quantile(0.1), 6*m.Quantile(0.1); math.Abs(got-want) > 1e-14 {
		t.Errorf("with d/epsilon = 6 the quantile is %g, want %g", got, want)
	}
}

// The quantile inverts the distribution function (75), written out here.
func TestEntryNoiseInvertsItsDistribution(t *testing.T) {
	m := EntryNoise{Epsilon: 3, Delta: 0.2, D: 0.7}
	rate := m.Epsilon / m.D
	for _, v := range []float64{-4, -0.3, -1e-6, 1e-6, 0.3, 4} {
		at := (1 - m.Delta) / 2 * math.Exp(rate*v)
		if v > 0 {
			at = 1 - (1-m.Delta)/2*math.Exp(-rate*v)
		}
		if got := m.Quantile(at); math.Abs(got-v) > 1e-9*max(1, 1/math.Exp(-rate*math.Abs(v))) {
			t.Errorf("Quantile(F(%g)) = %g", v, got)
		}
	}
}

// The Kolmogorov–Smirnov distance of a sample to the law, off its atom, and the
// atom's share. At 1e6 draws the 0.1 % point of the distance is 1.95e-3.
func TestEntryNoiseSample(t *testing.T) {
	m := EntryNoise{Epsilon: 2, Delta: 0.1, D: 0.5}
	const n = 1_000_000
	values := make([]float64, n)
	m.Add(values, rand.New(rand.NewPCG(5, 6)))

	atom, positive, sum := 0, 0, 0.0
	for _, v := range values {
		sum += math.Abs(v)
		switch {
		case v == 0:
			atom++
		case v > 0:
			positive++
		}
	}
	// Four standard deviations of each share.
	if got := float64(atom) / n; math.Abs(got-m.Delta) > 4*math.Sqrt(0.1*0.9/n) {
		t.Errorf("a share of %g is without noise, want %g", got, m.Delta)
	}
	if got := float64(positive) / float64(n-atom); math.Abs(got-0.5) > 4*0.5/math.Sqrt(n) {
		t.Errorf("a share of %g of the noise is positive, want a half", got)
	}
	if got, want := sum/n, (1-m.Delta)*m.D/m.Epsilon; math.Abs(got-want) > 4*0.25/math.Sqrt(n) {
		t.Errorf("mean magnitude %g, want %g (Eq. 2)", got, want)
	}

	slices.Sort(values)
	distance := 0.0
	for i, v := range values {
		if v == 0 {
			continue
		}
		f := 0.45 * math.Exp(4*v)
		if v > 0 {
			f = 1 - 0.45*math.Exp(-4*v)
		}
		distance = max(distance, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
	}
	if distance > 1.95e-3 {
		t.Errorf("the sample is %g from its distribution function", distance)
	}
}

// One Uint64 is used for each entry of any value: the noise of an entry
// depends on its place in the stream alone.
func TestEntryNoiseIsDeterministic(t *testing.T) {
	m := EntryNoise{Epsilon: 1, Delta: 0.01, D: 1}
	whole, parts := make([]float64, 1000), make([]float64, 1000)
	m.Add(whole, rand.New(rand.NewPCG(1, 2)))
	rng := rand.New(rand.NewPCG(1, 2))
	m.Add(parts[:333], rng)
	m.Add(parts[333:], rng)
	if !slices.Equal(whole, parts) {
		t.Error("the noise depends on how the entries are cut into calls")
	}
	rng = rand.New(rand.NewPCG(1, 2))
	for i, v := range whole {
		if want := m.Quantile(openUniform(rng.Uint64())); v != want {
			t.Fatalf("entry %d has noise %g, want the quantile %g", i, v, want)
		}
	}
}

// The uniform numbers stay off both ends, and their mirror images are exact.
func TestOpenUniform(t *testing.T) {
	for _, bits := range []uint64{0, 1 << 12, 1 << 63, math.MaxUint64} {
		u, mirror := openUniform(bits), openUniform(^bits)
		if !(u > 0 && u < 1) || u+mirror != 1 || 1-u != mirror {
			t.Errorf("bits %x give %g, their complement %g", bits, u, mirror)
		}
	}
	m := EntryNoise{Epsilon: 1, Delta: 1e-5, D: 1}
	if got := m.Quantile(openUniform(math.MaxUint64)); !(got > 36 && got < 36.1) {
		t.Errorf("the largest draw is %g", got)
	}
}

func TestEntryNoiseRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		m         EntryNoise
		parameter string
	}{
		{EntryNoise{0, 0.1, 1}, "epsilon"}, {EntryNoise{-1, 0.1, 1}, "epsilon"},
		{EntryNoise{inf, 0.1, 1}, "epsilon"}, {EntryNoise{nan, 0.1, 1}, "epsilon"},
		{EntryNoise{0, 0, 1}, "epsilon"}, {EntryNoise{1, -.1, 1}, "delta"},
		{EntryNoise{1, 1, 1}, "delta"}, {EntryNoise{1, nan, 1}, "delta"},
		{EntryNoise{1, 0.1, 0}, "d"}, {EntryNoise{1, 0.1, -1}, "d"},
		{EntryNoise{1, 0.1, inf}, "d"}, {EntryNoise{1, 0.1, nan}, "d"},
		{EntryNoise{1e-200, 0.1, 1e200}, "d"}, {EntryNoise{1e200, 0.1, 1e-200}, "d"},
	} {
		t.Run(fmt.Sprintf("%+v", c.m), func(t *testing.T) {
			var refused *Error
			if err := c.m.Validate(); !errors.As(err, &refused) || refused.Parameter != c.parameter {
				t.Errorf("%+v: %v; want a refusal of %s", c.m, err, c.parameter)
			}
		})
	}
	if err := (EntryNoise{16, 1e-5, 1}).Validate(); err != nil {
		t.Error(err)
	}
}

// Without an atom it is the Laplace law of scale d/ε: its quantiles by hand.
func TestEntryNoiseWithoutAtom(t *testing.T) {
	m := EntryNoise{Epsilon: 2, D: 3}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ t, want float64 }{
		{.25, -1.0397207708399179}, {.5, 0}, {.75, 1.0397207708399179}, // 3/2·log 2
	} {
		if got := m.Quantile(c.t); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Quantile(%g) = %.17g, want %.17g", c.t, got, c.want)
		}
	}
	if got := m.Quantile(.5 - 1e-9); got == 0 {
		t.Error("there is an atom at zero")
	}
}

func BenchmarkEntryNoise(b *testing.B) {
	m := EntryNoise{Epsilon: 16, Delta: 1e-5, D: 1}
	values := make([]float64, 1<<20)
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	for b.Loop() {
		m.Add(values, rng)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/entry")
}

package regression

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
)

// A place has the largest tolerance of the parts that it is in, a row as a place that is
// named by its inputs.
func TestTolerancesOfPlaces(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{0, 1, 2, 3, 4, 1})
	for _, c := range []struct {
		text       string
		xi         []float64
		want       []float64 // places
		tolerances []float64
	}{
		{"x:0..2", []float64{0.3}, []float64{0, 1, 2}, []float64{0.3, 0.3, 0.3}},
		{"x:0..2,x:2..3", []float64{0.3, 0.1}, []float64{0, 1, 2, 3}, []float64{0.3, 0.3, 0.3, 0.1}},
		{"x:0..2,x:2..3", []float64{0.1, 0.3}, []float64{0, 1, 2, 3}, []float64{0.1, 0.1, 0.3, 0.3}},
		{"rows:6,rows:2", []float64{0.1, 0.3}, []float64{1}, []float64{0.3}},
		{"x:7,rows:5", []float64{0.1, 0.3}, []float64{4, 7}, []float64{0.3, 0.1}},
		{"rows:5,x:4", []float64{0, 0.3}, []float64{4}, []float64{0.3}},
	} {
		t.Run(c.text, func(t *testing.T) {
			s, err := parseSensitive(c.text)
			if err != nil {
				t.Fatal(err)
			}
			got, tolerances, err := s.of(&rows{x: x, names: []string{"x"}}, c.xi)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(mat.Col(nil, 0, got), c.want) || !slices.Equal(tolerances, c.tolerances) {
				t.Errorf("places %v with %v, want %v with %v", mat.Col(nil, 0, got), tolerances, c.want, c.tolerances)
			}
		})
	}
}

// two are the settings of tests with two places of different tolerances, 0.6 and 0.2 of the
// prior variance 4.
func two(m noiseMethod, changes ...func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		known("0.1", 4, 0.04)(s)
		s.Noise, s.Sensitive, s.Xi, s.Folds = m, "x:0.3,x:0.7", xi(0.6, 0.2), 2
		for _, change := range changes {
			change(s)
		}
	}
}

// Every noise keeps every place's own tolerance, and no more than that where it is the
// least; the traces are those of the programs and of Eq. (11), directly.
func TestEveryPlaceKeepsItsOwn(t *testing.T) {
	tolerances := []float64{0.6, 0.2}
	for _, m := range []noiseMethod{weak, strong, diagonal, equal} {
		t.Run(m.String(), func(t *testing.T) {
			tr := trialtest.New(t, trialtest.Options{})
			p, err := prepare(t.Context(), tr, Experiment().With(two(m)))
			if err != nil {
				t.Fatal(err)
			}
			for i, left := range p.noise.left {
				if left < tolerances[i]-1e-6 || m == weak && left > tolerances[i]+1e-3 {
					t.Errorf("place %d keeps %g, want %g", i, left, tolerances[i])
				}
			}
			out := trialtest.Compute(t, trialtest.Options{}, Experiment(), two(m)).Metrics
			trialtest.Near(t, "the least tolerance", out.Tolerance, 0.8, 1e-12)
			trialtest.Near(t, "the largest tolerance", *out.ToleranceMax, 2.4, 1e-12)
			trialtest.Near(t, "the least share", *out.VarianceShare,
				math.Min(p.noise.left[0]/0.6, p.noise.left[1]/0.2), 1e-9)

			kss, err := p.between(p.places, p.places)
			if err != nil {
				t.Fatal(err)
			}
			switch m {
			case weak:
				s, err := sdp.SolveWeak(t.Context(), p.all.Covariance(), p.all.cross, []float64{0.4, 0.8}, nil)
				if err != nil {
					t.Fatal(err)
				}
				trialtest.Near(t, "trace", out.Trace, 4*s.Trace, 1e-6*out.Trace)
			case diagonal:
				largest := make([]float64, len(p.rows.y))
				for i, tolerance := range tolerances {
					s, err := sdp.SolveDiagonal(t.Context(), p.all.Covariance(), mat.Col(nil, i, p.all.cross), 1-tolerance, nil)
					if err != nil {
						t.Fatal(err)
					}
					for k := range largest {
						largest[k] = math.Max(largest[k], s.Sigma.At(k, k))
					}
				}
				trialtest.Near(t, "trace", out.Trace, 4*floats.Sum(largest), 1e-6*out.Trace)
			case strong:
				q := mat.DenseCopyOf(kss)
				for i := range 2 {
					for j := range 2 {
						q.Set(i, j, kss.At(i, j)-math.Sqrt(tolerances[i]*tolerances[j])*kss.At(i, j))
					}
				}
				noise, err := p.all.StrongNoise(p.all.cross, q)
				if err != nil {
					t.Fatal(err)
				}
				trialtest.Near(t, "trace", out.Trace, 4*noise.Trace, 1e-6*out.Trace)
			}
		})
	}
}

// A place is in need of noise by its own tolerance.
func TestNeedByTolerance(t *testing.T) {
	for _, c := range []struct {
		xi   []float64
		want float64
	}{{[]float64{0.6, 0.2}, 2}, {[]float64{0.6, 0}, 1}, {[]float64{0, 0.6}, 1}, {[]float64{0.2, 0.6}, 2}} {
		for _, n := range []noiseMethod{weak, equal} {
			m := trialtest.Compute(t, trialtest.Options{}, Experiment(), two(n, func(s *Settings) { s.Xi = c.xi })).Metrics
			if share := *m.VarianceShare; m.PlacesInNeed != c.want || !(share >= 1-1e-6 && share < 1.001) {
				t.Errorf("%v, xi = %v: %g places in need, want %g; share %g", n, c.xi, m.PlacesInNeed, c.want, share)
			}
		}
	}
}

// Strong noise keeps the variance of linear combinations: Cov[f(S)|W] - Xi is positive
// semi-definite.
func TestStrongNoiseKeepsCombinations(t *testing.T) {
	p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(two(strong)))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.remaining()
	if err != nil {
		t.Fatal(err)
	}
	solved, err := p.all.Solve(p.noise.sigma, p.all.cross)
	if err != nil {
		t.Fatal(err)
	}
	var explained mat.Dense
	explained.Mul(p.all.cross.T(), solved)
	q.Sub(q, &explained) // K_SS - Xi - K_SX (K_XX + V + Sigma)^-1 K_XS
	values, err := process.Eigenvalues(q)
	if err != nil {
		t.Fatal(err)
	}
	if values[0] < -1e-9 || values[0] > 1e-2 {
		t.Errorf("the least eigenvalue is %g, want 0", values[0])
	}
}

// Equal tolerances have the bits of one, in any notation.
func TestOneToleranceInManyWords(t *testing.T) {
	path := wave(t, 30)
	places := csv(t, "a,b,keep\n0.4,3,0.3\n0.5,6,0.3\n")
	base := func(change func(*Settings)) func(*Settings) {
		return own(path, known("0.4+5", 6, 0.05), func(s *Settings) {
			s.Folds, s.Sensitive = 2, "csv:"+places
			change(s)
		})
	}
	for _, m := range []noiseMethod{weak, strong, diagonal, equal} {
		var traces []float64
		for _, change := range []func(*Settings){
			func(s *Settings) { s.Xi = xi(0.3) },
			func(s *Settings) { s.Xi = xi(0.3, 0.3) },
			func(s *Settings) { s.Xi, s.XiColumn = xi(0.9), "keep" },
		} {
			out := trialtest.Compute(t, trialtest.Options{}, Experiment(), base(func(s *Settings) { s.Noise = m; change(s) }))
			traces = append(traces, out.Metrics.Trace)
			if out.Metrics.ToleranceMax != nil || !strings.Contains(strings.Join(out.Privacy.Notes, "\n"),
				"Var[f(s)|W] >= 1.8 (0.3 of the prior variance) at each of the 2 sensitive places") {
				t.Errorf("%v: %q", m, out.Privacy.Notes)
			}
		}
		if traces[0] == 0 || traces[1] != traces[0] || traces[2] != traces[0] {
			t.Errorf("%v: traces %v", m, traces)
		}
	}
}

// The note states the range of the variances.
func TestTolerancesAreStated(t *testing.T) {
	places := csv(t, "x,keep\n0.3,2.4\n0.7,0.4\n0.7,0.8\n")
	path := csv(t, "x,y\n0.1,1\n0.2,2\n0.3,0.5\n0.5,1\n0.7,-1\n0.9,0.2\n")
	out := trialtest.Compute(t, trialtest.Options{}, Experiment(), two(weak, func(s *Settings) {
		s.Dataset, s.Inputs, s.Output = "csv:"+path, "x", "y"
		s.Sensitive, s.XiColumn, s.XiUnit, s.Xi = "csv:"+places, "keep", ofOutput, xi(0.5)
	}))
	const want = "Var[f(s)|W] >= the tolerance of each of the 2 sensitive places, from 0.8 to 2.4 (0.2 to 0.6 of the " +
		"prior variance); between"
	if notes := strings.Join(out.Privacy.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("%s\nwant %s", notes, want)
	}
}

// The output of simulated data is nobody's, and its name, which decides nothing there, is free
// for a column of tolerances.
func TestColumnNamedAsTheSimulatedOutput(t *testing.T) {
	places := csv(t, "x,y\n0.3,0.5\n0.7,0.2\n")
	m := trialtest.Compute(t, trialtest.Options{}, Experiment(), two(weak, func(s *Settings) {
		s.Sensitive, s.XiColumn = "csv:"+places, "y"
	})).Metrics
	trialtest.Near(t, "the least tolerance", m.Tolerance, 0.8, 1e-12)
	trialtest.Near(t, "the largest tolerance", *m.ToleranceMax, 2, 1e-12)
}

// Different tolerances of places that depend on each other have no requirement that is
// positive semi-definite (erratum 2): weak noise accepts places that strong noise refuses.
func TestErratumOfTheorem2(t *testing.T) {
	near := func(m noiseMethod) func(*Settings) {
		return two(m, func(s *Settings) { s.Sensitive, s.Xi = "x:0.5,x:0.52", xi(0.5, 0.2) })
	}
	_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), near(strong))
	trialtest.Refuses(t, err, "must be positive definite (Eq. 11): the outputs at places with different tolerances depend")
	out := trialtest.Compute(t, trialtest.Options{}, Experiment(), near(weak)).Metrics
	if *out.VarianceShare < 1-1e-6 {
		t.Errorf("a place keeps %g of its tolerance", *out.VarianceShare)
	}
}

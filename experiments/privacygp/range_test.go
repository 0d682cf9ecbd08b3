package privacygp

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
)

// TestDenseData: with V = 0, the paper's own setting, at densities at which K is
// singular in floating point. Traces and variances with 120 digits (mpmath).
func TestDenseData(t *testing.T) {
	for _, tt := range []struct {
		points                  float64
		trace, at0, withoutNois float64
	}{
		{19, 7.09205042114, .0006690557031, 2.6e-10},
		{30, 10.993268512, .0006485561819, 8.8e-21},
		{61, 21.9877189169, .0006296676637, 2e-58},
	} {
		t.Run(strings.TrimSpace(list([]float64{tt.points})), func(t *testing.T) {
			r := run(t, "example1", map[string]any{"points": tt.points})
			m := r.Metrics
			for _, c := range []struct {
				metric       string
				want, within float64
			}{
				{"trace_optimal", tt.trace, 1e-10 * tt.trace},
				{"variance_at_0_optimal", tt.at0, 1e-7},
				{"variance_at_0_unsecured", tt.withoutNois, 1e-7},
				{"variance_at_s_optimal", .5, 1e-8},
				{"variance_at_s_unsecured", 0, 1e-9},
				{"variance_at_s_diagonal", .5, 1e-3}, // above: the range knows less
				{"rank_optimal", 1, 0},
			} {
				if got := m[c.metric]; !(math.Abs(got-c.want) <= c.within) {
					t.Errorf("%s = %.12g, want %.12g ± %g", c.metric, got, c.want, c.within)
				}
			}
			if m["variance_at_s_diagonal"] < .5-1e-9 {
				t.Errorf("variance_at_s_diagonal = %.12g", m["variance_at_s_diagonal"])
			}
			if rank := m["numerical_rank"]; !(rank >= 14 && rank <= 17) {
				t.Errorf("numerical_rank = %g", rank)
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "numerical rank 1") {
				t.Errorf("warnings %q state no rank", r.Warnings)
			}
		})
	}
	if rank := run(t, "example1", nil).Metrics["numerical_rank"]; rank != 9 {
		t.Errorf("numerical_rank of the paper's grid = %g", rank)
	}
}

// TestDenseTolerances: noise with a strong or weak requirement meets it where the
// data, or the sensitive inputs, are dense.
func TestDenseTolerances(t *testing.T) {
	for _, tt := range []struct {
		name, experiment string
		params           map[string]any
		metrics          []string
		xi               float64
	}{
		{"two inputs", "example2", map[string]any{"points": 61},
			[]string{"variance_at_s1_weak", "variance_at_s2_weak", "variance_at_s1_strong", "variance_at_s2_strong"}, .5},
		{"a satellite", "satellite", map[string]any{"points": 181, "alpha": .1},
			[]string{"variance_at_data_min_over_prior"}, .1},
		{"a satellite, much hidden", "satellite", map[string]any{"points": 241, "alpha": .9},
			[]string{"variance_at_data_min_over_prior"}, .9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, tt.experiment, tt.params)
			for _, name := range tt.metrics {
				if got := r.Metrics[name]; math.Abs(got-tt.xi) > 1e-6 {
					t.Errorf("%s = %.12g, want %g", name, got, tt.xi)
				}
			}
			if n := float64(tt.params["points"].(int)); !(r.Metrics["numerical_rank"] < n) {
				t.Errorf("numerical_rank = %g of %g", r.Metrics["numerical_rank"], n)
			}
			if s, ok := r.Metrics["sensitive_rank"]; ok {
				// By maximum likelihood, at densities from 200 to 1000.
				if v := r.Metrics["variance"]; !(v > 3.3e-8 && v < 3.5e-8) {
					t.Errorf("variance = %g", v)
				}
				noted := strings.Contains(strings.Join(r.Privacy.Notes, "\n"), "numerical range of K - H")
				if dense := s < r.Metrics["sensitive_points"]; !dense || !noted {
					t.Errorf("sensitive_rank = %g of %g, notes %q", s, r.Metrics["sensitive_points"], r.Privacy.Notes)
				}
			}
		})
	}
}

// TestNumericalRange compares with a Cholesky factorisation where there is one,
// and with a matrix whose range is known where there is none.
func TestNumericalRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 7
	normal := func(rows, cols int) *mat.Dense {
		a := mat.NewDense(rows, cols, nil)
		a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
		return a
	}
	gram := func(a *mat.Dense) *mat.Dense {
		var g mat.Dense
		g.Mul(a, a.T())
		return &g
	}
	factor := normal(n, 4)
	for _, tt := range []struct {
		name  string
		a     *mat.Dense
		noise *mat.Dense
		rank  int
	}{
		{"full rank", gram(normal(n, n)), nil, n},
		{"full rank, noise of rank 2", gram(normal(n, n)), gram(normal(n, 2)), n},
		{"rank 4", gram(factor), nil, 4},
		{"rank 4, no noise in a matrix", gram(factor), mat.NewDense(n, n, nil), 4},
		{"rank 4, noise of full rank", gram(factor), gram(normal(n, n)), 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := rangeOf(tt.a, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.values) != tt.rank {
				t.Fatalf("rank %d, want %d", len(s.values), tt.rank)
			}
			var sigma mat.Matrix
			if tt.noise != nil {
				sigma = tt.noise
			}
			b := normal(n, 3)
			x, err := s.solve(sigma, b, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			explained, err := s.explained(sigma, b, epsilon64)
			if err != nil {
				t.Fatal(err)
			}
			// In the range, (UᵀTU)(Uᵀx) = Uᵀb for T = A + Σ, and x lies in it.
			total := mat.DenseCopyOf(tt.a)
			if tt.noise != nil {
				total.Add(total, tt.noise)
			}
			var tx, left, right, inside, ux mat.Dense
			tx.Mul(total, x)
			left.Mul(s.u.T(), &tx)
			right.Mul(s.u.T(), b)
			ux.Mul(s.u.T(), x)
			inside.Mul(s.u, &ux)
			if !mat.EqualApprox(&left, &right, 1e-10) || !mat.EqualApprox(&inside, x, 1e-10) {
				t.Errorf("x = %v", mat.Formatted(x))
			}
			for j, got := range explained {
				if want := mat.Dot(b.ColView(j), x.ColView(j)); math.Abs(got-want) > 1e-10*(1+want) {
					t.Errorf("column %d: %g explained, want %g", j, got, want)
				}
			}
		})
	}
}

// TestNoFactorOfRounding: where the numerical rank is below n, a Cholesky
// factorisation that happens to succeed is not taken.
func TestNoFactorOfRounding(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for least, want := range map[float64]float64{1e-15: 1, 1e-12: 2} {
		cov := mat.NewDense(2, 2, []float64{1, 0, 0, least})
		p := &process{engine: e, x: []float64{0, 1}, cov: cov, epsilon: epsilon64, rank: rank([]float64{least, 1}, epsilon64)}
		got, err := p.explained(nil, mat.NewDense(2, 1, []float64{1, math.Sqrt(least)}))
		if err != nil || math.Abs(got[0]-want) > 1e-9 {
			t.Errorf("least eigenvalue %g: %g explained, want %g (%v)", least, got, want, err)
		}
	}
}

// TestInadmissibleInTheRange: a singular K_SS − Ξ serves only where the data know
// nothing of what it leaves out.
func TestInadmissibleInTheRange(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	p, err := newProcess(e, 10, 0, grid(9))
	if err != nil {
		t.Fatal(err)
	}
	s := []float64{.4, .6}
	cross, err := p.between(p.x, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    []float64
		want string
	}{
		{"positive definite", []float64{.5, .1, .1, .5}, ""},
		{"singular", []float64{.5, .5, .5, .5}, "correlated with what it leaves out"},
		{"indefinite", []float64{.5, .6, .6, .5}, "has the eigenvalue -0.1"},
		{"zero", []float64{0, 0, 0, 0}, "must be positive definite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.strongNoise(cross, mat.NewDense(2, 2, tt.q))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	t.Run("an input twice, K_SS halved", func(t *testing.T) {
		once, err := p.between(p.x, s[:1])
		if err != nil {
			t.Fatal(err)
		}
		var twice mat.Dense
		twice.Augment(once, once)
		got, err := p.strongNoise(&twice, mat.NewDense(2, 2, []float64{.5, .5, .5, .5}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.strongNoise(once, mat.NewDense(1, 1, []float64{.5}))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.trace-want.trace) > 1e-12 || got.sensitive != 1 || want.sensitive != 1 {
			t.Errorf("trace %g, rank %d; with the input once %g, %d", got.trace, got.sensitive, want.trace, want.sensitive)
		}
	})
}

// TestShortOfToleranceIsNoResult: a wide certificate, and noise that lets the
// variance fall below its tolerance, are errors that say what was reached.
func TestShortOfToleranceIsNoResult(t *testing.T) {
	for _, tt := range []struct {
		name     string
		solution sdp.Solution
		wanted   float64
		want     string // "" for none
	}{
		{"closed", sdp.Solution{Trace: 5, Unit: 1, Lower: 5, Upper: 5 + 4e-8}, 1e-8, ""},
		{"open", sdp.Solution{Trace: 5, Unit: 1, Lower: 4, Upper: 5, Iterations: 60}, 1e-8,
			"it stopped after 60 steps at a relative duality gap of 2.0e-01, and at most 1e-08 is wanted: the least trace lies between 4 and 5"},
		{"open, of a small trace", sdp.Solution{Trace: 1e-9, Unit: 2, Lower: 0, Upper: 1e-7}, 1e-8, "gap of 5.0e-08"},
		{"no upper bound", sdp.Solution{Trace: 5, Unit: 1, Lower: 4, Upper: math.Inf(1)}, 1e-8, "+Inf"},
		{"not a number", sdp.Solution{Trace: math.NaN(), Unit: 1}, 1e-8, "NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := checkGap("it", &tt.solution, tt.wanted)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name         string
		epsilon      float64
		variance, xi float64
		met          bool
	}{
		{"met", epsilon64, .5, .5, true},
		{"to rounding", epsilon64, .5 - 1e-8, .5, true},
		{"missed", epsilon64, .5 - 1e-5, .5, false},
		{"to rounding in float32", epsilon32, .5 - 1e-5, .5, true},
		{"missed in float32", epsilon32, .49, .5, false},
		{"not a number", epsilon64, math.NaN(), .5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{epsilon: tt.epsilon, condition: 1e9}
			err := p.checkMet("the noise", .25, tt.variance, tt.xi)
			if (err == nil) != tt.met || err != nil && !strings.Contains(err.Error(), "at s = 0.25, below the tolerance 0.5") {
				t.Errorf("error %v", err)
			}
		})
	}
}

package regression

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/schematest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/model"
	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/region"
	"privkern/runner/experiment"
)

// kernelH are settings with a kernel condition in two inputs.
func kernelH(path string, changes ...func(*Settings)) func(*Settings) {
	return own(path, known("0.4+5", 6, 0.05), func(s *Settings) {
		s.Requirement, s.Noise, s.HVariance, s.Folds = byKernel, strong, 0.3, 2
		for _, change := range changes {
			change(s)
		}
	})
}

// The prior's own kernel as H is a share of K: the trace is that of one tolerance, strongly
// and everywhere, in either unit.
func TestShareOfThePriorAsKernelCondition(t *testing.T) {
	path := wave(t, 40)
	p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(kernelH(path)))
	if err != nil {
		t.Fatal(err)
	}
	places := "a,b\n"
	for i := range p.xi {
		places += fmt.Sprintf("%v,%v\n", p.rows.places.At(i, 0), p.rows.places.At(i, 1))
	}
	for _, m := range []noiseMethod{strong, uniform} {
		want := trialtest.Compute(t, trialtest.Options{}, Experiment(), kernelH(path, func(s *Settings) {
			s.Requirement, s.Noise, s.Xi = byTolerance, m, xi(0.3)
		})).Metrics
		for name, change := range map[string]func(*Settings){
			"share":  func(*Settings) {},
			"output": func(s *Settings) { s.XiUnit, s.HVariance = ofOutput, 1.8 },
			"in a file": func(s *Settings) {
				s.Sensitive = "csv:" + csv(t, places)
			},
			"named": func(s *Settings) { s.HKernel, s.HLengthscales = hKernelName(1), "0.4+5" },
		} {
			t.Run(m.String()+" "+name, func(t *testing.T) {
				got := trialtest.Compute(t, trialtest.Options{}, Experiment(), kernelH(path, change,
					func(s *Settings) { s.Noise = m })).Metrics
				trialtest.Near(t, "trace", got.Trace, want.Trace, 1e-6*want.Trace)
				trialtest.Near(t, "tolerance", got.Tolerance, 1.8, 1e-12)
				if want.Trace < 1 || *got.ConditionMin < -1e-5 || *got.RequirementMin < -1e-9 {
					t.Errorf("trace %g, %g beyond H, K - H from %g", want.Trace, *got.ConditionMin, *got.RequirementMin)
				}
			})
		}
	}
}

// Strong noise for H solves Eq. (12), directly, for every compatible family of H and of K, and every
// combination of outputs at the places keeps the variance of H.
func TestKernelConditionIsKept(t *testing.T) {
	path := wave(t, 40)
	for _, c := range []struct {
		k, h, lengths string
		variance      float64
	}{
		{"eq", "eq", "0.8+6", 0.2}, {"matern12", "matern12", "0.6+7", 0.3}, {"matern32", "matern52", "0.6+7", 0.2},
		{"matern12", "eq", "0.8+9", 0.2}, {"laplacian", "laplacian", "0.5+6", 0.4},
	} {
		t.Run(c.k+" "+c.h, func(t *testing.T) {
			p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(kernelH(path,
				func(s *Settings) {
					s.HVariance, s.HLengthscales = c.variance, c.lengths
					setKernel(s, c.k)
					for i, name := range s.HKernel.Choices() {
						if name == c.h {
							s.HKernel = hKernelName(i)
						}
					}
				})))
			if err != nil {
				t.Fatal(err)
			}
			var lengths [2]float64
			if _, err := fmt.Sscanf(strings.ReplaceAll(c.lengths, "+", " "), "%g %g", &lengths[0], &lengths[1]); err != nil {
				t.Fatal(err)
			}
			places, _ := p.rows.places.Dims()
			kss, err := p.between(p.places, p.places)
			if err != nil {
				t.Fatal(err)
			}
			q := mat.NewDense(places, places, nil)
			for i := range places {
				for j := range places {
					a, b := p.rows.places.RawRowView(i), p.rows.places.RawRowView(j)
					q.Set(i, j, kss.At(i, j)-c.variance*correlation(c.h, lengths[:], a, b))
				}
			}
			want, err := p.all.StrongNoise(p.all.cross, q)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "trace", p.noise.trace, want.Trace, 1e-6*want.Trace)
			// Combinations, by their own solver.
			n := len(p.rows.y)
			total := mat.NewDense(n, n, nil)
			total.Add(p.all.Covariance(), p.noise.sigma)
			var solved, explained mat.Dense
			if err := solved.Solve(total, p.all.cross); err != nil {
				t.Fatal(err)
			}
			explained.Mul(p.all.cross.T(), &solved)
			q.Sub(q, &explained)
			values, err := process.Eigenvalues(q)
			if err != nil {
				t.Fatal(err)
			}
			if values[0] < -1e-6 || p.noise.trace < 0.1 || math.Abs(values[0]-p.h.kept) > 1e-8 {
				t.Errorf("trace %g, least eigenvalue %g beyond H, %g by the trial", p.noise.trace, values[0], p.h.kept)
			}
		})
	}
}

// correlation is a kernel of unit variance, by its formula.
func correlation(name string, lengthscales, a, b []float64) float64 {
	squares, sum := 0.0, 0.0
	for j, l := range lengthscales {
		d := math.Abs(a[j]-b[j]) / l
		squares, sum = squares+d*d, sum+d
	}
	r := math.Sqrt(squares)
	switch name {
	case "eq":
		return math.Exp(-squares / 2)
	case "matern12":
		return math.Exp(-r)
	case "matern52":
		return (1 + math.Sqrt(5)*r + 5*squares/3) * math.Exp(-math.Sqrt(5)*r)
	case "laplacian":
		return math.Exp(-sum)
	}
	panic(name)
}

// Uniform noise for an eq kernel H is that of the paper's Proposition 2, by quadrature: the
// G(R) of its Example 3 with theta0 = 10, theta = 5 and c = 0.5.
func TestUniformKernelConditionIsThatOfQuadrature(t *testing.T) {
	const n, theta0, theta = 9, 10, 5
	text := "x,y\n"
	for i := range n {
		text += fmt.Sprintf("%.1f,0.%03d\n", float64(i+1)/(n+1), i*i)
	}
	path := csv(t, text)
	for _, c := range []float64{0.1, 0.5, 0.69} {
		r := region.Region{C: c, Theta: theta, Theta0: theta0, D: 1}
		lags := make([]float64, n)
		for i := range lags {
			lags[i] = float64(i) / (n + 1)
		}
		q, err := r.InnerProducts(t.Context(), lags)
		if err != nil {
			t.Fatal(err)
		}
		p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(own(path, func(s *Settings) {
			known(fmt.Sprint(1/math.Sqrt(2*theta0)), 4, 0.04)(s)
			s.Inputs, s.Output, s.Sensitive = "x", "y", "x:0.5"
			s.Requirement, s.Noise, s.HVariance = byKernel, uniform, c
			s.HLengthscales = fmt.Sprint(1 / math.Sqrt(2*theta))
		})))
		if err != nil {
			t.Fatal(err)
		}
		g := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				g.Set(i, j, q.Values[max(i-j, j-i)])
			}
		}
		want, err := p.all.PSDNoise(g)
		if err != nil {
			t.Fatal(err)
		}
		trialtest.Near(t, fmt.Sprint("trace for c = ", c), p.noise.trace, want.Trace, 1e-6*want.Trace)
	}
}

// Uniform noise keeps H at places that nobody named, in two inputs.
func TestUniformKernelConditionHoldsEverywhere(t *testing.T) {
	p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), Experiment().With(kernelH(wave(t, 30),
		func(s *Settings) { s.Noise, s.HLengthscales = uniform, "0.5+6" })))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := mat.NewDense(6, 2, []float64{0.1, 1, 0.2, 9, 0.5, 5, 0.52, 5.1, 0.9, 2, 3, 40})
	h, err := newBound(p.settings, p.prior, &rows{places: elsewhere, data: p.rows.data}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	other := *p
	other.problem = &problem{prior: p.prior, places: p.scaled(elsewhere),
		xi: slices.Repeat([]float64{0.3}, 6), h: h, method: uniform}
	if other.all, err = other.look(p.scaled(p.rows.x)); err != nil {
		t.Fatal(err)
	}
	if err := other.checkCondition(); err != nil || h.kept < -1e-9 || h.kept > 0.2 {
		t.Errorf("%v: the least eigenvalue beyond H is %g", err, h.kept)
	}
}

// The note, the mechanism and the unit describe the kernel condition.
func TestKernelConditionIsStated(t *testing.T) {
	path := wave(t, 30)
	for m, want := range map[noiseMethod][2]string{
		strong: {"Var[sum b_i f(s_i)|W] >= sum b_i b_j H(s_i, s_j) for all b and the 5 sensitive places, where H(x, x') " +
			"is 1.8 times the kernel eq with the lengthscales 0.5+6; so Var[f(s)|W] >= 1.8 (0.3 of the prior variance) at each",
			"Sigma of Eq. (12) with a kernel condition H"},
		uniform: {"for all b and any places, where H(x, x') is 1.8 times the kernel eq",
			"Sigma of Eq. (13) with a kernel condition H"},
	} {
		out := trialtest.Compute(t, trialtest.Options{}, Experiment(), kernelH(path, func(s *Settings) {
			s.Noise, s.HLengthscales = m, "0.5+6"
		}))
		notes := strings.Join(out.Privacy.Notes, "\n")
		if !strings.Contains(notes, want[0]) || !strings.HasSuffix(out.Privacy.Mechanism, want[1]) {
			t.Errorf("%v: %s\n%s\nwant %q", m, out.Privacy.Mechanism, notes, want)
		}
		elsewhere := strings.Contains(notes, "may be less") && strings.Contains(notes, "other places are not")
		if elsewhere != (m == strong) {
			t.Errorf("%v says of other places: %s", m, notes)
		}
	}
}

// An export states its variances in numbers that hold in predictions from the file alone.
func TestExportHoldsItsCondition(t *testing.T) {
	path := wave(t, 40)
	schema := filepath.Join("..", "..", "..", "docs", "formats", "privacygp-model.schema.json")
	for name, change := range map[string]func(*Settings){
		"kernel":     func(s *Settings) { s.HLengthscales = "0.5+6" },
		"everywhere": func(s *Settings) { s.Noise, s.HLengthscales = uniform, "0.5+6" },
		"uniform":    func(s *Settings) { s.Requirement, s.Noise, s.Xi = byTolerance, uniform, xi(0.3) },
		"tolerances": func(s *Settings) {
			s.Requirement, s.Noise, s.Sensitive, s.Xi = byTolerance, weak, "rows:3..5,a:0.5+b:5", xi(1.2, 3.1)
			s.XiUnit = ofOutput
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Experiment().With(kernelH(path, change, func(s *Settings) {
				s.Mean, s.Resolution = number(20), experiment.NumberOr[automatic](0.01)
			}))
			r, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), s)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r.Model)
			if err != nil {
				t.Fatal(err)
			}
			schematest.Check(t, schema, text)
			m, err := model.Decode("o.json", text, []model.Format{modelfile.PredictFormat})
			if err != nil {
				t.Fatal(err)
			}
			c := r.Model.(*modelfile.Model).Condition
			if (c.Kernel != nil) != (s.Requirement == byKernel) || c.Everywhere != (s.Noise == uniform) || len(c.Places) < 3 {
				t.Errorf("%+v", c)
			}
			if c.Kernel != nil && (c.Kernel.Name != "eq" || !slices.Equal(c.Kernel.Lengthscales, []float64{0.5, 6}) ||
				math.Abs(c.Kernel.Variance-1.8) > 1e-12) {
				t.Errorf("H is %+v", c.Kernel)
			}
			// The statement of public facts covers the lists of the file.
			public := "and the covariance of the noise, which shows where the sensitive places are, and the sensitive places " +
				"with what each keeps, which are listed"
			if s.Noise == uniform {
				public = "and the covariance of the noise and the sensitive places with what each keeps, which are listed"
			}
			if notes := strings.Join(r.Privacy.Notes, "\n"); !strings.Contains(notes, public) {
				t.Errorf("%s\nwant %q", notes, public)
			}
			at := mat.NewDense(len(c.Places), 2, nil)
			for i, place := range c.Places {
				at.SetRow(i, place)
			}
			got, err := m.Predict(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			closest := math.Inf(1)
			for i, row := range got.Rows {
				closest = math.Min(closest, row[1]*row[1]/c.Variance[i])
			}
			if closest < 1-1e-6 || name == "tolerances" && (closest > 1.01 || c.Variance[0] != 1.2 || c.Variance[3] != 3.1) {
				t.Errorf("predictions keep %g of %v", closest, c.Variance)
			}
		})
	}
}

// Without noise the metrics say how far the data are from H, and nothing is refused.
func TestKernelConditionWithoutNoise(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{}, Experiment(), kernelH(wave(t, 30), func(s *Settings) {
		s.Noise = none
	})).Metrics
	if *m.ConditionMin > -0.1 {
		t.Errorf("the data alone keep %g beyond H", *m.ConditionMin)
	}
}

// A kernel that is not below that of the process at the places is refused, with the least
// eigenvalue and advice.
func TestInadmissibleKernelConditions(t *testing.T) {
	path := wave(t, 40)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   []string
	}{
		{"shorter", func(s *Settings) { s.HLengthscales = "0.1+5" }, []string{
			"H, 1.8 times the kernel eq with the lengthscales 0.1+5, is inadmissible: K_SS - H_SS of the ",
			" sensitive places has the eigenvalue -", "h_lengthscales that are not below 0.4+5, those of K, in any input"}},
		{"too much", func(s *Settings) { s.HLengthscales, s.HVariance = "4+50", 0.99 }, []string{
			"has the eigenvalue -", "give an h_variance below 0.01 of the prior variance, which is admissible"}},
		{"rougher", func(s *Settings) { s.HKernel = 2 }, []string{"the kernel matern12", "has the eigenvalue -",
			"First give H a family as smooth as K or smoother, h_kernel=prior, which is eq; numbers help only then: " +
				"h_lengthscales that are not below 0.4+5, those of K, and a smaller h_variance"}},
		{"rougher than a rough one", func(s *Settings) { setKernel(s, "matern32"); s.HKernel = 2 }, []string{
			"h_kernel=prior, which is matern32, or h_kernel=eq; numbers help only then"}},
		{"shorter of one family", func(s *Settings) { setKernel(s, "matern32"); s.HLengthscales = "0.1+5" }, []string{
			"H has to be as smooth as K or smoother, and smaller the smoother it is: leave h_kernel and h_lengthscales as " +
				"prior, or give h_lengthscales that are not below 0.4+5, and a smaller h_variance"}},
		{"everywhere", func(s *Settings) { s.Noise, s.Sensitive, s.HLengthscales = uniform, "rows:1", "0.1+5" }, []string{
			"is inadmissible for noise = uniform: K - H must be positive definite at all places (Example 3)"}},
		{"on the boundary", func(s *Settings) {
			s.Noise, s.Sensitive, s.HLengthscales = uniform, "rows:1", "0.8+10"
			s.HVariance = 0.25
		},
			[]string{"is inadmissible for noise = uniform", "give an h_variance of 0.2472 of the prior variance or less"}},
		{"near the boundary", func(s *Settings) { s.Noise, s.Sensitive, s.HVariance = uniform, "rows:1", 0.9999 },
			[]string{"kernel matrices for this H", "at most 4000 are taken: give an h_variance of 0.989 of the prior"}},
		{"lengthscales", func(s *Settings) { s.HLengthscales = "1+2+3" }, []string{
			"h_lengthscales = 1+2+3: these are 3 numbers for 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), kernelH(path, c.change))
			for _, want := range c.want {
				trialtest.Refuses(t, err, want)
			}
		})
	}
}

// The h_variance that a refusal names is taken, with lengthscales of H whose share of the
// prior is no short number.
func TestAdvisedVariancesAreTaken(t *testing.T) {
	path := wave(t, 20)
	for _, c := range []struct {
		noise   noiseMethod
		refused float64
		words   string
		factor  float64 // of the number that is named
	}{
		{uniform, 0.7, "give an h_variance of ", 1}, {uniform, 0.666666, "give an h_variance of ", 1},
		{strong, 0.99, "give an h_variance below ", 0.9999},
	} {
		h := func(variance float64) func(*Settings) {
			return kernelH(path, func(s *Settings) { s.Noise, s.HLengthscales, s.HVariance = c.noise, "0.4+7.5", variance })
		}
		_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), h(c.refused))
		if err == nil {
			t.Fatalf("%v takes %g", c.noise, c.refused)
		}
		_, number, _ := strings.Cut(err.Error(), c.words)
		var advised float64
		if _, err := fmt.Sscan(number, &advised); err != nil || advised < 0.65 || advised > 2.0/3 {
			t.Fatalf("%g of %q: %v", advised, number, err)
		}
		if _, err := trialtest.Try(t, trialtest.Options{}, Experiment(), h(advised*c.factor)); err != nil {
			t.Errorf("%v: the advised %g is refused: %v", c.noise, advised, err)
		}
	}
	if termsOf(mostShare) > mostTerms || termsOf(mostShare+0.001) <= mostTerms {
		t.Errorf("%d terms for the share %g, %d for more; at most %d", termsOf(mostShare), mostShare,
			termsOf(mostShare+0.001), mostTerms)
	}
}

func TestRoundedDown(t *testing.T) {
	for _, c := range [][2]float64{{2.0 / 3, 0.6666}, {0.01, 0.01}, {0.25 * (1 - 1e-15), 0.25}, {123456, 123400}, {1, 1}} {
		trialtest.Near(t, fmt.Sprint(c[0]), roundedDown(c[0]), c[1], 1e-12*c[1])
	}
}

// Families whose kernels are below those of another, for some numbers.
func TestAsSmooth(t *testing.T) {
	for _, c := range []struct {
		h, k string
		d    int
		want bool
	}{
		{"eq", "matern12", 2, true}, {"matern52", "eq", 1, false}, {"matern12", "matern32", 1, false},
		{"matern52", "matern32", 3, true}, {"matern32", "matern32", 2, true}, {"laplacian", "laplacian", 3, true},
		{"laplacian", "matern12", 1, true}, {"laplacian", "matern12", 2, false}, {"laplacian", "matern32", 1, false},
		{"matern12", "laplacian", 1, true}, {"matern12", "laplacian", 2, false}, {"matern32", "laplacian", 3, true},
		{"matern32", "laplacian", 4, false}, {"eq", "laplacian", 9, true},
	} {
		if got := asSmooth(c.h, c.k, c.d); got != c.want {
			t.Errorf("%s below %s in %d inputs: %v, want %v", c.h, c.k, c.d, got, c.want)
		}
	}
}

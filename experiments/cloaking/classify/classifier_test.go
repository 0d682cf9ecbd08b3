package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/graphs/laplace"
	"privkern/runner/experiment"
)

// classifierFor returns a classifier with the settings of cloaking/stripes.
func classifierFor(t *testing.T, changes ...func(*stripesSettings)) *classifier {
	t.Helper()
	s := Stripes().With(changes...)
	if _, err := Stripes().Resolved(s); err != nil {
		t.Fatal(err)
	}
	c, err := newClassifier(trialtest.New(t, trialtest.Options{}), &s.ClassifierSettings, s.Method)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func predict(t *testing.T, c *classifier, train *mat.Dense, labels []float64, test *mat.Dense) *prediction {
	t.Helper()
	l, err := c.predict(t.Context(), train, labels, test)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// tenPoints are the inputs and labels of the check values.
func tenPoints() (x *mat.Dense, labels []float64) { return referenceInputs(), referenceLabels }

// lengthscale2 is the lengthscale of the check values.
func lengthscale2(s *stripesSettings) { s.Lengthscale = method.LengthscalesOf(2) }

// averaged asks for probabilities that need the posterior variance.
func averaged(s *stripesSettings) { s.Probability = Averaged }

// by changes method and inducing inputs.
func by(m cloak.Method, inducing int) func(*stripesSettings) {
	return func(s *stripesSettings) { s.Method, s.Inducing = m, inducing }
}

// The mean at 3.2 after one step and at the mode, by an independent
// implementation in NumPy.
func TestClassifierCheckValues(t *testing.T) {
	x, labels := tenPoints()
	test := mat.NewDense(1, 1, []float64{3.2})
	once := func(s *stripesSettings) { s.Iterations = steps(1) }
	one := predict(t, classifierFor(t, lengthscale2, onStripes(noiseless), once), x, labels, test)
	mode := predict(t, classifierFor(t, lengthscale2, onStripes(noiseless)), x, labels, mat.NewDense(1, 1, []float64{0}))
	each(t,
		checked{"mean after one step", one.mean.At(0, 0), 0.2603572842241785, 1e-12},
		// At a training input the mean is the mode itself.
		checked{"f(0) at the mode", mode.mean.At(0, 0), 0.5165556061294527, 1e-10},
	)
	if mode.steps < 3 || mode.steps > 8 {
		t.Errorf("%d steps to the mode", mode.steps)
	}
}

// Newton steps that end short of the tolerance are an error with the size of the last one.
func TestModeShortOfItsTolerance(t *testing.T) {
	x, labels := tenPoints()
	c := classifierFor(t, lengthscale2, onStripes(noiseless))
	c.steps.Number = 1
	_, err := c.predict(t.Context(), x, labels, x)
	trialtest.Refuses(t, err, "the Laplace approximation stopped after 1 Newton steps, the most that are allowed, of "+
		"which the last one moved the latent function by ")
}

// With a large kernel variance the paper's plain iteration jumps to and fro
// between the ends of the logistic function; halved steps find the mode, where
// the gradient (y + 1)/2 − π − a is zero.
func TestModeWithLargeVariance(t *testing.T) {
	x, labels := tenPoints()
	for _, variance := range []float64{1, 1e4, 1e6, 1e8} {
		for _, method := range []cloak.Method{cloak.Standard, cloak.Sparse} {
			t.Run(fmt.Sprintf("%s, variance %g", method, variance), func(t *testing.T) {
				c := classifierFor(t, lengthscale2, onStripes(noiseless), by(method, 10), func(s *stripesSettings) {
					s.KernelVariance = variance
				})
				g := cloak.Group(x)
				cov, err := c.covariances(t.Context(), x, g, x, "")
				if err != nil {
					t.Fatal(err)
				}
				modes, err := laplace.Modes(t.Context(), c.e, []laplace.Problem{{Model: cov.model, Sums: labels}},
					convergedSteps)
				if err != nil {
					t.Fatal(err)
				}
				m := &modes[0]
				if m.Err != nil || !converged(m, c.e) {
					t.Fatalf("not converged after %d steps; %v", m.Steps, m.Err)
				}
				if method == cloak.Sparse {
					return // its coefficients are others
				}
				for i, f := range m.Latent {
					gradient := (labels[i]+1)/2 - logistic(f) - m.Dual[i]
					trialtest.Near(t, at("gradient at input", i), gradient, 0, 1e-6)
				}
			})
		}
	}
}

// Given steps are taken, and the record notes that the value is the one after them; converged steps
// need no note.
func TestGivenNewtonSteps(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps experiment.Or[Auto, int]
		want  string // of the warnings; "" for none
	}{
		{"one", steps(1), "is that after 1 Newton steps, as iterations asks, and has not converged: the last step moved "},
		{"three", steps(3), "is that after 3 Newton steps"},
		{"enough", steps(20), ""},
		{"auto", trialtest.WordOr[int](AutoSteps), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trialtest.Compute(t, trialtest.Options{}, Stripes(), onStripes(noiseless), func(s *stripesSettings) {
				s.Iterations = c.steps
			})
			wantWarning(t, r.Warnings, c.want)
			if w := strings.Join(r.Warnings, "\n"); c.want == "" && strings.Contains(w, "Newton") {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

// With well separated inputs C is square and invertible, and cloaking is
// Gaussian noise on each label: at a training input the mean after one step is
// C(y + noise), here diagonal.
func TestNoiseOfSeparateInputs(t *testing.T) {
	x, labels := tenPoints()
	const draws = 20000
	c := classifierFor(t, func(s *stripesSettings) { s.Lengthscale, s.Draws = method.LengthscalesOf(0.05), draws })
	p := predict(t, c, x, labels, x)
	// C = ½(1 + ¼)⁻¹ = 0.4, and σ = 2·√(2 log 200).
	sigma := 0.4 * 2 * math.Sqrt(2*math.Log(200))
	for i, y := range labels {
		t.Run(at("input", i), func(t *testing.T) {
			m, v := stat.MeanVariance(p.mean.RawRowView(i), nil)
			trialtest.Near(t, "mean", m, 0.4*y, 4*sigma/math.Sqrt(draws))
			trialtest.Near(t, "standard deviation", math.Sqrt(v)/sigma, 1, 4/math.Sqrt(2*draws))
		})
	}
}

// The guarantee, as somebody who sees releases could check it: of two data sets
// that differ in one label, the releases' means differ by at most the
// calibration's Δ in units of the noise that the releases show, and for some label
// by as much. So for a rank below the full one, labels that share an input,
// inducing inputs, and a step from a mode that an earlier one has released.
func TestReleaseIsWithinTheSensitivity(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*stripesSettings)
		from   float64 // latent value at all inputs
	}{
		{"rank 3", func(s *stripesSettings) { s.Rank = rank(3) }, 0},
		{"full rank", func(*stripesSettings) {}, 0},
		{"two inducing", by(cloak.Sparse, 2), 0},
		{"from a mode", func(*stripesSettings) {}, 1.3},
		{"half the epsilon", func(s *stripesSettings) { s.Epsilon, s.Calibration = 0.5, mechanism.Analytic }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := classifierFor(t, lengthscale2, c.change, func(s *stripesSettings) { s.Draws = 4000 })
			factor, err := cl.settings.StepFactor(cl.steps)
			if err != nil {
				t.Fatal(err)
			}
			// The covariance of 4000 draws is known to a few per cent.
			trialtest.Near(t, "the largest change in units of the allowed one", largestMove(t, cl, c.from)*factor, 1, 0.06)
		})
	}
}

// largestMove is how far a flipped label moves the releases of a step from the latent
// value at all inputs, at most, in units of the noise that they show.
func largestMove(t *testing.T, c *classifier, from float64) (largest float64) {
	t.Helper()
	x, labels := mat.NewDense(12, 1, nil), make([]float64, 12)
	for i := range labels {
		x.Set(i, 0, float64(i*i%7))
		labels[i] = float64(2*(i%2) - 1)
	}
	g := cloak.Group(x)
	cov, err := c.covariances(t.Context(), x, g, x, "")
	if err != nil {
		t.Fatal(err)
	}
	// releases returns f at the training inputs for all draws (U×draws).
	releases := func(labels []float64) *mat.Dense {
		sums, f := make([]float64, len(g.Count)), slices.Repeat([]float64{from}, len(g.Count))
		for i, u := range g.Of {
			sums[u] += labels[i]
		}
		next, _, err := c.step(t.Context(), &publicFit{inputs: g, cov: cov}, [][]float64{f}, sums, "", new(prediction))
		if err != nil {
			t.Fatal(err)
		}
		out := mat.NewDense(len(f), c.draws, nil)
		for j, v := range next {
			out.SetCol(j, v)
		}
		return out
	}
	before := releases(labels)
	var noise mat.SymDense
	stat.CovarianceMatrix(&noise, before.T(), nil)
	var eigen mat.EigenSym
	eigen.Factorize(&noise, true)
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for i := range labels {
		changed := slices.Clone(labels)
		changed[i] = -labels[i]
		after := releases(changed) // with the same noise
		square := 0.0
		for k, v := range values {
			moved := 0.0
			for u := range g.Count {
				moved += vectors.At(u, k) * (after.At(u, 0) - before.At(u, 0))
			}
			if v > 1e-9*values[len(values)-1] {
				square += moved * moved / v
			} else if math.Abs(moved) > 1e-6*math.Sqrt(values[len(values)-1]) {
				t.Errorf("label %d moves the release by %g where there is no noise", i, moved)
			}
		}
		largest = max(largest, math.Sqrt(square))
	}
	return largest
}

// T steps share the budget: by basic composition each has (ε/T, δ/T), and by the exact one all have (ε, δ).
func TestStepsShareTheBudget(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		t.Run(at("steps", n), func(t *testing.T) {
			c := classifierFor(t, func(s *stripesSettings) { s.Iterations, s.Epsilon, s.Delta = steps(n), 0.8, 0.02 })
			epsilon, delta := 0.8/float64(n), 0.02/float64(n)
			want, err := mechanism.HallFactor(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "noise of each", c.scale, 2*want, 1e-12)
			note := fmt.Sprintf("the %d Newton steps each spend (%g, %g)", n, epsilon, delta)
			if notes := strings.Join(c.privacy("x", nil).Notes, "\n"); (n > 1) != strings.Contains(notes, note) {
				t.Errorf("the notes are %s", notes)
			}
			c = classifierFor(t, func(s *stripesSettings) {
				s.Iterations, s.Epsilon, s.Delta, s.Composition = steps(n), 0.8, 0.02, cloak.Gaussian
			})
			if want, err = mechanism.HallFactor(0.8, 0.02); err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "noise of each, exactly composed", c.scale, 2*want*math.Sqrt(float64(n)), 1e-12)
			note = fmt.Sprintf("the %d Newton steps compose as Gaussian differential privacy", n)
			if notes := strings.Join(c.privacy("x", nil).Notes, "\n"); (n > 1) != strings.Contains(notes, note) {
				t.Errorf("the notes are %s", notes)
			}
		})
	}
}

// A total above 1 is within Hall's range once it is split.
func TestStepsSplitTheRange(t *testing.T) {
	for _, c := range []struct {
		name    string
		epsilon float64
		steps   int
		want    string // the refusal; "" for none
	}{
		{"one step", 1.5, 1, "proved for epsilon <= 1"},
		{"two steps", 1.5, 2, ""},
		{"too much for two", 4, 2, "each of 2 Newton steps: epsilon = 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Stripes().Resolved(Stripes().With(func(s *stripesSettings) {
				s.Epsilon, s.Iterations = c.epsilon, steps(c.steps)
			}))
			if c.want != "" {
				trialtest.Refuses(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// Later steps work on each draw's own mode: with the noise of all steps but
// tiny, every draw ends at the mode.
func TestStepsConvergeToTheMode(t *testing.T) {
	x, labels := tenPoints()
	for _, method := range []cloak.Method{cloak.Standard, cloak.Sparse} {
		t.Run(method.String(), func(t *testing.T) {
			mode := predict(t, classifierFor(t, lengthscale2, by(method, 8), onStripes(noiseless), averaged), x, labels, x)
			c := classifierFor(t, lengthscale2, by(method, 8), averaged, func(s *stripesSettings) {
				s.Iterations, s.Draws = steps(6), 3
			})
			c.scale = 1e-9
			noisy := predict(t, c, x, labels, x)
			for i := range 10 {
				for j := range 3 {
					where := fmt.Sprintf(" at %d in draw %d", i, j)
					trialtest.Near(t, "mean"+where, noisy.mean.At(i, j), mode.mean.At(i, 0), 1e-5)
					trialtest.Near(t, "variance"+where, noisy.variance.At(i, j), mode.variance.At(i, 0), 1e-5)
				}
			}
			if len(noisy.releases) != 1+5*3 {
				t.Errorf("%d designs, want one and then one for each of three draws", len(noisy.releases))
			}
		})
	}
}

// DTC and SoR have one mean; SoR's variance vanishes far from the inducing
// inputs, where DTC's is the prior's.
func TestSparseVariances(t *testing.T) {
	x, labels := tenPoints()
	far := mat.NewDense(2, 1, []float64{4.5, 60})
	of := func(a Approximation) *prediction {
		c := classifierFor(t, lengthscale2, by(cloak.Sparse, 4), onStripes(noiseless), func(s *stripesSettings) {
			s.Approximation, s.Probability = a, Averaged
		})
		return predict(t, c, x, labels, far)
	}
	dtc, sor := of(DTC), of(SoR)
	if !mat.Equal(dtc.mean, sor.mean) {
		t.Error("the means differ")
	}
	each(t,
		checked{"DTC's variance far away", dtc.variance.At(1, 0), 1, 1e-12},
		checked{"SoR's variance far away", sor.variance.At(1, 0), 0, 1e-12},
	)
	if a, b := dtc.variance.At(0, 0), sor.variance.At(0, 0); !(a > b && b > 0 && a < 1) {
		t.Errorf("variances in the middle: DTC %g, SoR %g", a, b)
	}
}

// A record that protects has one draw: the mean of many has less noise.
func TestDraws(t *testing.T) {
	for _, c := range []struct {
		name   string
		secure bool
		change func(*ClassifierSettings)
		want   int
	}{
		{"noise", false, func(*ClassifierSettings) {}, 7},
		{"secure noise", true, func(*ClassifierSettings) {}, 1},
		{"no noise", false, noiseless, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Stripes().With(onStripes(c.change), func(s *stripesSettings) { s.Draws = 7 })
			cl, err := newClassifier(trialtest.New(t, trialtest.Options{Secure: c.secure}), &s.ClassifierSettings, s.Method)
			if err != nil {
				t.Fatal(err)
			}
			if cl.draws != c.want {
				t.Errorf("%d draws, want %d", cl.draws, c.want)
			}
		})
	}
}

// Measured memory of stripes, and at most of the sparse method, lies within the estimates.
func TestLaplaceMemory(t *testing.T) {
	for _, c := range []struct {
		method   cloak.Method
		points   int
		measured int64 // MiB
	}{{cloak.Standard, 500, 99}, {cloak.Standard, 1000, 224}, {cloak.Standard, 2000, 448}, {cloak.Sparse, 2000, 103}} {
		t.Run(fmt.Sprintf("%s, %d points", c.method, c.points), func(t *testing.T) {
			got := laplaceMemory(c.method, c.points) >> 20
			if got < c.measured || float64(got) > 1.5*float64(c.measured) {
				t.Errorf("%d MiB, %d were measured", got, c.measured)
			}
		})
	}
}

// The number of workers changes no bit.
func TestClassifierWorkers(t *testing.T) {
	few := func(s *stripesSettings) { s.Iterations, s.Draws, s.Points = steps(2), 5, 60 }
	one := trialtest.Compute(t, trialtest.Options{Workers: 1}, Stripes(), few)
	four := trialtest.Compute(t, trialtest.Options{Workers: 4}, Stripes(), few)
	for name, column := range one.Series["grid"] {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(column, four.Series["grid"][name]) {
				t.Error("the column differs")
			}
		})
	}
}

// float32 gives nearly the same without noise, and warns where it releases less.
func TestClassifierSinglePrecision(t *testing.T) {
	clean := func(dtype string) []float64 {
		r := trialtest.Compute(t, trialtest.Options{DType: dtype}, Stripes(), onStripes(noiseless))
		return r.Series["grid"][drawColumn(0)]
	}
	double, single := clean("float64"), clean("float32")
	for i, p := range double {
		trialtest.Near(t, at("probability at point", i), single[i], p, 1e-3)
	}
	noisy := trialtest.Compute(t, trialtest.Options{DType: "float32"}, Stripes())
	wantWarning(t, noisy.Warnings, "decided with float32's tolerance")
}

package regression

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

func whitened(s *Settings) { s.Features = sparse.WhitenedFeatures }

// whitenedCases are those of [TestSumsOfNeighbours] with features, whose products may be negative.
var whitenedCases = []sumCase{
	{"whitened", 1, 1, whitened, 0.95},
	{"whitened, much noise in B", 1, 0.5, whitened, 0.94},
	{"whitened, far apart", 1, 3, func(s *Settings) {
		whitened(s)
		s.Lengthscale.Numbers = experiment.Several{0.8}
	}, 0.95},
	{"whitened, a large kernel", 1, 0.7, func(s *Settings) { whitened(s); s.KernelVariance, s.Epsilon = 2, 5 }, 0.95},
	{"whitened, one inducing input", 1, 1, func(s *Settings) { whitened(s); s.Inducing = "1" }, 0.9},
	{"whitened, two inputs", 2, 1, func(s *Settings) {
		whitened(s)
		s.Inputs, s.Inducing, s.Lengthscale.Numbers = "a+b", "3", experiment.Several{3, 7}
	}, 0.85},
}

// Own data have whitened features by default, and kernel vectors where a setting of these is given; the numbers follow.
func TestDefaultFeatures(t *testing.T) {
	path := writeOwn(t, 10, nil)
	for _, c := range []struct {
		name          string
		given         experiment.Params
		features      sparse.Features
		ratio, jitter float64
	}{
		{"nothing", nil, sparse.WhitenedFeatures, 2, 1e-8},
		{"a bound", experiment.Params{"bound": "eq4"}, sparse.KernelFeatures, 4, 1e-8},
		{"a covariance", experiment.Params{"covariance": "as-published"}, sparse.KernelFeatures, 4, 1e-8},
		{"kernel vectors", experiment.Params{"features": "kernel"}, sparse.KernelFeatures, 4, 1e-8},
		{"a large kernel", experiment.Params{"kernel_variance": 100.0}, sparse.WhitenedFeatures, 0.1, 1e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := experiment.Params{"dataset": "csv:" + path, "inputs": "x", "low": 0.0, "high": 100.0, "input_low": "0",
				"input_high": "20", "delta": 1e-5}
			maps.Copy(p, c.given)
			full, err := Experiment().Resolve(p)
			if err != nil {
				t.Fatal(err)
			}
			s := Experiment().Settings(full)
			if s.Features != c.features {
				t.Errorf("features %v", s.Features)
			}
			trialtest.Near(t, "ratio", s.Ratio/c.ratio, 1, 1e-12)
			trialtest.Near(t, "jitter", s.Jitter/c.jitter, 1, 1e-12)
		})
	}
}

// tilted writes rows of six inputs in [0, 1] whose output is a sum of them, from 0 to 1.
func tilted(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f,y,id\n")
	for i := range n {
		sum := 0.0
		for j := range 6 {
			v := rng.Float64()
			sum += []float64{0.3, -0.2, 0.2, 0.1, -0.1, 0.1}[j] * v
			fmt.Fprintf(&b, "%.4f,", v)
		}
		fmt.Fprintf(&b, "%.4f,%d\n", sum+0.3, i/2)
	}
	path := filepath.Join(t.TempDir(), "tilted.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tiltedSettings are those of the rule for the rows of [tilted].
func tiltedSettings(path string, f sparse.Features) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Delta, s.Epsilon, s.Low, s.High = "csv:"+path, "a,b,c,d,e,f", 1e-5, 1, given(0), given(1)
		s.InputLow, s.InputHigh, s.Inducing, s.Features = givenAll(0), givenAll(1), "auto", f
		s.KernelVariance, s.Sigma, s.Rho, s.Ratio, s.Repeats = 0.25, 0.2, 0.5, 4, 5
		s.Lengthscale.Numbers = experiment.Several{math.Sqrt(6) / 4}
		if f == sparse.WhitenedFeatures {
			s.Ratio, s.Lengthscale.Numbers[0] = 2, 0.35*math.Sqrt(6)
		}
	}
}

// Sums of features tell what several inputs do where those of kernel vectors are hidden by their noise.
func TestWhitenedRegression(t *testing.T) {
	path := tilted(t, 800)
	judge := func(f sparse.Features) Metrics { return regress(t, 1, tiltedSettings(path, f)).Metrics }
	kernel, features := judge(sparse.KernelFeatures), judge(sparse.WhitenedFeatures)
	if features.RMSE > 0.8*kernel.RMSE || features.RMSEWithoutNoise > 0.05 {
		t.Errorf("errors %g and %g without noise; of kernel vectors %g", features.RMSE, features.RMSEWithoutNoise,
			kernel.RMSE)
	}
	if features.InducingInputs != 13 || features.NormSquared != 0.25 || features.Coverage95 < 0.9 {
		t.Errorf("%+v", features)
	}
}

// A release sums features, states so, and predicts as the rows are; a person's two rows have twice the noise of one.
func TestReleasedFeatures(t *testing.T) {
	path := tilted(t, 800)
	m, r := released(t, 1, tiltedSettings(path, sparse.WhitenedFeatures), func(s *Settings) { s.Epsilon = 1000 })
	if m.Mechanism.Bound != "whitened" || m.Mechanism.NormSquared != 0.25 ||
		!strings.Contains(r.Privacy.Mechanism, "Eq. (6) of whitened features") {
		t.Errorf("%+v, %s", m.Mechanism, r.Privacy.Mechanism)
	}
	x := mat.NewDense(2, 6, slices.Concat(slices.Repeat([]float64{0.5}, 6), []float64{0.9, 0.1, 0.5, 0.5, 0.5, 0.5}))
	for i, want := range []float64{0.5, 0.5 + 0.4*0.3 + 0.4*0.2} {
		trialtest.Near(t, "prediction", modeltest.Predict(t, x, m).Rows[i][0], want, 0.05)
	}
	for row, rows := range map[string]float64{"none": 1, "id": 2} {
		_, r := released(t, 1, tiltedSettings(path, sparse.WhitenedFeatures), func(s *Settings) {
			if rows > 1 {
				s.Person.Person, s.RowsPerPerson = row, int(rows)
			}
		})
		factor, err := mechanism.SafeFactor(mechanism.Analytic, 1, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		want := rows * factor * sparse.JointSensitivity(2, 1, 0.25)
		trialtest.Near(t, "noise in A", r.Noise[0].Scale/want, 1, 1e-3)
	}
}

// Sums of features are the same in any order of the rows.
func TestOrderOfFeatures(t *testing.T) {
	rows := spendingRows()
	plan := planFor(t, rowSettings(writeRows(t, rows)), whitened, func(s *Settings) { s.Inputs = "a,b" })
	sums := func(rows [][]float64) string {
		_, draws := traced(t, plan, release.Unbooked(chacha(1)), rows)
		return fmt.Sprint(draws[0].Query, draws[1].Query, draws[2].Query)
	}
	back := slices.Clone(rows)
	slices.Reverse(back)
	if sums(rows) != sums(back) {
		t.Error("the sums depend on the order of the rows")
	}
}

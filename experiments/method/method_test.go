package method

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// meanSettings are those of a method that predicts the mean of the outputs with Laplace noise.
type meanSettings struct {
	Columns
	OutputRange
	mechanism.Budget
	Splits
}

type meanMetrics struct {
	RegressionScores
	Clipping
}

var means = Of(Method[meanSettings, meanMetrics, *meanLearner]{
	Declaration: experiment.Declaration[*meanSettings, meanMetrics]{Name: "test/mean", Version: 1},
	Task:        Regression,
	Unit:        experiment.UnitOutput,
	Settings: func(s *meanSettings) Settings {
		return Settings{Columns: s.Columns, Budget: &s.Budget, Range: &s.OutputRange, Splits: s.Splits}
	},
	Prepare: func(_ context.Context, _ *experiment.Trial, s *meanSettings, rows *Rows) (*meanLearner, error) {
		return &meanLearner{epsilon: s.Epsilon, rows: rows}, nil
	},
	Metrics: func(_ *meanLearner, s *Scores) meanMetrics { return meanMetrics{s.Regression, s.Clipping} },
	Advice:  Advice{Noise: "use more rows", Settings: "use another method"},
	Taken:   func(name string, _ []string) bool { return name == "mean" },
})

type meanLearner struct {
	epsilon float64
	rows    *Rows
}

func (l *meanLearner) Guarantee() *experiment.Privacy {
	if math.IsInf(l.epsilon, 1) {
		return nil
	}
	return &experiment.Privacy{Guarantee: fmt.Sprintf("(%g, 0)-DP", l.epsilon), Unit: "one output", Mechanism: "Laplace"}
}

// meanFit has a mean for each of the sources of noise.
type meanFit []float64

func (l *meanLearner) Fit(_ context.Context, rows *Part, noise ...*rand.Rand) (Fit, error) {
	var out meanFit
	for _, rng := range noise {
		mean := stat.Mean(rows.Y, nil)
		if rng != nil {
			mean += 2 / float64(len(rows.Y)) / l.epsilon * rng.ExpFloat64()
		}
		out = append(out, mean)
	}
	return out, nil
}

func (f meanFit) Predict(_ context.Context, x *mat.Dense) ([]Prediction, error) {
	n, _ := x.Dims()
	var out []Prediction
	for _, mean := range f {
		p := Prediction{Mean: make([]float64, n), Variance: make([]float64, n), Noise: 1}
		for i := range p.Mean {
			p.Mean[i] = mean
		}
		out = append(out, p)
	}
	return out, nil
}

func (l *meanLearner) Publication(context.Context) (*Publication, error) {
	noise, err := release.Laplace(release.Query{What: "sum", Coordinates: 1, Change: 2, Size: float64(l.rows.Len())},
		l.epsilon)
	if err != nil {
		return nil, err
	}
	return &Publication{Publish: func(_ context.Context, rows *Part, _ *experiment.Privacy, source *release.Source) (
		*experiment.Release, error) {
		sum, err := source.Add(noise, []float64{stat.Mean(rows.Y, nil) * float64(len(rows.Y))})
		if err != nil {
			return nil, err
		}
		mean := l.rows.Centre + l.rows.Scale*sum[0]/float64(len(rows.Y))
		return &experiment.Release{Columns: []string{"mean"}, Rows: [][]float64{{mean}}}, nil
	}}, nil
}

// meanTrial are settings for 200 rows with outputs 10 and 20, and one above the range.
func meanTrial(t *testing.T) func(*meanSettings) {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,y\n1,45\n,10\n")
	for i := range 199 {
		fmt.Fprintf(&b, "%d,%d\n", i, 10+10*(i%2))
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(s *meanSettings) {
		s.Dataset, s.Inputs, s.Output, s.Epsilon, s.Delta = "csv:"+path, "a", "y", 100, 1e-6
		s.Low, s.High = experiment.NumberOr[None](0.0), experiment.NumberOr[None](40.0)
	}
}

// A method is judged by the scores of every other: outputs are clipped to their range, and the
// mean beats its middle.
func TestJudged(t *testing.T) {
	out := trialtest.Compute(t, trialtest.Options{Seed: 1, Workers: 2}, means.Experiment(), meanTrial(t))
	m := out.Metrics
	if m.UsedRows != 200 || m.DroppedRows != 1 || m.ClippedFraction != 1./200 || !(m.RMSE < m.RMSECentre) ||
		math.Abs(m.RMSE/m.RMSEWithoutNoise-1) > .05 || m.MeanSD != 0 || math.Abs(m.Coverage95-1) > 1e-12 {
		t.Errorf("%+v", m)
	}
	notes := strings.Join(out.Privacy.Notes, "\n")
	if out.Privacy.Guarantee != "(100, 0)-DP" || !strings.HasPrefix(notes, "this record itself is not private") {
		t.Errorf("%+v", out.Privacy)
	}
	if len(out.Warnings) != 1 || !strings.HasPrefix(out.Warnings[0], "1 of 201 rows have no value in an input") {
		t.Errorf("%q", out.Warnings)
	}
}

// A release protects the unit of the method: only outputs are private here, and it spends their
// account alone.
func TestReleasedUnit(t *testing.T) {
	s := means.Experiment().With(meanTrial(t))
	p, err := means.Experiment().Resolved(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, trialtest.Options{})
	trial.Params, trial.Secure, trial.Entropy = p, true, rand.NewChaCha8(sha256.Sum256([]byte("mean")))
	var spent experiment.Spending
	trial.Book = func(s experiment.Spending) error { spent = s; return nil }
	out, err := means.Experiment().Release(t.Context(), trial, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Rows[0][0]; math.Abs(got-15.125) > .2 { // (99·10 + 100·20 + 40)/200, and noise
		t.Errorf("%g", got)
	}
	if fmt.Sprint(spent.Units) != "[output]" || spent.Row != "" || spent.Rows != 200 || out.Privacy.RNG != "secure" {
		t.Errorf("%+v, %+v", spent, out.Privacy)
	}
	plan, err := means.Plan(t.Context(), trial)
	if err != nil {
		t.Fatal(err)
	}
	if n, columns := plan.Private.Dims(); n != 200 || columns != 1 {
		t.Errorf("%d×%d", n, columns)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*meanSettings)
		released bool
		want     string
	}{
		"another dataset": {func(s *meanSettings) { s.Dataset = "mnist" }, false, `dataset = "mnist": it is simulated or`},
		"no range":        {func(s *meanSettings) { s.Low = End{IsWord: true} }, false, "low and high are not given"},
		"empty range":     {func(s *meanSettings) { s.Low.Number = 40 }, false, "low must be below high"},
		"no column":       {func(s *meanSettings) { s.Output = "" }, false, "output is not given"},
		"too few rows":    {func(s *meanSettings) { s.Holdout = 1e-3 }, false, "leaves 0 of 200 rows for testing"},
		"no noise":        {func(s *meanSettings) { s.Epsilon = math.Inf(1) }, true, release.ErrNoNoise.Error()},
		"every column":    {func(s *meanSettings) { s.Inputs = "*" }, true, "would be read off the private rows"},
		"a taken name":    {func(s *meanSettings) { s.Inputs = "mean" }, true, `predictions have a column "mean"`},
	} {
		t.Run(name, func(t *testing.T) {
			x := means.Experiment()
			s := x.With(meanTrial(t), c.change)
			p, err := x.Resolved(s)
			if err == nil && c.released {
				err = x.CheckRelease(p)
			} else if err == nil {
				_, err = trialtest.Try(t, trialtest.Options{}, x, meanTrial(t), c.change)
			}
			trialtest.Refuses(t, err, c.want)
		})
	}
}

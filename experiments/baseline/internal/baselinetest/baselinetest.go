// Package baselinetest tests baselines through their releases.
package baselinetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/modeltest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Table is a file with these columns, and returns its name as a dataset.
func Table(t testing.TB, header string, rows [][]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, row := range rows {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "csv:" + path
}

// Regression is a table of n rows with the inputs a, b in [-1, 1] and [0, 10] and the output y in [0, 100], a smooth
// function of them.
func Regression(t testing.TB, n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]string
	for range n {
		a, b := 2*rng.Float64()-1, 10*rng.Float64()
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(b), fmt.Sprint(50 + 20*a + 2*(b-5) + rng.NormFloat64())})
	}
	return Table(t, "a,b,y", rows)
}

// Classes is a table of n rows with the same inputs, and a class k of u, v, w that follows from them.
func Classes(t testing.TB, n int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var rows [][]string
	for range n {
		a, b := 2*rng.Float64()-1, 10*rng.Float64()
		class := "u"
		switch {
		case a > 0.2:
			class = "v"
		case b > 5:
			class = "w"
		}
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(b), class})
	}
	return Table(t, "a,b,k", rows)
}

// trial is of a release of settings.
func trial[S, M any, L method.Learner](t testing.TB, x *method.Definition[S, M, L], set func(*S)) *experiment.Trial {
	t.Helper()
	p, err := x.Experiment().Resolved(x.Experiment().With(set))
	if err != nil {
		t.Fatal(err)
	}
	out := trialtest.New(t, trialtest.Options{Workers: 2})
	out.Params, out.Secure = p, true
	return out
}

// Plan plans a release.
func Plan[S, M any, L method.Learner](t testing.TB, x *method.Definition[S, M, L], set func(*S)) *release.Plan {
	t.Helper()
	plan, err := x.Plan(t.Context(), trial(t, x, set))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Draws makes a release from a fixed source, and returns the draws of its noise.
func Draws(t testing.TB, plan *release.Plan) []release.Draw {
	t.Helper()
	var draws []release.Draw
	source := release.Unbooked(rand.NewChaCha8(sha256.Sum256([]byte("neighbours"))))
	source.Trace(&draws)
	if _, err := plan.With(t.Context(), source, plan.Private); err != nil {
		t.Fatal(err)
	}
	return draws
}

// Released makes a release with exact noise from a fixed source, checks its size against the plan, reads its file back,
// and predicts at the rows of x, in the units of the inputs.
func Released[S, M any, L method.Learner](t *testing.T, x *method.Definition[S, M, L], f model.Format, set func(*S),
	at *mat.Dense) *model.Prediction {
	t.Helper()
	plan := Plan(t, x, set)
	out, err := plan.With(t.Context(), release.Unbooked(rand.NewChaCha8(sha256.Sum256([]byte("released")))), plan.Private)
	if err != nil {
		t.Fatal(err)
	}
	trialtest.WantSize(t, plan.Spending.Size, out)
	raw, err := json.Marshal(out.Model)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return modeltest.Predict(t, at, modeltest.Read[model.Payload](t, f, path))
}

// Neighbours compares releases of random neighbours, in which change replaces one row: its inputs and then the output,
// of a class its number. Noisy numbers are the same for both; the queries, as they are computed, differ by no more than
// their sensitivity, so that the losses, of which there is one for each query, are those that the plan books, and these
// compose to the budget. It returns the largest share of a sensitivity that was seen, of each query.
func Neighbours[S, M any, L method.Learner](t *testing.T, x *method.Definition[S, M, L], set func(*S),
	change func(row []float64, rng *rand.Rand)) []float64 {
	t.Helper()
	plan := Plan(t, x, set)
	s := plan.Spending
	if epsilon, err := loss.Epsilon(s.Losses, s.Delta); err != nil || epsilon > s.Epsilon*(1+1e-6) {
		t.Fatalf("the losses compose to (%g, %g), and the budget is (%g, %g): %v", epsilon, s.Delta, s.Epsilon, s.Delta, err)
	}
	var answers []float64
	for _, d := range Draws(t, plan) {
		answers = append(answers, d.Output...)
	}
	replay := func(rows *mat.Dense) ([]release.Draw, []byte) {
		var out []release.Draw
		source := release.Replay(slices.Clone(answers))
		source.Trace(&out)
		r, err := plan.With(t.Context(), source, rows)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return out, raw
	}
	before, file := replay(plan.Private)
	most := make([]float64, len(before))
	rng := rand.New(rand.NewPCG(7, 7))
	n, _ := plan.Private.Dims()
	for range 200 {
		rows := mat.DenseCopyOf(plan.Private)
		change(rows.RawRowView(rng.IntN(n)), rng)
		after, other := replay(rows)
		if !bytes.Equal(file, other) {
			t.Fatal("files of neighbours with equal noisy numbers differ")
		}
		for q, d := range after {
			law, moved := d.Noise.Describe().Law, 0.0
			for i, v := range d.Query {
				if gap := math.Abs(v - before[q].Query[i]); law == "laplace" {
					moved += gap
				} else {
					moved = math.Hypot(moved, gap)
				}
			}
			most[q] = max(most[q], moved/d.Noise.Sensitivity())
		}
	}
	for q, share := range most {
		if share > 1 {
			t.Errorf("query %d (%s) moves by %g of its sensitivity", q, before[q].Noise.Describe().Query, share)
		}
	}
	return most
}

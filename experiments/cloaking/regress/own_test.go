package regress

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// The census as a user's file gives the results of the built-in census.
func TestOwnDataAreTheSameProblem(t *testing.T) {
	both := trialtest.Options{Folder: cloaktest.Census(t), File: cloaktest.OwnCensus(t)}
	for name, change := range map[string]func(*regressionSettings){
		"standard":      func(*regressionSettings) {},
		"sparse":        func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, placed(6) },
		"nonstationary": func(s *regressionSettings) { s.Method, s.Epsilon = cloak.Nonstationary, 0.5 },
		"weighted sum":  func(s *regressionSettings) { s.Method, s.Epsilon = cloak.WeightedSum, 0.5 },
		"without noise": func(s *regressionSettings) {
			s.Epsilon, s.FoldScheme, s.Folds.Folds = math.Inf(1), cloak.Random, 10
		},
	} {
		t.Run(name, func(t *testing.T) {
			kung := validated(t, both, draws(3), change, func(s *regressionSettings) {
				s.Inputs, s.Normalisation = experiment.NameOf(cloak.AgeAndWeight), cloak.Public
			}).Metrics
			own := validated(t, both, draws(3), change, ownCensus).Metrics
			for _, c := range []struct {
				name      string
				own, kung *float64
			}{
				{"error", own.RMSE, kung.RMSEHeights}, {"spread", own.RMSEFoldSD, kung.RMSEHeightsFoldSD},
				{"noise", own.NoiseSD, kung.NoiseSDHeights}, {"clipped", own.ClippedOutputs, kung.ClippedHeights.ClippedHeights},
				{"rank", own.Rank, kung.Rank}, {"gap", own.Gap, kung.Gap},
			} {
				switch {
				case c.own == nil && c.kung == nil: // rank and gap without noise
				case c.own == nil || c.kung == nil || *c.own != *c.kung:
					t.Errorf("%s: %v of the file, %v of the census", c.name, c.own, c.kung)
				}
			}
			if own.RMSEHeights != nil || kung.RMSE != nil {
				t.Error("an error is reported in two units")
			}
		})
	}
}

// A record of a user's data does not speak of heights, ages or centimetres.
func TestOwnDataHaveTheirOwnWords(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("secure %v", secure), func(t *testing.T) {
			s := ownCensusSettings(t, ownFile("temp+load", "power", 100, 101))
			trial := trialtest.New(t, trialtest.Options{File: cloaktest.OwnCensus(t), Secure: secure})
			trial.Params = s
			r, err := Regression().Run(t.Context(), trial, trial.Params)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Warnings) == 0 || r.Privacy.Unit != "one training output changed by at most 1" {
				t.Errorf("warnings %q, unit %q", r.Warnings, r.Privacy.Unit)
			}
			r.Privacy.Notes = without(t, r.Privacy.Notes, "sensitivity_cm, normalisation and public_low_cm do not apply")
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"height", "ages", "weights", "cm", "Table 1"} {
				if i := strings.Index(string(raw), word); i >= 0 {
					t.Errorf("%q in ...%s", word, raw[max(0, i-60):min(len(raw), i+60)])
				}
			}
		})
	}
}

// ownCensusSettings are those of ownCensus with a change.
func ownCensusSettings(t *testing.T, change func(*regressionSettings)) experiment.Params {
	t.Helper()
	p, err := Regression().Resolved(Regression().With(ownCensus, change))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// without returns the texts without those that contain s, of which there must
// be one.
func without(t *testing.T, texts []string, s string) []string {
	t.Helper()
	out := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return strings.Contains(text, s) })
	if len(out) == len(texts) {
		t.Errorf("no text contains %q", s)
	}
	return out
}

func TestOwnDataAreCounted(t *testing.T) {
	file := cloaktest.File(t, "a,b,c,y\n1,5,0.001,10\n2,5,0.002,200\n3,5,0.003,\n4,5,0.004,40\n5,5,NA,50\n6,5,0.006,-7\n")
	r := validated(t, trialtest.Options{File: file}, ownFile("a,b,c", "y", 0, 100), draws(1), func(s *regressionSettings) {
		s.Delta, s.Folds.Folds, s.Lengthscale = 0.01, 2, method.LengthscalesOf(3)
	})
	if m := r.Metrics; *m.ClippedOutputs != 2 || *m.DroppedRows != 2 {
		t.Errorf("%g outputs clipped, %g rows dropped", *m.ClippedOutputs, *m.DroppedRows)
	}
	notes := strings.Join(append(r.Warnings, r.Privacy.Notes...), "\n")
	for _, want := range []string{
		`2 of 6 rows have no value in an input or the output and were left out`,
		`the input "b" has the same value in all rows`,
		`the input "a" extends over 5 and "c" over 0.005, but all inputs share one lengthscale`,
		`2 of 4 values of "y" are outside [0, 100] and were clipped`,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("not said: %s\n%s", want, notes)
		}
	}
	if s := r.Series["predictions"]; s["x"] == nil || s["input_b"] == nil || s["input_c"] == nil || s["output"] == nil {
		t.Errorf("%v", s)
	}
}

// ownText are the settings of ownCensus as a user writes them, but for the budget, with
// others laid over them.
func ownText(over ...any) map[string]any {
	out := map[string]any{"dataset": "csv:my.csv", "inputs": "temp+load", "output": "power", "low": 60, "high": 160}
	for i := 0; i < len(over); i += 2 {
		out[over[i].(string)] = over[i+1]
	}
	return out
}

func TestOwnDataRefusals(t *testing.T) {
	refusals{
		{ownText("delta", 0.01, "dataset", "my.csv"), `did you mean "csv:my.csv"?`},
		{ownText("delta", 0.01, "dataset", "knug"), `did you mean "kung"?`},
		{ownText("delta", 0.01, "dataset", "mnist"), `it is kung or your own data (csv:PATH`},
		{ownText("delta", 0.01, "dataset", "csv:"), "names no file"},
		{ownText("delta", 0.01, "dataset", "kung"), "such as dataset=csv:PATH"},
		{ownText("delta", 0.01, "inputs", ""), "write the names of one or more columns"},
		{ownText("delta", 0.01, "inputs", "temp++load"), "write the names of one or more columns"},
		{ownText("delta", 0.01, "inputs", "temp,temp"), `"temp" is named twice`},
		{ownText("delta", 0.01, "inputs", "temp+power"), "inputs are taken as public"},
		{ownText("delta", 0.01, "output", ""), "output is not given: name the column of my.csv"},
		{ownText("delta", 0.01, "low", "none"), "low and high are not given"},
		{ownText("delta", 0.01, "high", "none"), "it must not be read off the data"},
		{ownText("delta", 0.01, "high", "inf"), "not finite"},
		{ownText("delta", 0.01, "low", math.NaN()), "NaN"},
		{ownText("delta", 0.01, "low", 160), "low must be below high"},
		{ownText("delta", 0.01, "low", -1e308, "high", 1e308), "are no range"},
		{ownText("delta", 0.01, "method", "sparse", "inducing", "1,2"), "with 2 inputs an inducing input is as many numbers"},
		{ownText("delta", 0.01, "method", "sparse", "inducing", 20000),
			"at most 10000 inducing inputs are placed, and not 20000"},
		{map[string]any{"inputs": "agee"}, `did you mean "age"?`},
	}.check(t, Regression().Experiment)
}

// Own data name δ and are calibrated exactly; the census keeps its defaults.
func TestOwnDataCompleteTheirBudget(t *testing.T) {
	for _, c := range []struct {
		name        string
		given       map[string]any
		calibration mechanism.Calibration
		refusal     string
	}{
		{"no delta", ownText(), 0, "delta is not given"},
		{"no delta, an epsilon beyond one", ownText("epsilon", 5), 0, "delta is not given"},
		{"no delta, no noise", ownText("epsilon", "inf"), mechanism.Hall, ""},
		{"delta", ownText("delta", 1e-6), mechanism.Analytic, ""},
		{"calibration", ownText("delta", 1e-6, "calibration", "hall"), mechanism.Hall, ""},
		{"large epsilon", ownText("delta", 1e-6, "epsilon", 4), mechanism.Analytic, ""},
		{"other mistakes come first", ownText("low", 200), 0, "low must be below high"},
		{"the census", nil, mechanism.Hall, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Regression().Resolve(c.given)
			switch {
			case c.refusal != "":
				trialtest.Refuses(t, err, c.refusal)
			case err != nil:
				t.Error(err)
			case Regression().Settings(p).Calibration != c.calibration:
				t.Errorf("calibration %s, want %s", Regression().Settings(p).Calibration, c.calibration)
			}
		})
	}
}

// Errors that depend on the rows appear when the file is read; messages name the file as the user
// did, not its place.
func TestOwnDataFailures(t *testing.T) {
	const small = "a,b,y\n1,2,3\n2,3,4\n3,x,5\n4,6,7\n"
	var long strings.Builder
	long.WriteString("a,b,y\n")
	for i := range maxRows + 1 {
		fmt.Fprintf(&long, "%d,1,2\n", i)
	}
	for _, c := range []struct {
		text   string
		change func(*regressionSettings)
		want   string
	}{
		{small, func(s *regressionSettings) { s.Inputs = "c" }, `my.csv:1: unknown column "c"`},
		{small, func(s *regressionSettings) { s.Inputs = "b" }, `my.csv:4:3: column "b" is "x", expected a number`},
		{"a,b,y\n", func(*regressionSettings) {}, "my.csv: there are no rows"},
		{"a,b,y\n1,2,\n", func(*regressionSettings) {}, "my.csv: none of its 1 rows"},
		{small, func(s *regressionSettings) { s.Folds.Folds = 5 },
			"folds = 5: there are 4 rows, and there cannot be more folds than rows"},
		{"a,b,y\n1,2,3\n", func(*regressionSettings) {},
			"folds = 2: there is one row, and a cross-validation needs two or more"},
		{"a,b,y\n1,2,3\n2,3,4\n", func(s *regressionSettings) {
			s.Inputs, s.Lengthscale = "a+b", method.LengthscalesOf(1, 1e-320)
		}, "lengthscale = [1,1e-320]: input 2 of 2 has the value 3, which over its lengthscale 1e-320 is beyond floating"},
		{small, func(s *regressionSettings) { s.Rank = rank(3) }, "only 2 test rows"},
		{small, func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, placed(3) }, "only 2 training rows"},
		{long.String(), func(*regressionSettings) {}, "my.csv: 10001 rows; at most 10000 are taken with method=standard"},
		{strings.TrimSuffix(long.String(), "10000,1,2\n"), func(*regressionSettings) {}, "a fold has 5000 test rows"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{File: cloaktest.File(t, c.text)}, Regression(),
				ownFile("a", "y", 0, 10), func(s *regressionSettings) { s.Delta, s.Folds.Folds = 0.01, 2 }, c.change)
			trialtest.Refuses(t, err, c.want)
			if err != nil && strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("%v names where the file is", err)
			}
		})
	}
}

// The experiment reads the files that its settings name.
func TestOwnDataAreADataset(t *testing.T) {
	for name, change := range map[string]func(*regressionSettings){
		"kung": func(*regressionSettings) {}, "csv:my.csv": ownCensus,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Regression().Resolved(Regression().With(change))
			if err != nil {
				t.Fatal(err)
			}
			if got := Regression().Datasets(p); !slices.Equal(got, []string{name}) {
				t.Errorf("reads %q", got)
			}
			if own := name != cloak.Census; NoiseFigure().Match(Regression().Name, p) == own {
				t.Error("the figure of heights is of the census, and of no other data")
			}
		})
	}
}

// A common fold holds out the rows that every method holds out, and all measures are those of these rows.
func TestCommonFold(t *testing.T) {
	file := "x,y\n"
	for i := range 40 {
		file += fmt.Sprintf("%d,%d\n", i, 10*(i%7))
	}
	r := validated(t, trialtest.Options{File: cloaktest.File(t, file), Seed: 4}, ownFile("x", "y", 0, 100), draws(1),
		func(s *regressionSettings) {
			s.Epsilon, s.Folds = math.Inf(1), cloak.Folds{Folds: 5, FoldScheme: cloak.Common}
		})
	rows := method.CommonSplit(4, 0, 40, 8).Test
	x, output, mean := r.Series["predictions"]["x"], r.Series["predictions"]["output"], r.Series["predictions"]["mean"]
	var square, absolute, centre float64
	for i, row := range rows {
		if x[i] != float64(row) || output[i] != float64(10*(row%7)) {
			t.Errorf("row %d is at %g with the output %g", row, x[i], output[i])
		}
		square += (output[i] - mean[i]) * (output[i] - mean[i]) / 8
		absolute += math.Abs(output[i]-mean[i]) / 8
		centre += (output[i] - 50) * (output[i] - 50) / 8
	}
	trialtest.Near(t, "rmse", *r.Metrics.RMSE, math.Sqrt(square), 1e-9)
	trialtest.Near(t, "mae", *r.Metrics.MAE, absolute, 1e-9)
	trialtest.Near(t, "rmse_centre", *r.Metrics.RMSECentre, math.Sqrt(centre), 1e-9)
	if len(x) != len(rows) {
		t.Errorf("%d rows, want %d", len(x), len(rows))
	}
}

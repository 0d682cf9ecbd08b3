package cloaking

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset"
)

// writeFile writes a user's file.
func writeFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeOwn writes the females of the census by formulas as a file of a user's,
// with other names.
func writeOwn(t *testing.T) (path string) {
	t.Helper()
	kung, err := dataset.LoadKung(writeCensus(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("id,load,temp,power\n")
	for i := range kung.Age {
		fmt.Fprintf(&b, "n%d,%g,%g,%g\n", i, kung.Age[i], kung.Weight[i], kung.Height[i])
	}
	return writeFile(t, b.String())
}

// ownColumns are the parameters that make the file of writeOwn the problem of
// the census with public normalisation.
func ownColumns() map[string]any {
	return map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "temp+load",
		"output": "power", "low": 60, "high": 160}
}

// The census as a user's file gives what the census gives.
func TestOwnDataAreTheSameProblem(t *testing.T) {
	s := setup{folder: writeCensus(t), file: writeOwn(t)}
	for _, over := range [][]any{
		{"method", "standard"},
		{"method", "sparse", "inducing", 6},
		{"method", "nonstationary", "epsilon", 0.5},
		{"method", "standard", "epsilon", "inf", "fold_scheme", "random", "folds", 10},
	} {
		given := with(map[string]any{"draws": 3}, over...)
		kung := runTrial(t, s, regression(), with(given, "inputs", "age+weight", "normalisation", "public"))
		for k, v := range ownColumns() {
			given[k] = v
		}
		own := runTrial(t, s, regression(), given)
		for name, twin := range map[string]string{"rmse": "rmse_cm", "rmse_fold_sd": "rmse_fold_sd_cm", "noise_sd": "noise_sd_cm", "clipped_outputs": "clipped_heights", "rank": "rank", "gap": "gap"} {
			if own.Metrics[name] != kung.Metrics[twin] {
				t.Errorf("%v: %s = %g, %s = %g", over, name, own.Metrics[name], twin, kung.Metrics[twin])
			}
		}
	}
}

// A record of a user's data does not speak of heights, ages or centimetres.
func TestOwnDataHaveTheirOwnWords(t *testing.T) {
	for _, secure := range []bool{false, true} {
		r := runTrial(t, setup{file: writeOwn(t), secure: secure}, regression(), with(ownColumns(), "low", 100, "high", 101))
		if len(r.Warnings) == 0 || r.Privacy.Unit != "one training output changed by at most 1" {
			t.Errorf("warnings %q, unit %q", r.Warnings, r.Privacy.Unit)
		}
		r.Privacy.Notes = without(r.Privacy.Notes, "sensitivity_cm, normalisation and public_low_cm do not apply")
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"height", "ages", "weights", "cm", "Table 1"} {
			if strings.Contains(string(raw), word) {
				i := strings.Index(string(raw), word)
				t.Errorf("%q in ...%s", word, raw[max(0, i-60):min(len(raw), i+60)])
			}
		}
	}
}

// without returns the texts without those that contain s, of which there must
// be one.
func without(texts []string, s string) (out []string) {
	for _, x := range texts {
		if !strings.Contains(x, s) {
			out = append(out, x)
		}
	}
	if len(out) == len(texts) {
		panic("no text contains " + s)
	}
	return out
}

func TestOwnDataAreCounted(t *testing.T) {
	file := writeFile(t, "a,b,c,y\n1,5,0.001,10\n2,5,0.002,200\n3,5,0.003,\n4,5,0.004,40\n5,5,NA,50\n6,5,0.006,-7\n")
	given := map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "a,b,c",
		"output": "y", "low": 0, "high": 100, "folds": 2, "draws": 1, "lengthscale": 3}
	r := runTrial(t, setup{file: file}, regression(), given)
	if r.Metrics["clipped_outputs"] != 2 || r.Metrics["dropped_rows"] != 2 {
		t.Errorf("%v", r.Metrics)
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

func TestOwnDataRefusals(t *testing.T) {
	for _, c := range []struct {
		over []any
		want string
	}{
		{[]any{"dataset", "my.csv"}, `did you mean "csv:my.csv"?`},
		{[]any{"dataset", "knug"}, `did you mean "kung"?`},
		{[]any{"dataset", "mnist"}, `it is kung or csv:PATH`},
		{[]any{"dataset", "csv:"}, "names no file"},
		{[]any{"dataset", "kung"}, "it is for dataset=csv:PATH"},
		{[]any{"inputs", ""}, "write the names of one or more columns"},
		{[]any{"inputs", "temp++load"}, "write the names of one or more columns"},
		{[]any{"inputs", "temp,temp"}, `"temp" is named twice`},
		{[]any{"inputs", "temp+power"}, "inputs are taken as public"},
		{[]any{"output", ""}, "output is not given: name the column of my.csv"},
		{[]any{"low", "none"}, "low and high are not given"},
		{[]any{"high", "none"}, "it must not be read off the data"},
		{[]any{"high", "inf"}, "not finite"},
		{[]any{"low", math.NaN()}, "NaN"},
		{[]any{"low", 160}, "low must be below high"},
		{[]any{"low", -1e308, "high", 1e308}, "are no range"},
		{[]any{"method", "sparse", "inducing", "1,2"}, "with 2 inputs an inducing input is as many numbers"},
		{[]any{"method", "sparse", "inducing", 20000}, "20000 inducing inputs"},
	} {
		_, err := regression().Resolve(with(ownColumns(), c.over...))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.over, err, c.want)
		}
	}
	if _, err := regression().Resolve(map[string]any{"inputs": "agee"}); err == nil || !strings.Contains(err.Error(), `did you mean "age"?`) {
		t.Error(err)
	}
}

// What depends on the rows shows with the file; messages name the file as the
// user did, not where it is.
func TestOwnDataFailures(t *testing.T) {
	const small = "a,b,y\n1,2,3\n2,3,4\n3,x,5\n4,6,7\n"
	var long strings.Builder
	long.WriteString("a,b,y\n")
	for i := range maxRows + 1 {
		fmt.Fprintf(&long, "%d,1,2\n", i)
	}
	given := map[string]any{"dataset": "csv:my.csv", "delta": 0.01, "calibration": "hall", "inputs": "a",
		"output": "y", "low": 0, "high": 10, "folds": 2}
	for _, c := range []struct {
		text string
		over []any
		want string
	}{
		{small, []any{"inputs", "c"}, `my.csv:1: unknown column "c"`},
		{small, []any{"inputs", "b"}, `my.csv:4:3: column "b" is "x", expected a number`},
		{"a,b,y\n", nil, "my.csv: there are no rows"},
		{"a,b,y\n1,2,\n", nil, "my.csv: none of its 1 rows"},
		{small, []any{"folds", 5}, "the data have 4 rows"},
		{small, []any{"rank", 3}, "only 2 test rows"},
		{small, []any{"method", "sparse", "inducing", 3}, "only 2 training rows"},
		{long.String(), nil, "my.csv: 10001 rows; at most 10000"},
		{strings.TrimSuffix(long.String(), "10000,1,2\n"), nil, "a fold has 5000 test rows"},
	} {
		_, err := tryTrial(setup{file: writeFile(t, c.text)}, regression(), with(given, c.over...))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("%v: %v; want %q", c.over, err, c.want)
		}
	}
}

// The experiment reads what its parameters say.
func TestOwnDataAreADataset(t *testing.T) {
	for name, given := range map[string]map[string]any{"kung": nil, "csv:my.csv": ownColumns()} {
		p, err := regression().Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := regression().Datasets(p); len(got) != 1 || got[0] != name {
			t.Errorf("reads %q, want %s", got, name)
		}
	}
	f := noiseFigure()
	if p, _ := regression().Resolve(ownColumns()); f.Match("cloaking/regression", p) {
		t.Error("the figure of heights takes other data")
	}
}

package regress

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
)

// scaledOwn are settings for the file of [cloaktest.Scaled].
func scaledOwn(lengthscale ...float64) func(*regressionSettings) {
	return func(s *regressionSettings) {
		ownFile("a+b+c", "y", 0, 100)(s)
		s.Delta, s.Calibration, s.Lengthscale = 1e-3, mechanism.Analytic, method.LengthscalesOf(lengthscale...)
		s.Folds.Folds, s.Draws, s.NoiseVariance = 4, 5, 0.1
	}
}

// A lengthscale for each input is the same as columns in units of their lengthscales, with one
// lengthscale of 1: in a judged trial and in a release at points of another file.
func TestLengthscalesAreScalesOfColumns(t *testing.T) {
	apart := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Unscaled)}
	scaled := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Scales)}
	for name, change := range map[string]func(*regressionSettings){
		"standard": func(*regressionSettings) {},
		"sparse":   func(s *regressionSettings) { s.Method, s.Inducing = cloak.Sparse, placed(6) },
		"no noise": func(s *regressionSettings) { s.Epsilon = math.Inf(1) },
	} {
		t.Run(name, func(t *testing.T) {
			got := validated(t, apart, scaledOwn(cloaktest.Scales[:]...), change)
			want := validated(t, scaled, scaledOwn(1), change)
			trialtest.Near(t, "error", *got.Metrics.RMSE, *want.Metrics.RMSE, 1e-9)
			trialtest.Near(t, "noise", *got.Metrics.NoiseSD, *want.Metrics.NoiseSD, 1e-9)
			for i, mean := range want.Series["predictions"]["mean"] {
				trialtest.Near(t, fmt.Sprint("mean ", i), got.Series["predictions"]["mean"][i], mean, 1e-9)
			}
			shared := validated(t, apart, scaledOwn(cloaktest.Scales[0]), change)
			if math.Abs(*shared.Metrics.RMSE-*got.Metrics.RMSE) < 0.1 {
				t.Errorf("one lengthscale has the error of three, %g", *shared.Metrics.RMSE)
			}
			if name == "no noise" {
				return
			}
			// The inputs that a release has are those of the file.
			one := published(t, apart, scaledOwn(cloaktest.Scales[:]...), change)
			other := published(t, scaled, scaledOwn(1), change)
			for _, column := range []string{"noise_sd", "predictive_sd"} {
				want := cloaktest.ColumnOf(t, other, column)
				for i, v := range cloaktest.ColumnOf(t, one, column) {
					trialtest.Near(t, fmt.Sprint(column, " ", i), v, want[i], 1e-9)
				}
			}
			for j, name := range []string{"a", "b", "c"} {
				want := cloaktest.ColumnOf(t, other, name)
				for i, v := range cloaktest.ColumnOf(t, one, name) {
					trialtest.Near(t, fmt.Sprint(name, " ", i), v, want[i]*cloaktest.Scales[j], 1e-9)
				}
			}
		})
	}
}

// Equal lengthscales are one. The nonstationary method reads none.
func TestEqualLengthscalesAreOne(t *testing.T) {
	o := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Scales)}
	for _, method := range []cloak.Method{cloak.Standard, cloak.Nonstationary} {
		t.Run(method.String(), func(t *testing.T) {
			by := func(s *regressionSettings) { s.Method = method }
			one, three := validated(t, o, scaledOwn(0.7), by), validated(t, o, scaledOwn(0.7, 0.7, 0.7), by)
			trialtest.Near(t, "error", *three.Metrics.RMSE, *one.Metrics.RMSE, 1e-9)
		})
	}
}

func TestLengthscaleRefusals(t *testing.T) {
	three := func(over ...any) map[string]any {
		return ownText(append([]any{"delta", 0.01, "inputs", "temp+load+wind"}, over...)...)
	}
	refusals{
		{three("lengthscale", "20,5"),
			"lengthscale = [20,5]: these are 2 numbers for 3 inputs (temp, load, wind); give one for all, or one for each"},
		{three("lengthscale", "20,5,0"), `parameter "lengthscale": 0 is outside (0, inf)`},
		{three("lengthscale", "20,5,-1"), `parameter "lengthscale": -1 is outside (0, inf)`},
		{three("lengthscale", "20,nan,1"), `parameter "lengthscale": NaN is not a number`},
		{three("lengthscale", "20,inf,1"), `parameter "lengthscale": inf is not finite`},
		{three("lengthscale", "20,,1"), `parameter "lengthscale": "" is not a number`},
		{three("lengthscale", ""), `parameter "lengthscale": the list is empty`},
		{three("method", "weighted-sum", "lengthscale", "20,5,1"),
			"with method=weighted-sum all inputs share kde_bandwidth and max_lengthscale"},
		{map[string]any{"inputs": "age+weight", "lengthscale": "20,5"},
			"lengthscale = [20,5]: a lengthscale for each input is for data of your own, such as dataset=csv:PATH; give " +
				"one number"},
	}.check(t, Regression().Experiment)
	for name, given := range map[string]map[string]any{
		"one":            three("lengthscale", 20),
		"one in a list":  three("lengthscale", []any{20}),
		"three":          three("lengthscale", "20,5,1"),
		"not read":       three("method", "nonstationary", "lengthscale", "20,5"),
		"every column":   three("inputs", "*", "lengthscale", "20,5"), // counted when the file is read
		"levels counted": three("inputs", "temp+kind[a|b]", "lengthscale", "20,5,1"),
		"perhaps levels": three("lengthscale", "20,5,1,1"), // one of the three may be a category
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Regression().Resolve(given); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where categories make several inputs of a column, the file determines the number of lengthscales.
func TestLengthscalesAreCountedWithTheFile(t *testing.T) {
	file := cloaktest.File(t, "a,kind,y\n1,u,3\n2,v,4\n3,u,5\n4,v,7\n")
	settings := func(lengthscale ...float64) func(*regressionSettings) {
		return func(s *regressionSettings) {
			ownFile("a+kind", "y", 0, 10)(s)
			s.Delta, s.Folds.Folds, s.Draws, s.Lengthscale = 0.01, 2, 1, method.LengthscalesOf(lengthscale...)
		}
	}
	for _, c := range []struct {
		inputs      string
		lengthscale []float64
		want        string // empty where they fit
	}{
		{"a+kind", []float64{2}, ""},
		{"a+kind", []float64{2, 1, 1}, ""},
		{"a+kind[u|v]", []float64{2, 1, 1}, ""},
		{"*", []float64{2}, ""},
		{"a+kind", []float64{2, 1}, ""},
		{"a+kind[u|v]", []float64{2, 1}, ""},
		{"a+kind", []float64{2, 1, 1, 1}, "lengthscale = [2,1,1,1]: these are 4 numbers for 2 inputs (a, kind); give " +
			"one for all, or one for each; a category is one"},
		{"a", []float64{2, 1}, "these are 2 numbers for 1 input (a); give one for all, or one for each"},
		{"*", []float64{2, 1}, "these are 2 numbers for 1 input (a)"},
	} {
		t.Run(fmt.Sprint(c.inputs, c.lengthscale), func(t *testing.T) {
			_, err := trialtest.Try(t, trialtest.Options{File: file}, Regression(), settings(c.lengthscale...),
				func(s *regressionSettings) { s.Inputs = c.inputs })
			if c.want != "" {
				trialtest.Refuses(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// One lengthscale for inputs of different scales gives a warning with a remedy.
func TestSharedLengthscalesAreSuspect(t *testing.T) {
	o := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Unscaled)}
	const shared = `the input "b" extends over 675 and "c" over 0.8, but all inputs share one lengthscale; `
	for _, c := range []struct {
		name   string
		change func(*regressionSettings)
		want   string // empty for no warning
	}{
		{"one", scaledOwn(20), shared + "give a lengthscale for each, or bring the columns to one scale"},
		{"each", scaledOwn(cloaktest.Scales[:]...), ""},
		{"nonstationary", func(s *regressionSettings) {
			scaledOwn(20)(s)
			s.Method = cloak.Nonstationary
		}, shared + "bring the columns to one scale"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := validated(t, o, c.change)
			if says(r.Warnings, "share one lengthscale") != (c.want != "") || !says(append(r.Warnings, ""), c.want) {
				t.Errorf("%q, want %q", r.Warnings, c.want)
			}
		})
	}
}

// Without lengthscales those of a file follow from the ranges of its inputs, for the methods that have them.
func TestLengthscalesOfOwnData(t *testing.T) {
	own := func(over ...any) map[string]any { return ownText(append([]any{"delta", 0.01}, over...)...) }
	for name, c := range map[string]struct {
		given map[string]any
		want  string // the setting, or the refusal
	}{
		"standard":      {own(), "auto"},
		"sparse":        {own("method", "sparse"), "auto"},
		"asked for":     {own("lengthscale", "auto"), "auto"},
		"given":         {own("lengthscale", 15), "15"},
		"one each":      {own("lengthscale", "3,4"), "[3,4]"},
		"nonstationary": {own("method", "nonstationary"), "15"},
		"weighted sum":  {own("method", "weighted-sum"), "15"},
		"no rule": {own("method", "weighted-sum", "lengthscale", "auto"),
			"lengthscale = auto: with method=weighted-sum all inputs share kde_bandwidth and max_lengthscale; give one"},
		"the census": {nil, "15"},
		"no own":     {map[string]any{"lengthscale": "auto"}, "lengthscale = auto: it is for data of your own"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Regression().Resolve(c.given)
			if err != nil {
				trialtest.Refuses(t, err, c.want)
			} else if got := Regression().Settings(p).Lengthscale.String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// The rule's lengthscales are those of its numbers, which a record and a release state.
func TestAutomaticLengthscales(t *testing.T) {
	o := trialtest.Options{File: cloaktest.File(t, "a,b,kind,yes,one,y\n0,5,u,yes,7,3\n8,9,v,no,7,4\n3,6,u,yes,7,5\n"+
		"4,7,v,no,7,7\n2,8,u,no,7,2\n5,8,u,yes,7,6\n")}
	two := 2 * math.Sqrt(2) / 3 // the share of ranges of two inputs
	for _, c := range []struct {
		name, inputs string
		method       cloak.Method
		numbers      []float64
	}{
		{"standard", "a", cloak.Standard, []float64{8. / 3}},
		{"standard, two inputs", "a+b", cloak.Standard, []float64{8 * two, 4 * two}},
		{"a category", "b+kind", cloak.Standard, []float64{4 * two, two}},
		{"a truth value", "b+yes", cloak.Standard, []float64{4 * two, two}},
		{"one value in all rows", "b+one", cloak.Standard, []float64{4 * two, two}},
		{"sparse", "a", cloak.Sparse, []float64{2}},
		{"sparse, two inputs", "a+b", cloak.Sparse, []float64{2 * math.Sqrt2, math.Sqrt2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			by := func(l method.Lengthscale) func(*regressionSettings) {
				return func(s *regressionSettings) {
					ownFile(c.inputs, "y", 0, 10)(s)
					s.Delta, s.Folds.Folds, s.Draws, s.Lengthscale = 0.01, 2, 1, l
					s.Method, s.Inducing = c.method, placed(2)
				}
			}
			got, want := validated(t, o, by(method.Automatic())), validated(t, o, by(method.LengthscalesOf(c.numbers...)))
			trialtest.Near(t, "error", *got.Metrics.RMSE, *want.Metrics.RMSE, 1e-12)
			note := "lengthscale = auto is " + method.LengthscalesOf(c.numbers...).String() + " here"
			if !says(got.Privacy.Notes, note) ||
				!says(published(t, o, by(method.Automatic())).Privacy.Notes, note) || says(want.Privacy.Notes, "auto") {
				t.Errorf("notes: %q, want %q", got.Privacy.Notes, note)
			}
		})
	}
}

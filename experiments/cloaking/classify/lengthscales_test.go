package classify

import (
	"fmt"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// A lengthscale for each input is the same as columns in units of their lengthscales, with one
// lengthscale of 1: in a judged trial and in a release.
func TestLengthscalesAreScalesOfColumns(t *testing.T) {
	apart := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Unscaled)}
	scaled := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Scales)}
	own := func(lengthscale ...float64) func(*classificationSettings) {
		return func(s *classificationSettings) {
			ownFile("a+b+c", "class", 0, 1)(s)
			s.Delta, s.Calibration, s.Lengthscale = 1e-3, mechanism.Analytic, method.LengthscalesOf(lengthscale...)
			s.Folds.Folds, s.Draws = 3, 5
		}
	}
	for name, change := range map[string]func(*classificationSettings){
		"standard": func(*classificationSettings) {},
		"sparse": func(s *classificationSettings) {
			s.Method, s.Inducing, s.Probability = cloak.Sparse, 6, Averaged
		},
		"no noise": func(s *classificationSettings) { noiseless(&s.ClassifierSettings) },
	} {
		t.Run(name, func(t *testing.T) {
			got := validated(t, apart, own(cloaktest.Scales[:]...), change)
			want := validated(t, scaled, own(1), change)
			trialtest.Near(t, "AUC", *got.Metrics.AUC, *want.Metrics.AUC, 1e-9)
			different := 0.0
			shared := validated(t, apart, own(cloaktest.Scales[0]), change).Series["predictions"]["probability"]
			for i, p := range want.Series["predictions"]["probability"] {
				v := got.Series["predictions"]["probability"][i]
				trialtest.Near(t, fmt.Sprint("probability ", i), v, p, 1e-9)
				different = max(different, v-shared[i])
			}
			if different < 0.01 {
				t.Errorf("one lengthscale has the probabilities of three")
			}
			if name == "no noise" {
				return
			}
			one, err := cloaktest.Publish(t, apart, Classification(), own(cloaktest.Scales[:]...), change)
			if err != nil {
				t.Fatal(err)
			}
			other, err := cloaktest.Publish(t, scaled, Classification(), own(1), change)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range cloaktest.ColumnOf(t, other, "probability") {
				trialtest.Near(t, fmt.Sprint("released probability ", i), cloaktest.ColumnOf(t, one, "probability")[i], p, 1e-9)
				a, unit := cloaktest.ColumnOf(t, other, "a")[i], cloaktest.Scales[0]
				trialtest.Near(t, fmt.Sprint("released input ", i), cloaktest.ColumnOf(t, one, "a")[i], a*unit, 1e-9)
			}
		})
	}
}

func TestLengthscaleRefusals(t *testing.T) {
	own := func(over ...any) map[string]any {
		out := map[string]any{"dataset": "csv:my.csv", "inputs": "a+b", "output": "class", "low": 0, "high": 1, "delta": 0.01}
		for i := 0; i < len(over); i += 2 {
			out[over[i].(string)] = over[i+1]
		}
		return out
	}
	for _, c := range []struct {
		given map[string]any
		want  string // empty where they fit
	}{
		{own("lengthscale", 3), ""},
		{own("lengthscale", "3,1"), ""},
		{own("lengthscale", "3,1,1"), ""}, // a column may be a category
		{own("inputs", "a+b+c", "lengthscale", "3,1"),
			"lengthscale = [3,1]: these are 2 numbers for 3 inputs (a, b, c); give one for all"},
		{own("lengthscale", "3,0"), `parameter "lengthscale": 0 is outside (0, inf)`},
		{own("lengthscale", "3,inf"), `parameter "lengthscale": inf is not finite`},
		{map[string]any{"inputs": "DELINQ+CLAGE", "lengthscale": "3,1"}, "is for data of your own"},
	} {
		t.Run(fmt.Sprint(c.given["inputs"], c.given["lengthscale"]), func(t *testing.T) {
			_, err := Classification().Resolve(c.given)
			if c.want != "" {
				trialtest.Refuses(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("counted with the file", func(t *testing.T) {
		_, err := trialtest.Try(t, trialtest.Options{File: cloaktest.Classes(t)}, Classification(), ownClasses,
			func(s *classificationSettings) { s.Delta, s.Lengthscale = 0.01, method.LengthscalesOf(1, 2, 3) })
		trialtest.Refuses(t, err, "these are 3 numbers for 2 inputs (a, b)")
		_, err = trialtest.Try(t, trialtest.Options{File: cloaktest.Classes(t)}, Classification(), ownClasses,
			func(s *classificationSettings) { s.Delta, s.Lengthscale = 0.01, method.LengthscalesOf(1e-320, 1) })
		trialtest.Refuses(t, err, "input 1 of 2 has the value ")
	})
}

// Without lengthscales those of a file follow from the ranges of its inputs, over all rows, also where few are drawn.
func TestAutomaticLengthscales(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{"default": {"", "auto"}, "given": {"3", "3"}} {
		t.Run(name, func(t *testing.T) {
			given := map[string]any{"dataset": "csv:my.csv", "inputs": "a", "output": "class", "low": 0, "high": 1,
				"delta": 0.01}
			if c.given != "" {
				given["lengthscale"] = c.given
			}
			p, err := Classification().Resolve(given)
			if err != nil {
				t.Fatal(err)
			}
			if got := Classification().Settings(p).Lengthscale.String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	o := trialtest.Options{File: cloaktest.Scaled(t, cloaktest.Unscaled)}
	by := func(l method.Lengthscale) func(*classificationSettings) {
		return func(s *classificationSettings) {
			ownFile("b", "class", 0, 1)(s)
			s.Delta, s.Calibration, s.Lengthscale = 1e-3, mechanism.Analytic, l
			s.Folds.Folds, s.Draws, s.Rows = 3, 5, experiment.NumberOr[All](30)
		}
	}
	got, want := validated(t, o, by(method.Automatic())), validated(t, o, by(method.LengthscalesOf(225)))
	if *got.Metrics.AUC != *want.Metrics.AUC {
		t.Errorf("AUC %g, with numbers %g", *got.Metrics.AUC, *want.Metrics.AUC)
	}
	released, err := cloaktest.Publish(t, o, Classification(), by(method.Automatic()))
	if err != nil {
		t.Fatal(err)
	}
	const note = "lengthscale = auto is 225 here: it follows from the public ranges of the inputs"
	if !slices.Contains(got.Privacy.Notes, note) || !slices.Contains(released.Privacy.Notes, note) {
		t.Errorf("notes %q and %q, want %q", got.Privacy.Notes, released.Privacy.Notes, note)
	}
}

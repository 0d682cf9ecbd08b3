package regression

import (
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// line is a file with one input x and the outputs.
func line(outputs ...float64) string {
	text := "x,y\n"
	for i, y := range outputs {
		text += fmt.Sprintf("%d,%g\n", i, y)
	}
	return text
}

func TestBadInput(t *testing.T) {
	many := make([]float64, 1001)
	for i := range many {
		many[i] = float64(i % 7)
	}
	good := line(1, 3, 2, 5, 4, 1, 0, 2)
	on := func(changes ...func(*Settings)) func(*Settings) {
		return func(s *Settings) {
			s.Inputs, s.Output, s.Sensitive, s.Folds = "x", "y", "x:2..3", 2
			for _, change := range changes {
				change(s)
			}
		}
	}
	plain := known("2", 4, 0.1)
	for _, c := range []struct {
		name, text string
		change     func(*Settings)
		want       string
	}{
		{"one row", line(1), on(), "1 rows: at least 3 are needed"},
		{"no row", "x,y\n", on(), "there are no rows"},
		{"too many rows", line(many...), on(), "with most_rows=1001 a trial takes about"},
		{"constant output", line(2, 2, 2, 2), on(), "the output y is the same in all 4 rows"},
		{"constant input", "x,y\n1,2\n1,3\n1,4\n", on(), `the input "x" is the same in all rows`},
		{"infinite output", "x,y\n1,2\n2,inf\n3,4\n", on(), "expected a finite number"},
		{"no place", good, on(func(s *Settings) { s.Sensitive = "x:90.." }), "no row lies in x:90.."},
		{"folds", good, on(func(s *Settings) { s.Folds = 9 }), "folds = 9: there are 8 rows"},
		{"rows and missing values", "x,y\n1,2\n2,\n3,4\n4,5\n5,1\n", on(func(s *Settings) { s.Sensitive = "rows:2" }),
			"rows cannot be named by their numbers"},
		{"one place or many", good, on(plain, func(s *Settings) { s.Noise = optimal }),
			"is for one sensitive place, and there are 2"},
		{"a negative tolerance", good, on(plain, placesOf(t, "x,keep\n2,0.5\n4,-1\n"), tolerancesKept),
			"in row 2 (counted from 1) the tolerance keep is -1, and no variance is negative"},
		{"a tolerance of text", good, on(plain, placesOf(t, "x,keep\n2,much\n4,little\n"), tolerancesKept),
			`rows.csv:2:3: column "keep" is "much", expected a number`},
		{"a tolerance is missing", good, on(plain, placesOf(t, "x,keep\n2,0.5\n4,\n"), tolerancesKept),
			`rows.csv:3:3: column "keep" has no value`},
		{"a tolerance of the prior variance", good, on(plain, placesOf(t, "x,keep\n2,0.5\n4,1\n"), tolerancesKept),
			"tolerance in row 2 (counted from 1) of the column keep = 1: it must be below 1, the prior variance"},
		{"a tolerance of the output", good, on(plain, placesOf(t, "x,keep\n2,0.5\n4,1\n4,7\n6,9\n"), tolerancesKept,
			func(s *Settings) { s.XiUnit = ofOutput }), "tolerance in row 3 (counted from 1) of the column keep = 7 is not " +
			"below the prior variance of the output, 4: without any data its variance is no larger, so that there is nothing " +
			"to do but to leave the data out; take a smaller tolerance in the column keep"},
		{"tolerances for rows of places", good, on(plain, placesOf(t, "x\n2\n4\n"),
			func(s *Settings) { s.Xi = xi(0.1, 0.2, 0.3) }), "these are 3 tolerances for 2 rows of places"},
		{"places that depend on each other", good, on(plain, func(s *Settings) {
			s.Sensitive, s.Xi = "x:3,x:3.1", xi(0.5, 0.2)
		}), "has the eigenvalue -0.0"},
		{"far too much", good, on(func(s *Settings) { s.Xi, s.XiUnit = xi(1e6), ofOutput }),
			"is not below the prior variance"},
		{"fine resolution", good, on(plain, func(s *Settings) { s.Resolution = experiment.NumberOr[automatic](0.5) }),
			"the outputs are written in steps of 1"},
		{"lengthscales", good, on(known("1+2", 4, 0.1)), "these are 2 numbers for 1 input (x)"},
		{"two outputs at a place", "x,y\n1,2\n1,3\n2,4\n3,5\n", on(known("1", 4, 0)),
			"have the same inputs and the outputs 2 and 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := csv(t, c.text)
			_, err := trialtest.Try(t, trialtest.Options{}, Experiment(), func(s *Settings) {
				s.Dataset = "csv:" + path
				c.change(s)
			})
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// placesOf makes the sensitive places those of a file.
func placesOf(t *testing.T, text string) func(*Settings) {
	path := csv(t, text)
	return func(s *Settings) { s.Sensitive = "csv:" + path }
}

// tolerancesKept takes those of the column keep.
func tolerancesKept(s *Settings) { s.XiColumn = "keep" }

// Suspect results are computed, with warnings.
func TestSuspects(t *testing.T) {
	good := line(1, 3, 2, 5, 4, 1, 0, 2)
	places := csv(t, "x\n1e6\n2\n2\n")
	for _, c := range []struct {
		name, text string
		change     func(*Settings)
		want       string
	}{
		{"everything", good, func(s *Settings) { s.Sensitive = "x:0.." }, "every row is sensitive"},
		{"nothing to do", good, func(s *Settings) { s.Xi = xi(0) }, "nothing to do: without noise the predictive variance"},
		{"far place", good, func(s *Settings) { s.Sensitive = "csv:" + places }, "1 of the 2 sensitive places are so far"},
		{"missing values", good + "9,\n", func(*Settings) {}, "1 of 9 rows have no value"},
		{"duplicates", "x,y\n1,2\n1,2\n2,4\n3,5\n4,1\n", func(s *Settings) { s.NoiseVariance = 0 }, "numerical rank 4"},
		{"large prior", good, func(s *Settings) { s.ProcessVariance = 100 }, "whoever guesses their mean does better"},
		{"small prior", good, func(s *Settings) { s.ProcessVariance = 0.01 },
			"the standard deviations are too small; use a larger noise_variance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := csv(t, c.text)
			out := trialtest.Compute(t, trialtest.Options{}, Experiment(), func(s *Settings) {
				s.Dataset, s.Inputs, s.Sensitive, s.Folds = "csv:"+path, "x", "x:2..3", 2
				known("1", 4, 0.1)(s)
				c.change(s)
			})
			if all := strings.Join(out.Warnings, "\n"); !strings.Contains(all, c.want) {
				t.Errorf("warnings %q, want %q", all, c.want)
			}
			if m := out.Metrics; m.VarianceMin < m.Tolerance*(1-1e-5) {
				t.Errorf("variance %g, tolerance %g", m.VarianceMin, m.Tolerance)
			}
		})
	}
}

// There is nothing to do where no noise was made: strong noise may protect combinations of the
// outputs at places of which none is in need.
func TestNothingToDo(t *testing.T) {
	path := csv(t, line(1, 3, 2, 5, 4, 1, 0, 2))
	const nothing = "nothing to do"
	for _, c := range []struct {
		name   string
		change func(*Settings)
		noise  bool
		want   string // "" for no such warning
	}{
		{"combinations", func(s *Settings) { s.Noise, s.Sensitive, s.Xi = strong, "x:2,x:3", xi(0.022) }, true, ""},
		{"each on its own", func(s *Settings) { s.Noise, s.Sensitive, s.Xi = weak, "x:2,x:3", xi(0.022) }, false,
			"of the prior one at every sensitive place, and xi asks for 0.022: a larger xi would hide more"},
		{"different tolerances", func(s *Settings) { s.Noise, s.Sensitive, s.Xi = weak, "x:2,x:30", xi(0.01, 0.9) }, false,
			nothing + ": without noise the predictive variance is at every sensitive place at least its own tolerance: a " +
				"larger xi would hide more"},
		{"a place in need", func(s *Settings) { s.Noise, s.Sensitive, s.Xi = weak, "x:2,x:3", xi(0.5) }, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := trialtest.Compute(t, trialtest.Options{}, Experiment(), func(s *Settings) {
				s.Dataset, s.Inputs, s.Folds = "csv:"+path, "x", 2
				known("1", 4, 0.1)(s)
				c.change(s)
			})
			all := strings.Join(out.Warnings, "\n")
			if (out.Metrics.Trace > 0) != c.noise || strings.Contains(all, nothing) != (c.want != "") ||
				!strings.Contains(all, c.want) {
				t.Errorf("trace %g, %g places in need, %g without noise: %q", out.Metrics.Trace, out.Metrics.PlacesInNeed,
					out.Metrics.VarianceUnsecured/4, out.Warnings)
			}
		})
	}
}

// In float32 a trial is computed with a warning, and nothing is exported.
func TestFloat32(t *testing.T) {
	o := trialtest.Options{DType: "float32"}
	for _, m := range []noiseMethod{weak, strong, equal, uniform} {
		out := trialtest.Compute(t, o, Experiment(), func(s *Settings) { s.Noise = m; known("0.15", 0.6, 0.01)(s) })
		if all := strings.Join(out.Warnings, "\n"); !strings.Contains(all, "computed in float32: tolerances are held") {
			t.Errorf("%v: %q", m, all)
		}
		if v := out.Metrics; v.VarianceMin < v.Tolerance-1e-3 {
			t.Errorf("%v: variance %g, tolerance %g", m, v.VarianceMin, v.Tolerance)
		}
	}
	_, err := export(t.Context(), trialtest.New(t, o), Experiment().With(own(wave(t, 20))))
	trialtest.Refuses(t, err, "use --dtype float64")
}

// Settings that no data can have are refused before any are read.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		given  map[string]any
		export bool
		want   string
	}{
		{"no places", map[string]any{"dataset": "csv:a.csv"}, false, "sensitive is not given"},
		{"unknown data", map[string]any{"dataset": "mnist"}, false, `dataset = "mnist": it is simulated, or a file`},
		{"unknown input", map[string]any{"sensitive": "time:1.."}, false, `unknown input "time"`},
		{"no set", map[string]any{"sensitive": "0.4..0.6"}, false, "is no set of places"},
		{"xi of one", map[string]any{"xi": 1}, false, "it must be below 1, the prior variance"},
		{"xi of the output", map[string]any{"xi": 2, "xi_unit": "output", "hyperparameters": "given",
			"process_variance": 2}, false,
			"xi = 2 is not below the prior variance of the output, 2"},
		{"tolerances for parts", map[string]any{"sensitive": "x:0.2..0.3,x:0.4..0.5", "xi": "0.1,0.2,0.3"}, false,
			"xi = [0.1,0.2,0.3]: these are 3 tolerances, and sensitive has 2 parts, x:0.2..0.3 and x:0.4..0.5: give one"},
		{"tolerances for one part", map[string]any{"xi": "0.1,0.2"}, false, "sensitive has one part, x:0.4..0.6"},
		{"one tolerance of all", map[string]any{"sensitive": "x:0.2,x:0.4", "xi": "0.1,0.2", "noise": "uniform"}, false,
			"noise = uniform protects every place by one tolerance"},
		{"no tolerance", map[string]any{"xi": "[]"}, false, `parameter "xi": the list is empty`},
		{"a tolerance that is none", map[string]any{"xi": "0.1,nan"}, false, "NaN is not a number that can be used"},
		{"the second of two", map[string]any{"sensitive": "x:0.2,x:0.4", "xi": "0.1,1.5"}, false,
			"xi = 1.5: it must be below 1"},
		{"a column of no file", map[string]any{"xi_column": "keep"}, false,
			"xi_column = keep: it is a column of a file of places, and sensitive = x:0.4..0.6 names none"},
		{"a column that is an input", map[string]any{"dataset": "csv:a.csv", "sensitive": "csv:b.csv", "xi_column": "x"},
			false, "xi_column = x: it is one of the inputs"},
		{"a column that is the output", map[string]any{"dataset": "csv:a.csv", "sensitive": "csv:a.csv", "xi_column": "y"},
			false, "xi_column = y: it is the output, and tolerances are handed over as they are"},
		{"a level of the output", map[string]any{"dataset": "csv:a.csv", "sensitive": "csv:a.csv", "xi_column": "y=1.5"},
			false, "xi_column = y=1.5: it is the output"},
		{"a column that is the output, with blanks", map[string]any{"dataset": "csv:a.csv", "output": " y ",
			"sensitive": "csv:a.csv", "xi_column": "y"}, false, "xi_column = y: it is the output"},
		{"a column for every place", map[string]any{"dataset": "csv:a.csv", "sensitive": "csv:b.csv", "xi_column": "keep",
			"noise": "uniform"}, false, "xi_column = keep: noise = uniform"},
		{"a predicate on the output", map[string]any{"dataset": "csv:a.csv", "sensitive": "x > 3 and y > 3"}, false,
			"y is the output, and the covariance of the noise, which is handed over, shows which rows are sensitive"},
		{"a predicate on the output, with blanks", map[string]any{"dataset": "csv:a.csv", "output": " y ",
			"sensitive": "y > 3"}, false, "y is the output, and the covariance of the noise"},
		{"a predicate and all inputs", map[string]any{"dataset": "csv:a.csv", "inputs": "*", "sensitive": "speed > 3"}, false,
			"with inputs = * it is open whether speed is an input: name the inputs"},
		{"predicates and all inputs", map[string]any{"dataset": "csv:a.csv", "inputs": "*",
			"sensitive": "speed > 3 and late = no"}, false, "it is open whether speed or late is an input"},
		{"a predicate on simulated data", map[string]any{"sensitive": "speed > 3"}, false, `unknown column "speed"`},
		{"no comparison", map[string]any{"sensitive": "x >"}, false,
			`"x >" is no comparison of a column with a value: write speed > 3`},
		{"no column", map[string]any{"sensitive": "> 3"}, false, `"> 3" is no comparison`},
		{"a range of comparisons", map[string]any{"sensitive": "1 < x < 3"}, false, `"1 < x < 3" is no comparison`},
		{"a comparison and a box", map[string]any{"sensitive": "x > 3 and x:4"}, false, `"x:4" is no comparison`},
		{"half a conjunction", map[string]any{"sensitive": "x > 3 and "}, false, `"x > 3 and" is no comparison`},
		{"H for single places", map[string]any{"requirement": "kernel", "noise": "weak"}, false,
			"requirement = kernel: noise = weak takes places one by one, and H would say no more than xi = h_variance"},
		{"H everywhere", map[string]any{"requirement": "kernel", "noise": "uniform", "kernel": "matern32"}, false,
			"noise = uniform, Eq. (13), is computed for kernel=eq and an eq kernel H, and they are matern32 and matern32"},
		{"a rough H everywhere", map[string]any{"requirement": "kernel", "noise": "uniform", "h_kernel": "matern12"}, false,
			"and they are eq and matern12"},
		{"H of the prior variance", map[string]any{"requirement": "kernel", "h_variance": 1}, false,
			"h_variance = 1: it must be below 1, the prior variance"},
		{"no H", map[string]any{"requirement": "kernel", "h_variance": 0}, false, "0 is outside (0, inf)"},
		{"H above the prior variance", map[string]any{"requirement": "kernel", "h_variance": 2, "xi_unit": "output",
			"hyperparameters": "given", "process_variance": 2}, false,
			"h_variance = 2 is not below the prior variance of the output, 2"},
		{"lengthscales of H", map[string]any{"requirement": "kernel", "h_lengthscales": "short"}, false,
			`h_lengthscales = short: "short" is no positive number; write one for all inputs, or one for each, ` +
				`joined by +, or prior`},
		{"a lengthscale", map[string]any{"hyperparameters": "given", "lengthscales": "0.1+0"}, false,
			`"0" is no positive number`},
		{"doubled input", map[string]any{"dataset": "csv:a.csv", "inputs": "a+a", "sensitive": "a:1.."}, false,
			"named twice"},
		{"places of all inputs", map[string]any{"dataset": "csv:a.csv", "inputs": "*", "sensitive": "csv:b.csv"}, false,
			"name the inputs"},
		{"no noise", map[string]any{"dataset": "csv:a.csv", "sensitive": "x:1..", "noise": "none"}, true,
			"would hide nothing"},
		{"simulated", nil, true, "simulated data need no export"},
		{"a column of predictions", map[string]any{"dataset": "csv:a.csv", "inputs": "mean", "sensitive": "rows:1"}, true,
			`predictions have a column "mean"`},
		{"estimates", map[string]any{"dataset": "csv:a.csv", "sensitive": "rows:1"}, true, "hyperparameters = ml: "},
		{"an estimated mean", map[string]any{"dataset": "csv:a.csv", "sensitive": "rows:1", "hyperparameters": "given"}, true,
			"mean = ml: "},
		{"a resolution of the outputs", map[string]any{"dataset": "csv:a.csv", "sensitive": "rows:1",
			"hyperparameters": "given", "mean": "0"}, true, "resolution = auto: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Experiment().Resolve(c.given)
			if c.export {
				if err != nil {
					t.Fatal(err)
				}
				err = Experiment().CheckExport(p)
			}
			trialtest.Refuses(t, err, c.want)
		})
	}
}

// Several errors are reported at once: those without the data, those of an export, and those of
// settings that do not fit the data.
func TestRefusalsComeTogether(t *testing.T) {
	_, err := Experiment().Resolve(map[string]any{"dataset": "csv:a.csv", "inputs": "a+a", "xi": "0.5,2",
		"hyperparameters": "given", "lengthscales": "-1"})
	refusesAll(t, err, `inputs = "a+a": "a" is named twice`, "sensitive is not given", "xi = 2: it must be below 1",
		`lengthscales = -1: "-1" is no positive number`)
	_, err = Experiment().Resolve(map[string]any{"dataset": "mnist", "sensitive": "time", "requirement": "kernel",
		"h_variance": 3, "h_lengthscales": "0", "noise": "equal"})
	refusesAll(t, err, `dataset = "mnist": it is simulated`, "is no set of places", "h_variance = 3: it must be below 1",
		`h_lengthscales = 0: "0" is no positive number`, "requirement = kernel: noise = equal takes places one by one")

	p, err := Experiment().Resolve(map[string]any{"dataset": "csv:a.csv", "inputs": "mean+sd", "sensitive": "rows:1"})
	if err != nil {
		t.Fatal(err)
	}
	refusesAll(t, Experiment().CheckExport(p), `have a column "mean"`, `have a column "sd"`, "hyperparameters = ml: ",
		"mean = ml: ", "resolution = auto: ")

	path := csv(t, line(1, 3, 2, 5, 4, 1, 0, 2))
	_, err = trialtest.Try(t, trialtest.Options{}, Experiment(), func(s *Settings) {
		s.Dataset, s.Inputs, s.Sensitive, s.Folds = "csv:"+path, "x", "x:2..3", 2
		known("1+2", 4, 0.1)(s)
		s.Requirement, s.HLengthscales, s.Resolution = byKernel, "1+2+3", experiment.NumberOr[automatic](0.5)
	})
	refusesAll(t, err, "lengthscales = 1+2: these are 2 numbers for 1",
		"h_lengthscales = 1+2+3: these are 3 numbers for 1",
		"the outputs are written in steps of 1")
	path = csv(t, "x,z,w,y\n1,2,3,4\n2,2,3,4\n3,2,3,4\n")
	_, err = trialtest.Try(t, trialtest.Options{}, Experiment(), func(s *Settings) {
		s.Dataset, s.Inputs, s.Sensitive, s.Folds = "csv:"+path, "x+z+w", "x:2..3", 5
	})
	refusesAll(t, err, `the input "z" is the same`, `the input "w" is the same`, "the output y is the same", "folds = 5")
}

func refusesAll(t *testing.T, err error, wants ...string) {
	t.Helper()
	for _, want := range wants {
		trialtest.Refuses(t, err, want)
	}
}

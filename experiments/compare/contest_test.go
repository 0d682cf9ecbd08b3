package compare_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/baseline"
	"privkern/experiments/cloaking"
	"privkern/experiments/compare"
	"privkern/experiments/dpgp"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm"
	"privkern/experiments/multikernel"
	"privkern/experiments/privacygp"
	"privkern/runner/experiment"
)

var registry = experiment.RegistryOf([]experiment.Paper{cloaking.Paper(), dpgp.Paper(), kahm.Paper(),
	multikernel.Paper(), privacygp.Paper(), baseline.Experiments()})

// file has numbers x, z and y, two classes of texts and of numbers, three of texts, one, persons, notes and one number.
func file(t *testing.T, rows int) string {
	t.Helper()
	text := "x,z,y,two,bit,three,one,id,note,same\n"
	for i := range rows {
		text += fmt.Sprintf("%d,%d,%d,%s,%d,%s,same,%d,note %d,7\n", i, i*i%17, i%10, []string{"no", "yes"}[i*i%3%2], i*i%3%2,
			[]string{"a", "b", "c"}[i%3], i/2, i)
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// settle makes a comparison of a file of 40 rows.
func settle(t *testing.T, rows int, args string) (*compare.Contest, error) {
	t.Helper()
	var fields []string // the last of a name counts
	for _, f := range strings.Fields("dataset=csv:my.csv " + args) {
		name, _, _ := strings.Cut(f, "=")
		fields = slices.DeleteFunc(fields, func(other string) bool { return strings.HasPrefix(other, name+"=") })
		fields = append(fields, f)
	}
	r, err := compare.ParseRequest(fields)
	if err != nil {
		t.Fatal(err)
	}
	return compare.New(registry, r, file(t, rows))
}

const (
	numbers = "inputs=x output=y low=0 high=9 input_low=0 input_high=40 epsilon=1,3 delta=1e-4 "
	classes = "inputs=x input_low=0 input_high=40 epsilon=1 delta=1e-4 "
	// two are methods of which one protects less.
	two = "methods=dpgp/regression,cloaking/regression "
)

// The methods that take part, each as in the list of candidates.
const (
	regressions = "dpgp/regression baseline/ridge baseline/histogram baseline/ebm-regression baseline/sgd-regression " +
		"cloaking/regression baseline/label-noise baseline/exact-regression"
	anyClasses = "dpgp/classification baseline/logistic baseline/forest baseline/ebm-classification " +
		"baseline/sgd-classification baseline/class-means "
	otherClasses = "baseline/randomised-response baseline/largest-class baseline/exact-classification"
	twoClasses   = anyClasses + "cloaking/classification " + otherClasses
)

// A method takes part where it fits task, table, unit and settings.
func TestEntries(t *testing.T) {
	for _, c := range []struct {
		name, args, entries, apart string
		notes                      string // a part of them
	}{
		{"numbers", numbers, regressions, "privacygp/regression: its noise", ""},
		{"one method", numbers + "methods=dpgp/regression", "dpgp/regression baseline/exact-regression", "", ""},
		{"two classes", classes + "output=two", twoClasses, "kahm/classifier: its epsilon",
			"the classes of two are those of the data"},
		{"named classes", classes + "output=two[no|yes]", twoClasses, "kahm", ""},
		{"classes of numbers", classes + "output=bit task=classification",
			twoClasses, "kahm", "the classes of bit are those"},
		{"named numbers", classes + "output=bit[0|1]", twoClasses, "kahm", ""},
		{"numbers that are two", "inputs=x output=bit low=0 high=1 input_low=0 input_high=40 epsilon=1 delta=1e-4",
			regressions, "privacygp", "task=classification compares classifiers"},
		{"three classes", classes + "output=three", anyClasses + otherClasses,
			"cloaking/classification: it tells two classes apart, and there are 3", "the classes of three are those"},
		{"without a range", "inputs=x output=y low=0 high=9 epsilon=1 delta=1e-4", "cloaking/regression",
			"dpgp/regression: input_low and input_high are not given", ""},
		{"persons", numbers + "person=id rows_per_person=2 methods=dpgp/regression",
			"dpgp/regression baseline/exact-regression", "", ""},
		{"persons with more rows", numbers + "person=id rows_per_person=1", regressions, "privacygp",
			"some persons have more rows than rows_per_person=1: that number of each is drawn"},
		{"a lengthscale", numbers + "lengthscale=10", regressions, "privacygp",
			"lengthscale does not go to baseline/ridge, where it means something else"},
		{"a lengthscale of classifiers", classes + "output=two[no|yes] lengthscale=10", twoClasses, "kahm",
			"lengthscale does not go to baseline/logistic, baseline/randomised-response, where"},
		{"a range of classes", classes + "output=two[no|yes] low=0 high=1", twoClasses, "kahm",
			"low does not go to dpgp/classification, cloaking/classification, where it means something else"},
		{"rows added or removed", numbers + "neighbours=add-remove", "dpgp/regression baseline/ridge baseline/histogram " +
			"baseline/ebm-regression baseline/sgd-regression baseline/exact-regression",
			"cloaking/regression: its guarantee is for the substitution of a unit alone",
			"neighbours=add-remove is for judging: a release refuses it"},
		{"rows substituted", numbers + "neighbours=substitute methods=dpgp/regression",
			"dpgp/regression baseline/exact-regression", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := settle(t, 40, c.args)
			if err != nil {
				t.Fatal(err)
			}
			var entries, apart []string
			for _, e := range x.Entries {
				entries = append(entries, e.Experiment)
				if len(e.Params) != len(x.Epsilons) && e.Role != compare.NonPrivate {
					t.Errorf("%s: %d settings for %d epsilons", e.Experiment, len(e.Params), len(x.Epsilons))
				}
				for _, p := range e.Params {
					if !compare.Is(e.Experiment, p) {
						t.Errorf("no trial of a comparison: %v", p)
					}
				}
			}
			for _, a := range x.Apart {
				apart = append(apart, a.Experiment+": "+a.Reason)
			}
			if got := strings.Join(entries, " "); got != c.entries {
				t.Errorf("entries %s, want %s", got, c.entries)
			}
			if got := strings.Join(apart, "\n"); !strings.Contains(got, c.apart) || c.apart == "" && got != "" {
				t.Errorf("apart %s, want %s", got, c.apart)
			}
			if got := strings.Join(x.Notes, "\n"); !strings.Contains(got, c.notes) || c.notes == "" && got != "" {
				t.Errorf("notes %s, want %s", got, c.notes)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, args, want string
		rows             int
	}{
		{"an unknown method", numbers + "methods=dpgp/regresion", `did you mean "dpgp/regression"?`, 40},
		{"a method of another task", numbers + "methods=dpgp/classification", "it is for a classification", 40},
		{"a method of another protection", numbers + "methods=privacygp/regression", "no (epsilon, delta) holds", 40},
		{"an unknown setting", numbers + "lengthscal=3", `did you mean "lengthscale"?`, 40},
		{"a lengthscale of another meaning", numbers + "methods=baseline/ridge lengthscale=.3",
			"lengthscale means something else in the methods that are named", 40},
		{"no delta", two + strings.Replace(numbers, "delta=1e-4", "", 1), "delta is not given", 40},
		{"no range of the output", "inputs=x output=y epsilon=1 delta=1e-4", "low and high are not given", 40},
		{"an unknown output", strings.Replace(numbers, "=y", "=Y1", 1), `unknown column "Y1"`, 40},
		{"fewer rows than folds", numbers, "there are 4 rows with a value of y; a split", 4},
		{"text as output", classes + "output=note", "a text of 40 different values", 40},
		{"text as a number", classes + "output=two task=regression", "no number that a regression predicts", 40},
		{"one class", classes + "output=one", "all rows are of one class", 40},
		{"one value", strings.Replace(numbers, "=y", "=same", 1), "all rows have one value", 40},
		{"an unknown input", strings.Replace(numbers, "=x", "=x,zz", 1), `inputs = zz: unknown column "zz"`, 40},
		{"text as input", strings.Replace(numbers, "=x", "=x,note", 1), `inputs = note: `, 40},
		{"the output as input", strings.Replace(numbers, "=x", "=x,y", 1), "inputs = x,y: y is the output", 40},
		{"a person as input", strings.Replace(numbers, "=x", "=x,id", 1) + "person=id rows_per_person=2",
			"id names the persons", 40},
		{"levels of an input that are not all", strings.Replace(numbers, "=x", "=x,three[a|b]", 1),
			`inputs = three[a|b]: the column has "c", too`, 40},
		{"classes that are not all", classes + "output=three[a|b]", `output = three[a|b]: the column has "c", too`, 40},
		{"numbers as classes that are not all", classes + "output=y[0|1]", "has 10 different numbers", 40},
		{"a range the wrong way round", numbers + "low=9 high=0", "low must be below high", 40},
		{"a range of inputs the wrong way round", numbers + "input_low=9 input_high=0",
			"input_low must be below input_high", 40},
		{"a half of a range", strings.Replace(numbers, "input_low=0", "", 1), "input_low and input_high are not given", 40},
		{"bounds for other inputs", numbers + "input_low=0,0 input_high=1,2", "these are 2 numbers for 1 input (x)", 40},
		{"bounds for other columns than all", strings.Replace(numbers, "inputs=x", "", 1) + "input_low=0,0,0 input_high=1",
			"these are 3 numbers for 6 inputs", 40},
		{"lengthscales for other inputs", numbers + "lengthscale=1,2", "lengthscale = [1,2]: these are 2 numbers", 40},
		{"a lengthscale below zero", numbers + "lengthscale=-1", `parameter "lengthscale": -1 is outside`, 40},
		{"a delta of one", numbers + "delta=1", `parameter "delta": 1 is outside (0, 1)`, 40},
		{"a bound that is no number", numbers + "input_low=a", `parameter "input_low": "a" is not a number`, 40},
		{"an unknown person", numbers + "person=idd rows_per_person=2", `did you mean "id"?`, 40},
		{"a person that is the output", numbers + "person=y rows_per_person=2", "person = y: it is the output", 40},
		{"few persons", numbers + "person=three rows_per_person=2", "it names 3 persons", 40},
		{"rows of persons not given", numbers + "person=id", "rows_per_person is not given", 40},
		{"rows of no person", numbers + "rows_per_person=2", "no persons are named", 40},
		{"no rows of a person", numbers + "person=id rows_per_person=0", `parameter "rows_per_person": 0 is outside`, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := settle(t, c.rows, c.args)
			trialtest.Refuses(t, err, c.want)
			var refused *compare.RefusedError
			if !errors.As(err, &refused) {
				t.Errorf("no mistake of the request: %T", err)
			}
		})
	}
}

// An infinite number is refused with its file, and counts as missing where invalid values are clamped, as a level does
// that is not named. Methods that keep such rows, or clamp nothing, stand apart.
func TestInfinite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.csv")
	text := "x,z,y,k\n1,1,inf,c\n2,-inf,1,a\n" + strings.Repeat("3,3,2,a\n4,4,4,b\n", 5)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	of := func(args string) (*compare.Contest, error) {
		r, err := compare.ParseRequest(strings.Fields("dataset=csv:my.csv input_low=0 input_high=4 " +
			"epsilon=1 delta=1e-4 " + args))
		if err != nil {
			t.Fatal(err)
		}
		return compare.New(registry, r, path)
	}
	for args, want := range map[string]string{"output=y inputs=x": "output = y: my.csv: line 2: it is \"inf\"",
		"output=x inputs=z": "inputs = z: my.csv: line 3: it is \"-inf\"", "output=x inputs=*": "inputs = z: my.csv: line 3",
	} {
		_, err := of("low=0 high=9 " + args)
		trialtest.Refuses(t, err, want)
		trialtest.Refuses(t, err, "with invalid=clamp an infinite number counts as a public constant")
	}
	for args, want := range map[string]int{"low=0 high=9 output=y inputs=x": 6, "low=0 high=9 output=y inputs=x,z": 6,
		"low=0 high=9 output=y inputs=*": 6, "output=k[a|b] inputs=x": 8} {
		c, err := of("invalid=clamp " + args)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Entries) != want {
			t.Errorf("%s: %d methods, apart %v", args, len(c.Entries), c.Apart)
		}
	}
}

// A method that does not scale is left out before anything runs.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		rows       int
		args, want string // the reason, empty where the method takes part
	}{
		{4000, "", ""},
		{4001, "", "there are 4001: at most 4000 are compared, and with method=sparse 10000"},
		{4001, "method=sparse", ""},
		{10_001, "method=sparse", "it takes at most 10000 rows, and there are 10001"},
	} {
		x, err := settle(t, c.rows, numbers+c.args)
		if err != nil {
			t.Fatal(err)
		}
		reason := ""
		for _, a := range x.Apart {
			if a.Experiment == "cloaking/regression" {
				reason = a.Reason
			}
		}
		if !strings.Contains(reason, c.want) || c.want == "" && reason != "" {
			t.Errorf("%d rows, %s: %q", c.rows, c.args, reason)
		}
	}
}

// Every candidate, and every method that is not compared, is an experiment that has its settings.
func TestCandidates(t *testing.T) {
	for _, c := range compare.Candidates() {
		e, err := registry.Lookup(c.Experiment)
		if err != nil {
			t.Error(err)
			continue
		}
		for name, text := range c.Fixed {
			p, err := e.Param(name)
			if err != nil {
				t.Error(err)
			} else if _, err := p.Convert(text); err != nil {
				t.Errorf("%s: %v", c.Experiment, err)
			}
		}
		if c.Role == compare.Private && e.Release == nil {
			t.Errorf("%s has no release", c.Experiment)
		}
	}
	for _, a := range compare.NotCompared() {
		if _, err := registry.Lookup(a.Experiment); err != nil {
			t.Error(err)
		}
	}
}

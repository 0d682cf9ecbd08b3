package compare

import (
	"fmt"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
)

const asked = "dataset=csv:a.csv output=y epsilon=1 "

func TestParseRequest(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"plain", asked, "[1] row [] "},
		{"several", "dataset=csv:a.csv output=y epsilon=3,.3,1 methods=a,b unit=output task=regression",
			"[0.3 1 3] output [a b] regression"},
		{"a range of epsilons", "dataset=csv:a.csv output=y epsilon=[1,2]", "[1 2] row [] "},
		{"persons", asked + "person=id", "[1] person [] "},
		{"no persons", asked + "person=none", "[1] row [] "},
		{"a row and no persons", asked + "unit=row person=none", "[1] row [] "},
		{"a person", asked + "unit=person person=id", "[1] person [] "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseRequest(strings.Fields(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(r.Epsilons, " ", r.Unit, " ", r.Methods, " ", r.Task); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestReadingOfRequest(t *testing.T) {
	r, err := ParseRequest(strings.Fields(asked + "separator=; missing=-9"))
	if err != nil || r.Reading.Separator != ";" || r.Reading.Missing != "-9" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRequestRefusals(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"no data", "output=y epsilon=1", "dataset is not given"},
		{"no output", "dataset=csv:a.csv epsilon=1", "output is not given"},
		{"no epsilon", "dataset=csv:a.csv output=y", "epsilon is not given"},
		{"a set of the papers", "dataset=mnist output=y epsilon=1", "compared on data of your own, such as csv:PATH"},
		{"a word", asked + "y", `"y" is not of the form name=value`},
		{"twice", asked + "epsilon=2", "epsilon is given twice"},
		{"a variable that is not set", asked + "delta=", "delta is empty"},
		{"epsilon 0", "dataset=csv:a.csv output=y epsilon=0", "0 is outside (0, inf)"},
		{"a large epsilon", "dataset=csv:a.csv output=y epsilon=1,1e9", "epsilon = 1,1e9: it is outside [1e-08, 1e+06]"},
		{"a small epsilon", "dataset=csv:a.csv output=y epsilon=1e-9", "it is outside [1e-08, 1e+06]"},
		{"an epsilon twice", "dataset=csv:a.csv output=y epsilon=1,2,1", "a value is there twice"},
		{"without noise", "dataset=csv:a.csv output=y epsilon=inf", "inf is not finite"},
		{"a unit", asked + "unit=rows", `did you mean "row"?`},
		{"a task", asked + "task=regresion", `did you mean "regression"?`},
		{"splits", asked + "repeats=3", "repeats is set by the comparison"},
		{"folds", asked + "folds=3", "folds is set by the comparison"},
		{"holdout", asked + "holdout=.5", "holdout is set by the comparison"},
		{"less noise of an entry", asked + "d=.5", "d is set by the comparison"},
		{"nobody", asked + "unit=person", "name the column of the persons"},
		{"a person's output", asked + "unit=output person=id", "use unit=person, or leave person out"},
		{"a row of a person", asked + "unit=row person=id",
			"unit = row and person = id: the guarantee would be for a person"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseRequest(strings.Fields(c.args))
			trialtest.Refuses(t, err, c.want)
		})
	}
}

package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
)

func TestTrials(t *testing.T) {
	tb, err := claimtest.Ledger(t).Table("demo/claims")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := tb.Trials(claimtest.Registry())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range wanted {
		s := w.Experiment
		for _, p := range []string{"points", "method", "epsilon", "lengthscale"} {
			if v, ok := w.Params[p]; ok {
				s += " " + experiment.FormatValue(v)
			}
		}
		got = append(got, fmt.Sprint(s, " #", w.Seed))
	}
	want := []string{ // each once, both sides of a statement, in the order of the cells
		"demo/traces 9 #0",
		"demo/traces 5 #0",
		"demo/regression standard 1 25 #0",
		"demo/regression standard inf 25 #0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Parameters are laid over one another: table, variant, cell; and a statement's
// right-hand side of another experiment takes over the parameters of that one, too.
func TestParametersOfACell(t *testing.T) {
	l, err := ledger.Read("t.yaml", []byte(`
paper: demo
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/regression
    metric: rmse_cm
    params: {epsilon: 1, lengthscale: 1, delta: 1, points: 4}
    variants: [{name: A, params: {lengthscale: 2, delta: 2}}]
    cells:
      - {statement: s, params: {delta: 3}, holds: {op: "<", experiment: demo/traces, metric: gap}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Validate(claimtest.Registry()); err != nil {
		t.Fatal(err)
	}
	wanted, err := l.Tables[0].Trials(claimtest.Registry())
	if err != nil {
		t.Fatal(err)
	}
	want := experiment.Params{"method": "standard", "epsilon": 1.0, "lengthscale": 2.0, "delta": 3.0}
	if p := wanted[0].Params; !maps.Equal(p, want) {
		t.Errorf("left side %v", p)
	}
	if q := wanted[1]; q.Experiment != "demo/traces" || !maps.Equal(q.Params, experiment.Params{"points": 4}) {
		t.Errorf("right side %+v", q)
	}
}

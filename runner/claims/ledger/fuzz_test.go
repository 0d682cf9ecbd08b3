package ledger_test

import (
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/ledger"
)

// Every mistake in the text of a ledger is reported with the file's name, and each table
// of a ledger without mistakes has trials.
func FuzzRead(f *testing.F) {
	demo := claimtest.Text
	f.Add(string(demo))
	f.Add("paper: demo\ntables:\n  -\n")
	f.Add("paper: demo\ntables:\n  - {name: demo/t, cells: [null]}\n")
	f.Add("paper: demo\ntables:\n  - {name: demo/t, kind: table, title: t, experiment: demo/regression, metric: " +
		"rmse_cm, seeds: 0..2, cells: [{row: r, published: \"1.5\"}]}\n")
	f.Add("a: &a [*a]\n")
	f.Add("paper: 1\n---\n")
	registry := claimtest.Registry()
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ledger.Read("f.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if err := l.Validate(registry); err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if strings.HasPrefix(line, "f.yaml") {
					return
				}
			}
			t.Errorf("no mistake has a place: %v", err)
			return
		}
		for _, table := range l.Tables {
			if _, err := table.Trials(registry); err != nil {
				t.Errorf("a valid table has no trials: %v", err)
			}
		}
	})
}

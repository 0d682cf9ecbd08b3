package tables_test

import (
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/experiment"
	"privkern/runner/show/tables"
)

func TestFormulas(t *testing.T) {
	for field, want := range map[string]bool{
		"=HYPERLINK(\"http://x\")": true, "=1": true, "+cmd|' /C calc'!A0": true, "-2+3+cmd|' /C calc'!A0": true,
		"@SUM(1)": true, "\t=1": true, "\r=1": true, "\n=1": true, "＝1": true, "-1,=1": true, "--1": true, "- 1 a": true,
		"": false, "a=1": false, "-1.5": false, "+3": false, "-1e-7": false, "-inf": false, "-1,0,1": false, "+1; -2": false,
		"=": false, "-": false, "＝": false, "'=1": false, " =1": false, "privkern": false, "-.5": false,
	} {
		if got := tables.IsFormula(field); got != want {
			t.Errorf("%q is a formula: %v", field, got)
		}
		inert := field
		if want {
			inert = "'" + field
		}
		if got := tables.Inert(field); got != inert {
			t.Errorf("%q becomes %q", field, got)
		}
	}
}

// The CSV file of a table has no formula of a record's.
func TestTableWithFormulas(t *testing.T) {
	records := claimtest.Records(t)
	for _, r := range records {
		r.Warnings, r.Privacy = []string{"=1+a"}, &experiment.Privacy{Guarantee: "@1+a", Unit: "u"}
	}
	file := render(t, evaluate(t, "demo/table1", records), tables.FormatCSV, tables.TextOptions{})
	for _, want := range []string{",'=1+a", ",'@1+a,"} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is not in\n%s", want, file)
		}
	}
}

package cli

import (
	"reflect"
	"testing"

	"privkern/experiments"
	"privkern/runner/claims/ledger"
)

// The names that are found in the lines of the ledgers are those that reading them gives.
func TestContentsOfLedgers(t *testing.T) {
	book := ledger.Open(experiments.Papers())
	got, err := book.Contents()
	if err != nil {
		t.Fatal(err)
	}
	all, err := book.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	var want []ledger.Contents
	for _, l := range all {
		c := ledger.Contents{Paper: l.Paper, Title: l.Title}
		for _, table := range l.Tables {
			c.Tables = append(c.Tables, table.Name)
		}
		want = append(want, c)
	}
	if len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

package cloaktest

import (
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// ColumnOf returns a column of a release.
func ColumnOf(t *testing.T, r *experiment.Release, name string) []float64 {
	t.Helper()
	j := slices.Index(r.Columns, name)
	if j < 0 {
		t.Fatalf("no column %s in %q", name, r.Columns)
	}
	out := make([]float64, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = row[j]
	}
	return out
}

package cli

import (
	"testing"

	"privkern/runner/experiment"
)

// Long benchmarks are measured only where a prefix or a pattern names them.
func TestSelectBenchmarks(t *testing.T) {
	all := []experiment.Benchmark{{Name: "graphs/dense", Long: true}, {Name: "graphs/hull"},
		{Name: "kahm/search", Long: true}}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "graphs/hull "},
		{[]string{"graphs/"}, "graphs/dense graphs/hull "},
		{[]string{"kahm/search", "graphs/h"}, "kahm/search graphs/hull "},
		{[]string{"*/*"}, "graphs/dense graphs/hull kahm/search "},
	} {
		selected, err := selectBenchmarks(all, c.names)
		got := ""
		for _, b := range selected {
			got += b.Name + " "
		}
		if err != nil || got != c.want {
			t.Errorf("%v selects %q, want %q (%v)", c.names, got, c.want, err)
		}
	}
	if _, err := selectBenchmarks(all, []string{"graph/"}); err == nil {
		t.Error("a name of no benchmark is taken")
	}
}

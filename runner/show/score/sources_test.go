package score

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
)

// A trial that several cells show counts once; two files of one data set are two.
func TestSourceOfATable(t *testing.T) {
	trials := map[string]computed{
		"a": {seed: 3, cpu: 1, data: map[string]string{"kung": "768d"}},
		"b": {seed: 0, cpu: 2, data: map[string]string{"kung": "768d", "hmeq": "e2"}},
		"c": {seed: 1, cpu: 4, data: map[string]string{"kung": "other"}},
		"d": {seed: 9, cpu: 8, data: map[string]string{"mnist": "ab"}}, // of another table
	}
	b := &Board{}
	b.source(&judge.Evaluation{Table: "demo/t", Cells: []judge.Comparison{
		{TrialKeys: []string{"a", "b"}}, {TrialKeys: []string{"b", "c"}}, {TrialKeys: []string{"unread"}},
	}}, trials)
	b.source(&judge.Evaluation{Table: "demo/nothing", Cells: []judge.Comparison{{TrialKeys: []string{"unread"}}}}, trials)
	if len(b.Sources) != 1 {
		t.Fatalf("sources %+v", b.Sources)
	}
	s := b.Sources[0]
	if s.Table != "demo/t" || s.Trials != 3 || s.Seeds != "0..1, 3" || s.CPUS != 7 || len(s.ComputedBy) != 1 ||
		!slices.Equal(s.Data, []Data{{"hmeq", "e2"}, {"kung", "768d"}, {"kung", "other"}}) {
		t.Errorf("source %+v", s)
	}
	var out strings.Builder
	if err := WriteSources(&out, b, tables.FormatMarkdown, 100); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| demo/t | 3 | 0..1, 3 | 7.0 s | (1) | hmeq, kung |\n", "- kung: SHA-256 768d\n- kung: SHA-256 other\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestSpent(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0.0 s", 9.94: "9.9 s", 9.96: "10 s", 99: "99 s", 101: "2 min", 5999: "100 min", 6001: "1.7 h",
	} {
		if got := spent(seconds); got != want {
			t.Errorf("%g s: %q, want %q", seconds, got, want)
		}
	}
}

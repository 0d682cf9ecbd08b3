package record_test

import (
	"strings"
	"testing"

	"privkern/runner/record"
)

func TestSuspicions(t *testing.T) {
	ok := func(warnings ...string) *record.Record {
		return &record.Record{Status: record.OK, Warnings: warnings}
	}
	long := "the noise " + strings.Repeat("is large ", 30)
	for _, c := range []struct {
		name    string
		records []*record.Record
		want    string
	}{
		{"none", nil, "0 ok"},
		{"no warnings", []*record.Record{ok(), nil, {Status: record.Failed, Warnings: []string{"a"}}}, "1 ok"},
		{"times alone", []*record.Record{ok(record.TimedBesideTrials), ok(record.TimedUnobserved, "b")},
			"2 ok, 1 of them suspect: b (1)"},
		{"kinds", []*record.Record{ok("computed but suspect: error 1.5 is large; use more rows"), ok(),
			ok("b"), ok("computed but suspect: error 2.5 is large; use more rows", "b")},
			"4 ok, 3 of them suspect: error ... is large (2); b (2)"},
		{"several of a kind in a trial", []*record.Record{ok("error 1: x", "error 2: y")},
			"1 ok, 1 of them suspect: error ... (1)"},
		{"the most frequent first", []*record.Record{ok("a"), ok("b"), ok("b"), ok("c"), ok("d"), ok("e")},
			"6 ok, 6 of them suspect: b (2); a (1); c (1); 2 more kinds"},
		{"long", []*record.Record{ok(long)},
			"1 ok, 1 of them suspect: the noise" + strings.Repeat(" is large", 12) + " ... (1)"},
		{"several lines", []*record.Record{ok("a\n\x1b[2Jb")}, "1 ok, 1 of them suspect: a; [...Jb (1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s record.Suspicions
			for _, r := range c.records {
				s.Add(r)
			}
			if got := s.String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

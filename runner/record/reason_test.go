package record_test

import (
	"strings"
	"testing"

	"privkern/runner/record"
)

// The part of a reason that exceeds a sentence goes to the trial's log only.
func TestReasonsThatAreNoSentences(t *testing.T) {
	for _, c := range []struct{ name, reason, sentence, log string }{
		{"a sentence", "singular", "singular", ""},
		{"two lines", "singular\nat row 3", "singular; at row 3", "singular\nat row 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []*record.Record{new(record.Record).Fail(c.reason), new(record.Record).Skip(c.reason)} {
				if *r.Error != c.sentence || r.Log != c.log {
					t.Errorf("%q, log %q", *r.Error, r.Log)
				}
				if raw, err := record.Encode(r); err != nil || strings.Contains(string(raw), `\n`) {
					t.Errorf("%s, %v", raw, err)
				}
			}
		})
	}
}

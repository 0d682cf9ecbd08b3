package judge

import "testing"

// A value lacks data where every trial that it needs was skipped; a failure or another reason stays a note of its own.
func TestSkipped(t *testing.T) {
	for reason, want := range map[string]string{
		"skipped: no data; run: fetch it":                               "no data; run: fetch it",
		"what is subtracted: skipped: no data":                          "no data",
		"missing 2 of the 3 values: skipped: no data":                   "no data",
		"seed 1, 2 skipped: no data":                                    "",
		"skipped: no data; seed 3 failed: singular":                     "",
		"no trial of this setting has run; subtracted: skipped: nodata": "",
		"no trial of this setting has run":                              "",
		"":                                                              "",
	} {
		c := Comparison{Verdict: NotRun, Reason: reason}
		if why, is := c.Skipped(); is != (want != "") || is && why != want {
			t.Errorf("%q: %q, %v", reason, why, is)
		}
		if c.Verdict = Unjudged; reason != "" {
			if _, is := c.Skipped(); is {
				t.Errorf("%q: a value that ran was skipped", reason)
			}
		}
	}
}

package record

import "testing"

func TestTimedBeside(t *testing.T) {
	for _, c := range []struct {
		used float64
		want string
	}{
		{.0512, "0.05"}, {.08, "0.1"}, {.3, "0.2"}, {.36, "0.5"}, {.78, "1"}, {1.4, "1"}, {1.6, "2"}, {7.4, "5"},
		{7.6, "10"}, {80, "100"},
	} {
		t.Run(c.want, func(t *testing.T) {
			got := TimedBeside(c.used, 128)
			if got != "timed while other programs used about "+c.want+" of 128 cores" || !AboutTimes(got) {
				t.Error(got)
			}
		})
	}
	if !AboutTimes(TimedBesideTrials) || !AboutTimes(TimedUnobserved) || AboutTimes("ill-conditioned") {
		t.Error("which warnings are about times")
	}
}

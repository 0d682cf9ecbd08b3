package progress

import (
	"testing"
	"time"
)

func TestRoughly(t *testing.T) {
	for text, want := range map[string]string{
		"0s": "0s", "41.6s": "42s", "59.4s": "59s", "61s": "1m00s", "5m14s": "5m10s", "9m51s": "9m50s", "12m29s": "12m",
		"59m": "59m", "3h22m": "3h20m", "23h": "23h00m", "25h29m": "1d01h", "250h": "10d10h",
	} {
		t.Run(text, func(t *testing.T) {
			d, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := roughly(d); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestLeftText(t *testing.T) {
	for _, c := range []struct {
		name  string
		left  TimeLeft
		known bool
		want  string
	}{
		{"known", TimeLeft{Time: time.Hour}, true, ", about 1h00m left"},
		{"a bound", TimeLeft{Time: time.Hour, Least: true}, true, ", over 1h00m left"},
		{
			"a bound without some trials", TimeLeft{Time: time.Hour, Least: true, Unknown: 76}, true,
			", over 1h00m left and 76 trials of unknown cost",
		},
		{"unknown", TimeLeft{}, false, ", estimating"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.left.text(c.known); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{{"±abc", 4, "±abc"}, {"±abcd", 4, "±ab…"}, {"ab", 1, "…"}, {"ab", 0, ""}, {"ab", -3, ""}, {"", 0, ""}} {
		t.Run(c.text, func(t *testing.T) {
			if got := cut(c.text, c.columns); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

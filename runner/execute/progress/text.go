package progress

import (
	"fmt"
	"time"
	"unicode/utf8"

	"privkern/runner/text"
)

// text returns the time that is left, as it follows the elapsed time.
func (l TimeLeft) text(known bool) string {
	switch {
	case !known:
		return ", estimating"
	case l.Unknown > 0:
		return fmt.Sprintf(", over %s left and %s of unknown cost", roughly(l.Time), text.Count(l.Unknown, "trial"))
	case l.Least:
		return fmt.Sprintf(", over %s left", roughly(l.Time))
	}
	return fmt.Sprintf(", about %s left", roughly(l.Time))
}

// elapsed formats a duration in whole seconds.
func elapsed(d time.Duration) string { return d.Truncate(time.Second).String() }

// roughly formats an estimated duration in its two largest units.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d.Round(time.Second)/time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d.Round(time.Minute)/time.Minute)
	case d < day:
		d = d.Round(5 * time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	d = d.Round(time.Hour)
	return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
}

// cut shortens a text to a number of columns.
func cut(s string, columns int) string {
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	if columns < 1 {
		return ""
	}
	return string([]rune(s)[:columns-1]) + "…"
}

// unchanged is the number of intervals between two lines of the same text.
const unchanged = 12

// throttle limits the rate of lines.
type throttle struct {
	interval time.Duration
	last     time.Time
	text     string
}

// due reports whether a line of that text may be written now.
func (t *throttle) due(now time.Time, text string) bool {
	passed := now.Sub(t.last)
	if passed < t.interval || text == t.text && passed < unchanged*t.interval {
		return false
	}
	t.last, t.text = now, text
	return true
}

// every calls f at intervals of d until stop is called, which does not wait for a call
// under way.
func every(d time.Duration, f func()) (stop func()) {
	ticker, done := time.NewTicker(d), make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}

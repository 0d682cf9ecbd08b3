package progress

import (
	"fmt"
	"time"
	"unicode/utf8"

	"privkern/runner/text"
)

// text is what is left, to stand behind the time that has passed.
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

// elapsed is a time that has passed, in whole seconds.
func elapsed(d time.Duration) string { return d.Truncate(time.Second).String() }

// roughly is a time in the two largest of its units, as far as an estimate has them.
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

// unchanged is how many intervals pass between two lines that say the same.
const unchanged = 12

// pace says when it is time for another line.
type pace struct {
	interval time.Duration
	last     time.Time
	text     string
}

// due says whether it is, for a line of that text.
func (p *pace) due(now time.Time, text string) bool {
	passed := now.Sub(p.last)
	if passed < p.interval || text == p.text && passed < unchanged*p.interval {
		return false
	}
	p.last, p.text = now, text
	return true
}

// every calls f from time to time, until stop is called. f may be under way when it
// is.
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

package machine

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Others measures the processor time that other programs take while this one
// does something.
type Others struct {
	read  func() reading
	begin reading
}

// reading is the use of the processors up to a moment.
type reading struct {
	at    time.Time
	own   float64 // seconds of this process
	all   float64 // seconds of all programs
	cores int
	known bool // whether all and cores are
}

const (
	// leastWindow is the least time that is measured over: the kernel counts in
	// hundredths of a second.
	leastWindow = 100 * time.Millisecond
	// quietCores is the share of a core up to which others do not count: the services
	// of an idle machine use as much, and times vary by more from run to run.
	quietCores = 0.05
	// quietSeconds is up to how much they do not count in a short time: half a
	// dozen counters are each right to a hundredth of a second.
	quietSeconds = 0.05
)

func watchOthers(read func() reading) *Others { return &Others{read, read()} }

// Cores ends the measurement. It returns the mean number of cores that others used, 0
// where that is next to nothing, and the number of cores of the machine. It waits until
// a tenth of a second has passed since the start. known is false where the kernel does
// not count, or counts less than this process used.
func (o *Others) Cores(ctx context.Context) (used float64, of int, known bool) {
	if rest := leastWindow - time.Since(o.begin.at); o.begin.known && rest > 0 {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
	}
	end := o.read()
	used, known = others(o.begin, end)
	return used, end.cores, known
}

func others(begin, end reading) (used float64, known bool) {
	window := end.at.Sub(begin.at).Seconds()
	seconds := end.all - begin.all - (end.own - begin.own)
	quiet := max(quietSeconds, quietCores*window)
	switch {
	case !begin.known || !end.known || window <= 0 || seconds < -quiet:
		return 0, false
	case seconds <= quiet:
		return 0, true
	}
	return seconds / window, true
}

// read reads the counters of the Linux kernel.
func read(root fs.FS) reading {
	r := reading{at: time.Now(), own: CPUSeconds()}
	raw, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return r
	}
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case name == "cpu":
			r.all, r.known = busy(strings.Fields(rest))
		case strings.HasPrefix(name, "cpu"):
			r.cores++
		}
	}
	r.known = r.known && r.cores > 0
	return r
}

// busy adds up the seconds in which the processors were not idle, from the fields of
// proc_stat(5) in hundredths of a second: user, nice, system, idle, iowait, irq,
// softirq, steal. The time of guests is in user and nice. Time that a hypervisor gave
// to others is stolen from the trial, and counts.
func busy(fields []string) (seconds float64, ok bool) {
	if len(fields) < 8 {
		return 0, false
	}
	for i, f := range fields[:8] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		if i != 3 && i != 4 { // idle, and idle while a disk is waited for
			seconds += float64(n) / 100
		}
	}
	return seconds, true
}

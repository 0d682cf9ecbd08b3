package machine

import (
	"context"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
	"time"
)

func TestOthers(t *testing.T) {
	start := time.Now()
	at := func(seconds, own, all float64, known bool) reading {
		return reading{at: start.Add(time.Duration(seconds * float64(time.Second))), own: own,
			all: all, cores: 2, known: known}
	}
	for name, c := range map[string]struct {
		begin, end reading
		used       float64
		known      bool
	}{
		"a core of others":              {at(0, 5, 100, true), at(10, 15, 120, true), 1, true},
		"nothing else":                  {at(0, 5, 100, true), at(10, 15, 110, true), 0, true},
		"the services of a machine":     {at(0, 5, 100, true), at(10, 15, 110.49, true), 0, true},
		"a little more":                 {at(0, 5, 100, true), at(10, 15, 110.75, true), .075, true},
		"short: five ticks are noise":   {at(0, 5, 100, true), at(.125, 5, 100.05, true), 0, true},
		"short: a core of others":       {at(0, 5, 100, true), at(.125, 5, 100.125, true), 1, true},
		"it rounds this program's down": {at(0, 5, 100, true), at(10, 15, 109.75, true), 0, true},
		"it does not count at all":      {at(0, 5, 0, true), at(10, 15, 0, true), 0, false},
		"not known at first":            {at(0, 5, 0, false), at(10, 15, 120, true), 0, false},
		"not known at last":             {at(0, 5, 100, true), at(10, 15, 0, false), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if used, known := others(c.begin, c.end); used != c.used || known != c.known {
				t.Errorf("%v, %v", used, known)
			}
		})
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		all   float64
		cores int
		known bool
	}{
		"two cores":     {"cpu  100 20 30 4000 500 6 7 8 90 10\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n", 1.71, 2, true},
		"an old kernel": {"cpu  100 20 30 4000\ncpu0 1\n", 0, 1, false},
		"no cores":      {"cpu  100 20 30 4000 500 6 7 8\n", 1.71, 0, false},
		"other text":    {"cpu  a b c d e f g h\ncpu0 1\n", 0, 1, false},
		"negative":      {"cpu  -1 0 0 0 0 0 0 0\ncpu0 1\n", 0, 1, false},
		"empty":         {"", 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(fstest.MapFS{"proc/stat": {Data: []byte(c.text)}})
			if d := r.all - c.all; d > 1e-9 || d < -1e-9 || r.cores != c.cores || r.known != c.known {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := read(fstest.MapFS{}); r.known {
		t.Errorf("without a file: %+v", r)
	}
}

// A measurement takes long enough for the kernel's ticks, and no longer where
// there is nothing to measure.
func TestCores(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err == nil {
		o := WatchOthers()
		if _, cores, _ := o.Cores(context.Background()); cores < 1 || time.Since(o.begin.at) < leastWindow {
			t.Errorf("%d cores of %d, after %v", cores, runtime.NumCPU(), time.Since(o.begin.at))
		}
	}
	o := watchOthers(func() reading { return read(fstest.MapFS{}) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if used, _, known := o.Cores(ctx); known || used != 0 {
		t.Errorf("%v, %v", used, known)
	}
}

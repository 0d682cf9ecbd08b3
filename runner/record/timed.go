package record

import (
	"fmt"
	"math"
	"strings"
)

// timed is the prefix of warnings about a trial's times, which concern no other metric.
const timed = "timed "

// TimedBesideTrials is the warning that other trials of the sweep ran at the same time.
const TimedBesideTrials = timed + "beside other trials (--share-timings)"

// TimedShared is the warning that times include work done by another trial of the sweep,
// with its duration there.
const TimedShared = timed + "with work that was done earlier in the sweep, as long as it took then"

// TimedUnobserved is the warning that the load of other programs is unknown.
const TimedUnobserved = timed + "without knowing what other programs used: this system does not count it in /proc/stat"

// TimedBeside returns the warning that other programs used some of the machine's cores on
// average. The number is rounded to 1, 2 or 5 times a power of ten, so that a hundred
// trials share a few warnings.
func TimedBeside(used float64, cores int) string {
	power := math.Pow(10, math.Floor(math.Log10(used)))
	step := 10.0
	for _, s := range []struct{ below, step float64 }{{1.5, 1}, {3.5, 2}, {7.5, 5}} {
		if used/power < s.below {
			step = s.step
			break
		}
	}
	return fmt.Sprintf(timed+"while other programs used about %.6g of %d cores", step*power, cores)
}

// AboutTimes reports whether a warning concerns only a trial's times.
func AboutTimes(warning string) bool { return strings.HasPrefix(warning, timed) }

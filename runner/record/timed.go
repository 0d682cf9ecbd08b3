package record

import (
	"fmt"
	"math"
	"strings"
)

// timed begins the warnings that say what ran beside a timed trial. They are
// about its times and about no other metric.
const timed = "timed "

// TimedBesideTrials says that times were taken beside other trials of the sweep.
const TimedBesideTrials = timed + "beside other trials (--share-timings)"

// TimedShared says that times count work that another trial of the sweep did, as long as
// it took there.
const TimedShared = timed + "with work that was done earlier in the sweep, as long as it took then"

// TimedUnobserved says that nothing is known of other programs.
const TimedUnobserved = timed + "without knowing what other programs used: this system does not count it in /proc/stat"

// TimedBeside says how many of the machine's cores other programs used on average.
// The figure is rounded to 1, 2 or 5 times a power of ten, so that a
// hundred trials have a few different warnings, not a hundred.
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

// AboutTimes says whether a warning is about a trial's times alone.
func AboutTimes(warning string) bool { return strings.HasPrefix(warning, timed) }

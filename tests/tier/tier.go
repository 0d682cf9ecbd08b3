// Package tier sorts tests by how often they run:
//
//   - every change: go test ./..., three minutes on two cores, without a network, a GPU or
//     a data folder;
//   - the gate: .ci/run, before a change lands, which runs anew the tests that the first tier
//     skipped for it, on real data and with installed tools;
//   - the night: .ci/nightly, whatever takes long or draws at random.
//
// The variable PRIVKERN_TESTS, empty or "gate" or "night", names the tier of a run; a tier
// includes those before it.
package tier

import (
	"fmt"
	"os"
	"testing"
)

// Variable is the environment variable that names the tier of a run.
const Variable = "PRIVKERN_TESTS"

// Reasons of skipped tests begin with one of these, by which the gate finds its own.
const (
	ForGate  = "for the gate: "
	ForNight = "for the night: "
)

// depth returns 0 for every change, 1 for the gate, 2 for the night.
func depth() int {
	switch name := os.Getenv(Variable); name {
	case "":
		return 0
	case "gate":
		return 1
	case "night":
		return 2
	default:
		panic(fmt.Sprintf("%s is %q, not empty, gate or night", Variable, name))
	}
}

// Gate skips a test outside of the gate and the night, because of why.
func Gate(t testing.TB, why string) {
	t.Helper()
	if depth() < 1 {
		t.Skip(ForGate + why)
	}
}

// Night skips a test outside of the night, because of why.
func Night(t testing.TB, why string) {
	t.Helper()
	if depth() < 2 {
		t.Skip(ForNight + why)
	}
}

// AtNight reports whether this is the night, which tries all of a list where other tiers
// try some.
func AtNight() bool { return depth() == 2 }

// Size returns how many of something a test tries: few, or many by night.
func Size(few, many int) int {
	if AtNight() {
		return many
	}
	return few
}

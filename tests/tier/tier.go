// Package tier sorts tests by how often they run:
//
//   - every change: go test ./..., three minutes on two cores, without a network, a GPU or
//     a data folder;
//   - the gate: .ci/run, before a change lands, which runs anew the tests that the first tier
//     skipped for it, on real data and with installed tools;
//   - the night: .ci/nightly, all that takes long or draws at random.
//
// The variable PRIVKERN_TESTS, empty or "gate" or "night", names the tier of a run; a tier
// includes those before it.
package tier

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Variables of the environment: the tier of a run; how many random cases each test tries, instead of
// its own number; and the seed that draws them.
const (
	Variable      = "PRIVKERN_TESTS"
	DrawsVariable = "PRIVKERN_TEST_DRAWS"
	SeedVariable  = "PRIVKERN_TEST_SEED"
)

// Reasons of skipped tests begin with one of these, by which the gate finds its own.
const (
	ForGate  = "for the gate: "
	ForNight = "for the night: "
	InShort  = "-short: "
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

// Sequential skips a test with -short, with which the gate runs the race detector, because nothing in it runs
// concurrently that other tests of the package do not run, too.
func Sequential(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(InShort + "nothing is concurrent in it, or other tests run the same")
	}
}

// Main runs the tests of a package; with -short only those whose names the expression matches. It stands for
// Sequential in most tests of the package.
func Main(m *testing.M, concurrent string) {
	flag.Parse()
	if run := flag.Lookup("test.run"); testing.Short() && run.Value.String() == "" {
		if err := run.Value.Set(concurrent); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Third skips two thirds of many tests that are alike, outside of the night; a hash of a test's name decides.
func Third(t testing.TB) {
	t.Helper()
	if !InThird(t.Name()) {
		t.Skip(ForNight + "every run takes a third of these")
	}
}

// InThird reports whether something of these names is among those of many that are tried: at night all of
// them, and otherwise a third.
func InThird(names ...string) bool {
	h := fnv.New32a()
	for _, name := range names {
		_, _ = h.Write([]byte(name + "\x00"))
	}
	return AtNight() || h.Sum32()%3 == 0
}

// AtGate reports whether this is the gate or the night.
func AtGate() bool { return depth() >= 1 }

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

// Random returns the number of random cases that a test tries, few or by night many, and their
// generator. Its seed is the same in each run except by night; a test that fails logs it.
func Random(t testing.TB, few, many int) (n int, rng *rand.Rand) {
	t.Helper()
	n, seed := Size(few, many), uint64(1)
	if AtNight() {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv(DrawsVariable); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("%s is %q, not a whole number from 1 up", DrawsVariable, text)
		}
	}
	if text := os.Getenv(SeedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", SeedVariable, err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d %s=%d draws the same", DrawsVariable, n, SeedVariable, seed)
		}
	})
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	return n, rand.New(rand.NewPCG(seed, name.Sum64()))
}

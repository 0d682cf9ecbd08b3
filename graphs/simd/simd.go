// Package simd selects the vector instructions of the kernels in its subfolders.
//
// The result of a kernel is defined as an order of fused multiply-adds that is the same at every
// level, so that its bits depend neither on the processor nor on the level. [Portable] computes
// with math.FMA, and is the reference of the other levels.
//
// The default is the best level of the processor. The environment variable PRIVKERN_SIMD sets
// another one by the name of a [Level]; [Setup] returns an error for an unknown level and for one
// that the processor lacks.
package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// EnvVar is the environment variable that sets the level.
const EnvVar = "PRIVKERN_SIMD"

// Level is a set of vector instructions.
type Level int32

// The levels. AVX2 includes FMA, AVX512 the subsets F, BW, DQ and VL.
const (
	Portable Level = iota
	NEON
	AVX2
	AVX512
)

var names = [...]string{Portable: "portable", NEON: "neon", AVX2: "avx2", AVX512: "avx512"}

// String returns the level's name in PRIVKERN_SIMD.
func (l Level) String() string { return names[l] }

// Levels returns the levels of this processor, the slowest, Portable, first.
func Levels() []Level { return available() }

// Active returns the level in use, the best one if the environment variable is wrong. It is a
// single load, because kernels read it in each call.
func Active() Level {
	_ = Setup()
	return Level(active.Load())
}

var active atomic.Int32

var setup = sync.OnceValue(func() error {
	levels := available()
	active.Store(int32(levels[len(levels)-1]))
	name := os.Getenv(EnvVar)
	if name == "" {
		return nil
	}
	for _, l := range levels {
		if l.String() == name {
			active.Store(int32(l))
			return nil
		}
	}
	var have []string
	for _, l := range slices.Backward(levels) {
		have = append(have, l.String())
	}
	return fmt.Errorf("%s=%s: this processor has %s; set it to one of them, or unset it", EnvVar, name,
		strings.Join(have, ", "))
})

// Setup selects the level on its first call. It returns an error for a wrong environment
// variable; the best level is then in use.
func Setup() error { return setup() }

// Use sets the level until restore is called, for tests and benchmarks that compare levels.
// Nothing may compute during either call. It panics if the processor lacks the level.
func Use(l Level) (restore func()) {
	before := Active()
	if !slices.Contains(available(), l) {
		panic(fmt.Sprintf("simd: this processor lacks %v", l))
	}
	active.Store(int32(l))
	return func() { active.Store(int32(before)) }
}

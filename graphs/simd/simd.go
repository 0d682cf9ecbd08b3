// Package simd chooses the vector instructions that the kernels in its subfolders use.
//
// A kernel has one definition of its result, an order of fused multiply-adds that is the
// same at every level, so that the bits of a result depend neither on the processor nor on
// the level. [Portable] computes them with math.FMA and serves as the reference of the
// others.
//
// The level is the best that the processor has. The environment variable PRIVKERN_SIMD
// limits it, by one of the names of [Level]; a level that the processor lacks, or a word
// that is none, is an error of [Setup].
package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// EnvVar is the environment variable that limits the level.
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

// String is the level's name in PRIVKERN_SIMD.
func (l Level) String() string { return names[l] }

// Levels are those that this processor has, the slowest first: Portable is always one.
func Levels() []Level { return available() }

// Active is the level in use: the best one where the environment variable is wrong. It is one
// load: kernels read it at each call.
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

// Setup chooses the level on its first call. The error is that of the environment variable;
// the best level is then in use.
func Setup() error { return setup() }

// Use sets the level for tests and benchmarks that compare levels, until restore is called.
// Nothing may compute during either call. It panics where the processor lacks the level.
func Use(l Level) (restore func()) {
	before := Active()
	if !slices.Contains(available(), l) {
		panic(fmt.Sprintf("simd: this processor lacks %v", l))
	}
	active.Store(int32(l))
	return func() { active.Store(int32(before)) }
}

package experiment

import "context"

// Benchmark measures the speed of something that the project exists for. It is
// run by `run bench`, never by a test.
type Benchmark struct {
	Name string // "package/what"
	Doc  string
	Run  func(ctx context.Context, m Meter) error
}

// Meter takes a benchmark's measurements.
type Meter interface {
	// Time calls f several times and reports the median processor time and
	// wall time of a call. It returns the processor time in seconds.
	Time(name string, f func() error) (cpuSeconds float64, err error)
	// Memory calls f once, which may time what it does, and reports the most
	// memory that the process held meanwhile, in MiB.
	Memory(name string, target Target, f func() error) error
	// Value reports a number that the benchmark found out by itself, and the
	// bound that it is meant to keep, which may be empty.
	Value(name string, value float64, unit string, target Target)
}

// Target is a bound on a measured value; the zero value is none.
type Target struct {
	AtMost, AtLeast float64
}

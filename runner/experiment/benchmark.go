package experiment

import "context"

// Benchmark measures the speed of something that the project exists for. It is
// run by `run bench`, never by a test.
type Benchmark struct {
	Name string // "package/what"
	Doc  string
	Long bool // too long to be measured unless it is named
	Run  func(ctx context.Context, m Meter) error
}

// Meter takes a benchmark's measurements.
type Meter interface {
	// Time calls f several times and reports the median processor time and
	// wall time of a call. It returns the processor time in seconds.
	Time(name string, f func() error) (cpuSeconds float64, err error)
	// Beside times f as Time does, and a peer's version of the same work, in turns,
	// where there are peers. It returns the processor time of f in seconds.
	Beside(name string, peer Peer, f func() error) (cpuSeconds float64, err error)
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

// Peer names the version of a benchmark's work that a common library computes, on one
// thread, from the same input.
type Peer struct {
	Work  string // one that package bench/peers knows
	DType string // "float64" or "float32"
	Sizes []int  // of the input; their meaning is the work's

	// Result returns a number of what f has computed last, which the peer's result
	// must have to Tolerance, relative to it: what is not the same work is not
	// compared. It is not timed.
	Result    func() (float64, error)
	Tolerance float64

	// AtMost is the bound of the processor time of f in times the peer's; 0 is none.
	AtMost float64
}

// Share is where `run bench shares` measures how much of an experiment's processor time is
// inside runs of programs.
type Share struct {
	Experiment string
	// Settings are assignments, name=value, for those that are not defaults: those of a table
	// for one experiment, smaller ones for another.
	Settings []string
	// Outside says what is computed outside of programs, and why.
	Outside string
}

package experiment

import "context"

// Benchmark measures the speed of something that the project exists for. It is
// run by `run bench`, never by a test.
type Benchmark struct {
	Name string // "package/benchmark"
	Doc  string
	Long bool // too long to be measured unless it is named
	Run  func(ctx context.Context, m Meter) error
}

// Meter takes a benchmark's measurements.
type Meter interface {
	// Time calls f several times and reports the median processor time and
	// wall time of a call. It returns the processor time in seconds.
	Time(name string, f func() error) (cpuSeconds float64, err error)
	// Beside times f as Time does, alternating with a peer's version of the same work
	// where there are peers. It returns the processor time of f in seconds.
	Beside(name string, peer Peer, f func() error) (cpuSeconds float64, err error)
	// Memory calls f once, which may time its own work, and reports the peak
	// memory of the process meanwhile, in MiB.
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

	// Result returns a number of f's last computation. The peer's result must agree with
	// it to the relative Tolerance, because only equal work is compared. It is not timed.
	Result    func() (float64, error)
	Tolerance float64

	// AtMost is the bound of the processor time of f in times the peer's; 0 is none.
	AtMost float64
}

// Share is where `run bench shares` measures how much of an experiment's processor time is
// inside runs of programs.
type Share struct {
	Experiment string
	// Settings are the name=value assignments that differ from the defaults, as a table has
	// them or smaller.
	Settings []string
	// Outside describes the work outside of programs, with the reason.
	Outside string
}

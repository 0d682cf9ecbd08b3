package experiment

import "context"

// Benchmark measures programs in a comparison: with other libraries, numbers of workers or
// backends. It is run by `run bench`, never by a test.
type Benchmark struct {
	Name string // "package/subject"
	Doc  string
	Long bool // takes long, and is measured only where it is named
	Run  func(ctx context.Context, m Meter) error
}

// Meter takes a benchmark's measurements.
type Meter interface {
	// Beside times f and a peer's version of the same work in turns, where there are peers.
	// It returns the median processor time of f in seconds.
	Beside(name string, peer Peer, f func() error) (cpuSeconds float64, err error)
	// Value reports a number, and the bound that it is meant to keep, which may be empty.
	Value(name string, value float64, unit string, target Target)
}

// Target is a bound on a measured value; the zero value is none.
type Target struct {
	AtMost, AtLeast float64
}

// Peer names the version of a benchmark's work in a common library, on one thread, with
// the same input.
type Peer struct {
	Work  string // one that package bench/peers knows
	DType string // "float64" or "float32"
	Sizes []int  // of the input, in the order of the work

	// Result returns a number of the last result of f, which is not timed. The peer's result
	// must equal it to the relative Tolerance, because only the same work is compared.
	Result    func() (float64, error)
	Tolerance float64

	// AtMost is the bound on the ratio of the processor time of f to the peer's; 0 is none.
	AtMost float64
}

// Share is a setting at which `run bench shares` measures the share of an experiment's
// processor time inside runs of programs.
type Share struct {
	Experiment string
	// Settings are assignments, name=value, of the settings that are not defaults.
	Settings []string
	// Outside names the computations outside of programs, with the reason.
	Outside string
}

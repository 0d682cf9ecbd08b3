package bench

import (
	"errors"
	"fmt"
	"math"

	"privkern/runner/execute/bench/peers"
	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
)

// Peers measure the work of benchmarks in other libraries.
type Peers interface {
	// Measure returns the mean processor time of some calls of a work. The error is a
	// *peers.MissingError where a library is missing, and peers.ErrNone where there is no
	// peer at all.
	Measure(work experiment.Peer, calls int) (peers.Measurement, error)
}

// A sample is the mean of the calls that take sampleTime together. Sampling ends after
// tooLong, because one or two samples suffice of long work.
const (
	sampleTime = 50e-3 // s
	maxCalls   = 1000
	tooLong    = 5. // s
)

// Beside implements experiment.Meter. A sample of the peer follows each sample of the
// work, so that other load on the machine affects both.
func (m *meter) Beside(name string, work experiment.Peer, f func() error) (float64, error) {
	start := machine.CPUSeconds()
	if err := f(); err != nil { // builds graphs and touches memory; it is not counted
		return 0, err
	}
	calls := callsFor(machine.CPUSeconds() - start)
	theirs, err := m.peer(name, work)
	if err != nil {
		return 0, err
	}
	var ours, others []float64
	total := 0.
	for range m.options.Repeat {
		if err := m.ctx.Err(); err != nil {
			return 0, err
		}
		if total > tooLong {
			break
		}
		start := machine.CPUSeconds()
		for range calls {
			if err := f(); err != nil {
				return 0, err
			}
		}
		cpu := machine.CPUSeconds() - start
		ours = append(ours, cpu/float64(calls))
		total += cpu
		if theirs != nil {
			calls := callsFor(theirs.CPUSeconds)
			p, err := m.options.Peers.Measure(work, calls)
			if err != nil {
				return 0, err
			}
			others = append(others, p.CPUSeconds)
			total += p.CPUSeconds * float64(calls)
		}
	}
	m.Value(name+" (CPU)", median(ours), "s", experiment.Target{})
	row := &m.measurements[len(m.measurements)-1]
	row.Clock, row.Samples = CPU, ours
	if theirs != nil {
		row.Peer = newPeer(theirs.Library, ours, others, work.AtMost)
	}
	return median(ours), nil
}

// callsFor returns the number of calls in a sample, where one takes some seconds.
func callsFor(seconds float64) int {
	if seconds <= sampleTime/maxCalls {
		return maxCalls
	}
	return int(math.Ceil(sampleTime / seconds))
}

// peer runs the work of a peer once, which loads its libraries and makes its input, and
// compares its result with that of the benchmark. It returns nil where there is no peer.
func (m *meter) peer(name string, work experiment.Peer) (*peers.Measurement, error) {
	if m.options.Peers == nil {
		return nil, nil
	}
	p, err := m.options.Peers.Measure(work, 1)
	if missing := (*peers.MissingError)(nil); errors.As(err, &missing) || errors.Is(err, peers.ErrNone) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	result, err := work.Result()
	if err != nil {
		return nil, err
	}
	if !(math.Abs(result-p.Result) <= work.Tolerance*math.Abs(p.Result)) {
		return nil, fmt.Errorf("%s: the norm of the result is %.10g, that of %s %.10g: they are not the same work", name,
			result, p.Library, p.Result)
	}
	return &p, nil
}

package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"privkern/runner/execute/bench/peers"
	"privkern/runner/experiment"
)

// library is a peer whose times and result are known.
type library struct {
	cpu    []float64 // of the measures, in turn; the first is not counted
	result float64
	err    error
	calls  []int // that were asked for
}

func (l *library) Measure(_ experiment.Peer, calls int) (peers.Measurement, error) {
	l.calls = append(l.calls, calls)
	if l.err != nil {
		return peers.Measurement{}, l.err
	}
	cpu := l.cpu[0]
	if len(l.cpu) > 1 {
		l.cpu = l.cpu[1:]
	}
	return peers.Measurement{Library: "NumPy", CPUSeconds: cpu, Result: l.result}, nil
}

// measureBeside measures short work with the result 2 against a library.
func measureBeside(t *testing.T, l Peers, repeat int) ([]Measurement, error) {
	t.Helper()
	return Run(t.Context(), []experiment.Benchmark{{Name: "a/b", Run: func(_ context.Context, m experiment.Meter) error {
		_, err := m.Beside("row", experiment.Peer{Work: "w", Result: func() (float64, error) { return 2, nil },
			Tolerance: 1e-3, AtMost: 1e9}, func() error { return nil })
		return err
	}}}, Options{Repeat: repeat, Peers: l, Started: func(string, string) {}})
}

func TestBeside(t *testing.T) {
	l := &library{cpu: []float64{.025, .5, 1.5, 1}, result: 2.001}
	ms, err := measureBeside(t, l, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := ms[0]
	if len(ms) != 1 || m.Name != "row (CPU)" || m.Clock != CPU || len(m.Samples) != 3 {
		t.Errorf("measured %+v", ms)
	}
	p := m.Peer
	if p == nil || p.Value != 1 || len(p.Samples) != 3 || p.Library != "NumPy" || !*p.Met || *p.AtMost != 1e9 {
		t.Errorf("the peer is %+v", m.Peer)
	}
	// One call, for its input to be made; then as many as take a sample's time.
	if want := []int{1, 2, 2, 2}; !slices.Equal(l.calls, want) {
		t.Errorf("the peer was asked for %v calls, want %v", l.calls, want)
	}
}

func TestBesideWithoutPeers(t *testing.T) {
	for name, l := range map[string]Peers{
		"none":              nil,
		"no program":        &library{err: peers.ErrNone},
		"a missing library": &library{err: &peers.MissingError{Library: "SciPy"}},
	} {
		t.Run(name, func(t *testing.T) {
			ms, err := measureBeside(t, l, 4)
			if err != nil || len(ms) != 1 || ms[0].Peer != nil || len(ms[0].Samples) != 4 {
				t.Errorf("measured %+v, %v", ms, err)
			}
		})
	}
}

// Different work is an error, not a ratio.
func TestBesideDifferentWork(t *testing.T) {
	_, err := measureBeside(t, &library{cpu: []float64{1}, result: 2.1}, 3)
	if err == nil || !strings.Contains(err.Error(), "not the same work") {
		t.Errorf("the error is %v", err)
	}
	broken := errors.New("broken")
	if _, err := measureBeside(t, &library{err: broken}, 3); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// Long work is measured once or twice, for any number of repeats.
func TestBesideOfLongWork(t *testing.T) {
	ms, err := measureBeside(t, &library{cpu: []float64{3}, result: 2}, 9)
	if err != nil || len(ms[0].Samples) != 2 {
		t.Errorf("measured %+v, %v", ms, err)
	}
}

func TestPeerTargets(t *testing.T) {
	ours, theirs := []float64{1, 2.2, 3.3, 4.4, 9}, []float64{1, 2, 3, 4, 5}
	for atMost, want := range map[float64]bool{1.2: true, 1.1: true, 1.05: false} {
		if p := newPeer("NumPy", ours, theirs, atMost); *p.Met != want || p.Ratio > 1.1001 || p.Ratio < 1.0999 {
			t.Errorf("a bound of %v is met: %v, ratio %v", atMost, *p.Met, p.Ratio)
		}
	}
}

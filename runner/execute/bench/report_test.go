package bench

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	met, most := true, 3.
	samples, ones := []float64{1.3, 1.31, 1.32}, []float64{1, 1, 1}
	r := &Report{Machine: Machine{CPU: "Z80", BLAS: "gonum (pure Go)", Revision: "abc", Peers: "NumPy 2.0"},
		Measurements: []Measurement{
			{Benchmark: "a/times", Name: "slow (CPU)", Value: 1.31, Unit: "s", Clock: CPU, Samples: samples,
				Peer: newPeer("NumPy", samples, ones, 1)},
			{Benchmark: "a/times", Name: "alone (CPU)", Value: 1, Unit: "s", Clock: CPU, Samples: ones},
			{Benchmark: "b/values", Name: "memory", Value: 2, Unit: "MiB", AtMost: &most, Met: &met},
			{Benchmark: "b/values", Name: "steps", Value: 61},
		}}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	const want = `# processor: Z80
# BLAS: gonum (pure Go)
# revision: abc
# peers: NumPy 2.0
                now       spread  peer       to peer
a/times
  slow (CPU)   1.31  s    ±0.4 %  NumPy 1 s     1.31  target at most 1 times the peer: MISSED
  alone (CPU)     1  s    ±0.0 %
b/values
  memory          2  MiB                              target at most 3 MiB: met
  steps          61
`
	if b.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", b.String(), want)
	}
}

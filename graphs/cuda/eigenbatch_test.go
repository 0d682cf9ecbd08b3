//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"

	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// One call of the library for a batch has the results of a call for each member, also where its workspace divides
// the batch. The simulated CUDA 12 has no such call, its CUDA 13 does.
func TestEigenBatch(t *testing.T) {
	_, e := engines(t, "float64")
	libs := shared.gpu.libs
	if newer := "CUDASIM_DRIVER=13000"; !libs.eigenBatch {
		if slices.Contains(os.Environ(), newer) {
			t.Skip("no cuSOLVER from CUDA 12.6 on")
		}
		other := exec.Command(os.Args[0], "-test.run=^TestEigenBatch$", "-test.v")
		other.Env = append(os.Environ(), newer)
		text, err := other.CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if bytes.Contains(text, []byte("--- SKIP")) {
			t.Skipf("%s", text)
		}
		return
	}
	const members, n = 3, kernels.EigenOrder + 1
	a := rotated(values(n, func(i int) float64 { return 1 / float64(1+i) })...)
	var data []float64
	for i := range members {
		for _, v := range a.RawMatrix().Data {
			data = append(data, v*float64(i+1))
		}
	}
	run := func() engine.Values {
		out, err := e.Run(context.Background(), engine.Program{Name: "eigen", Key: "eigen of a batch",
			Build: func(b *engine.Builder) { b.Output("out", b.Eigen(b.Tensor("a", members, n, n))) }},
			engine.Values{"a": engine.TensorOf(data, members, n, n)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	together := run()
	if !slices.ContainsFunc(shared.gpu.idle, func(l *lane) bool { return l.params != 0 }) {
		t.Error("the batch was not one call")
	}
	before := eigenWorkspace
	eigenWorkspace = 1
	divided := run()
	eigenWorkspace, libs.eigenBatch = before, false
	alone := run()
	libs.eigenBatch = true
	sameBits(t, divided, together)
	near(t, "out", alone["out"], together["out"], 1e-10)
}

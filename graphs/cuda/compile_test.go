//go:build gpu && linux

package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// The kernels compile with NVRTC, which needs no device, for every architecture
// that it knows from compute capability 7.0 on.
func TestKernelsCompile(t *testing.T) {
	nvrtc, err := loadNVRTC()
	if err != nil {
		t.Skip(err)
	}
	libs := &libraries{nvrtc: nvrtc}
	supported, err := libs.architectures()
	if err != nil {
		t.Fatal(err)
	}
	source, err := kernels.Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []int{70, 80, 90, 100} {
		for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			t.Run(fmt.Sprintf("sm_%d/%v", arch, dtype), func(t *testing.T) {
				if !slices.Contains(supported, arch) {
					t.Skipf("NVRTC (%s) compiles for %v", nvrtc.path, supported)
				}
				options := append(compileOptions(dtype), fmt.Sprintf("--gpu-architecture=sm_%d", arch))
				image, err := libs.compile(source, options, true)
				if err != nil {
					t.Fatal(err)
				}
				if len(image) < 1000 {
					t.Errorf("an image of %d bytes", len(image))
				}
			})
		}
	}
}

// A mistake in a kernel is reported with the compiler's message and the file.
func TestCompileErrorIsShown(t *testing.T) {
	nvrtc, err := loadNVRTC()
	if err != nil {
		t.Skip(err)
	}
	libs := &libraries{nvrtc: nvrtc}
	_, err = libs.compile("#line 1 \"broken.cu\"\nextern \"C\" __global__ void k(double *x) { x[0] = undeclared; }",
		compileOptions(tensor.Float64), true)
	if err == nil || !strings.Contains(err.Error(), "undeclared") || !strings.Contains(err.Error(), "broken.cu") {
		t.Errorf("got %v", err)
	}
}

//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// installedCompiler is NVRTC, or the test is skipped.
func installedCompiler(t *testing.T) compilerOf {
	t.Helper()
	libs := loadLibraries(binding().Version())
	if libs.nvrtc == nil {
		t.Skip(libs.missing[compiler.name])
	}
	return compilerOf{libs.nvrtc}
}

// The kernels compile with NVRTC, which needs no device, for every architecture
// that it knows from compute capability 7.0 on.
func TestKernelsCompile(t *testing.T) {
	nvrtc := installedCompiler(t)
	supported, err := nvrtc.architectures()
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
					t.Skipf("NVRTC (%s) compiles for %v", nvrtc.Path, supported)
				}
				options := append(compileOptions(dtype), fmt.Sprintf("--gpu-architecture=sm_%d", arch))
				image, err := nvrtc.compile(source, options, true)
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
	nvrtc := installedCompiler(t)
	_, err := nvrtc.compile("#line 1 \"broken.cu\"\nextern \"C\" __global__ void k(double *x) { x[0] = undeclared; }",
		compileOptions(tensor.Float64), true)
	if err == nil || !strings.Contains(err.Error(), "undeclared") || !strings.Contains(err.Error(), "broken.cu") {
		t.Errorf("got %v", err)
	}
}

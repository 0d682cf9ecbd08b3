//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
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

// saying makes the assembler, which translates PTX into machine code, log the resources of each
// kernel.
const saying = "--ptxas-options=-v"

// properties are the lines of the assembler about one kernel or function.
var properties = regexp.MustCompile(`Function properties for (\w+)\nptxas\s+\.?\s*(\d+) bytes stack frame, ` +
	`(\d+) bytes spill stores, (\d+) bytes spill loads`)

// digits are the bytes of local memory in which CUDA's own sine and cosine reduce large
// arguments.
const digits = 48

// findings returns the problems of kernels in the compiler's log: warnings, spilled registers, and
// local memory, which lies in the device's memory. Names are all kernels of the log.
func findings(log string) (all []string, names map[string]bool) {
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), "warning") && !strings.HasPrefix(line, "Remark: ") &&
			!strings.Contains(line, "Architectures prior to") { // by NVRTC 12.9 of 7.0
			all = append(all, strings.TrimSpace(line))
		}
	}
	names = map[string]bool{}
	for _, m := range properties.FindAllStringSubmatch(log, -1) {
		name := m[1]
		names[name] = true
		if m[3] != "0" || m[4] != "0" {
			all = append(all, fmt.Sprintf("%s spills registers: %s bytes of stores, %s of loads", name, m[3], m[4]))
		}
		frame, _ := strconv.Atoi(m[2])
		if allowed := map[string]int{"sine": digits, "cosine": digits}; frame > allowed[name] {
			all = append(all, fmt.Sprintf("%s takes %s bytes of local memory", name, m[2]))
		}
	}
	return all, names
}

// The kernels compile with NVRTC, which needs no device, for every architecture
// that it knows from compute capability 7.0 on, without a warning, with all variables in
// registers.
func TestKernelsCompile(t *testing.T) {
	nvrtc := installedCompiler(t)
	supported, err := nvrtc.architectures()
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []int{70, 80, 90, 100} {
		for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			t.Run(fmt.Sprintf("sm_%d/%v", arch, dtype), func(t *testing.T) {
				if !slices.Contains(supported, arch) {
					t.Skipf("NVRTC (%s) compiles for %v", nvrtc.Path, supported)
				}
				var log strings.Builder
				for _, unit := range kernels.Units() {
					source, err := kernels.Source(unit)
					if err != nil {
						t.Fatal(err)
					}
					options := append(compileOptions(part{unit, dtype}), fmt.Sprintf("--gpu-architecture=sm_%d", arch), saying)
					image, text, err := nvrtc.compileLogged(source, options, true)
					if err != nil {
						t.Fatal(err)
					}
					if len(image) < 1000 {
						t.Errorf("%s: an image of %d bytes", unit, len(image))
					}
					log.WriteString(text)
				}
				wrong, names := findings(log.String())
				for _, finding := range wrong {
					t.Error(finding)
				}
				if log.Len() == 0 { // of the simulated compiler
					return
				}
				for _, k := range kernels.All() {
					if name, _ := kernels.Pack(k); !names[name] {
						t.Errorf("the log has nothing about the kernel %s", name)
					}
				}
			})
		}
	}
}

// Each problem is found in a log that has it.
func TestCompileLogShowsSpillsAndWarnings(t *testing.T) {
	nvrtc := installedCompiler(t)
	supported, err := nvrtc.architectures()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, source, want string }{
		{"a warning", `extern "C" __global__ void k(double *x) { int unused; x[0] = 1; }`, "unused"},
		{"a spill", `extern "C" __global__ void __launch_bounds__(1024) k(double *x, int n)
{
    double a[64];
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = x[i * n];
    for (int j = 0; j < n; j++) {
#pragma unroll
        for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i * 7 + 1) % 64] + x[j];
    }
#pragma unroll
    for (int i = 0; i < 64; i++) x[i * n] = a[i];
}`, "k spills registers"},
		{"local memory", `extern "C" __global__ void k(double *x, int n)
{
    double a[64];
    for (int i = 0; i < 64; i++) a[i] = x[i];
    x[0] = a[n];
}`, "k takes 512 bytes of local memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := append(compileOptions(part{"factors", tensor.Float64}),
				fmt.Sprintf("--gpu-architecture=sm_%d", slices.Max(supported)), saying)
			_, log, err := nvrtc.compileLogged(c.source, options, true)
			if err != nil {
				t.Fatal(err)
			}
			if log == "" {
				t.Skipf("%s says nothing: it is the simulated compiler", nvrtc.Path)
			}
			found, _ := findings(log)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) }) {
				t.Errorf("found %q in\n%s", found, log)
			}
		})
	}
}

// A mistake in a kernel is reported with the compiler's message and the file.
func TestCompileErrorIsShown(t *testing.T) {
	nvrtc := installedCompiler(t)
	_, err := nvrtc.compile("#line 1 \"broken.cu\"\nextern \"C\" __global__ void k(double *x) { x[0] = undeclared; }",
		compileOptions(part{"factors", tensor.Float64}), true)
	if err == nil || !strings.Contains(err.Error(), "undeclared") || !strings.Contains(err.Error(), "broken.cu") {
		t.Errorf("got %v", err)
	}
}

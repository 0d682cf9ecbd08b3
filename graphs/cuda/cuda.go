// Package cuda is the engine's backend for NVIDIA GPUs. Importing it makes the backend "cuda" known
// to package engine.
//
// Every program for Linux has it: the driver and NVIDIA's libraries are loaded when a device is
// first asked for, without cgo, and missing parts are reported then. Programs for other systems
// know of no device.
//
// # How it works
//
// A device is opened once in a process and shared by all engines. A run has a stream for itself, in
// which everything runs in the order in which it was launched; memory that is freed is used again
// in the same order, so that nothing waits but the end of a run, and that asleep. Programs whose
// operations all have a kernel leave the device only there.
//
// An operation of package op queues itself on a [task], which is its [op.Stream]: our kernels,
// of the sources in package kernels, which the program holds as machine code and PTX (and NVRTC
// compiles where those do not suit), and cuBLAS and cuSOLVER, loaded at run time. Values go through
// page-locked memory, so that the host need not wait while they are copied.
//
// Operations on single elements that one kernel can compute are fused (package engine plans which):
// NVRTC compiles the kernel once that pays, or the cache has it, and until then, and without NVRTC,
// they run one by one. Their kernels are compiled without contraction, so that the bits are the
// same.
//
// Failures of the mathematics, such as a matrix that is not positive definite, are numbers that
// kernels leave behind. They are read at the end of a run, and the host then computes the failed
// operation on the same operands, which gives the same error as on the CPU. Failures of the device
// end its use in this process.
//
// # Numbers
//
// Results are deterministic: there are no atomic operations, sums have a fixed tree, and TF32 is
// off. They differ from those of the CPU in the last digits. Matrices are row-major; cuBLAS and
// cuSOLVER see them transposed.
package cuda

import "fmt"

// Info describes a device.
type Info struct {
	Index      int    `json:"index"` // among the visible devices
	Name       string `json:"name"`
	Major      int    `json:"-"` // compute capability
	Minor      int    `json:"-"`
	Memory     int64  `json:"memory_bytes"`
	Processors int    `json:"processors"`       // multiprocessors
	Driver     string `json:"driver,omitempty"` // its version, such as "550.54.14"; empty if unknown
	Version    int    `json:"cuda_driver"`      // the newest CUDA that the driver knows: 12040 is 12.4
	Compiler   string `json:"nvrtc"`            // empty for a library that is not there
	Products   string `json:"cublas"`
	Solver     string `json:"cusolver"`
}

// String describes the device in a record.
func (i Info) String() string {
	driver := ""
	if i.Driver != "" {
		driver = " driver " + i.Driver + ","
	}
	return fmt.Sprintf("%s (compute capability %d.%d),%s CUDA %d.%d, %s, %s, %s", i.Name, i.Major, i.Minor, driver,
		i.Version/1000, i.Version%1000/10, named("NVRTC", i.Compiler), named("cuBLAS", i.Products),
		named("cuSOLVER", i.Solver))
}

// Found is one of NVIDIA's libraries, or why it is not there.
type Found struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	// Problem is a fault with its remedy; it is empty for a usable library. The driver's may be the
	// absence of a device.
	Problem string `json:"problem,omitempty"`
	// Absent reports that Problem only matters to users of a GPU: there is no driver, or it has no
	// device, and CUDA_VISIBLE_DEVICES names none.
	Absent bool `json:"absent,omitempty"`
}

// CopiedBytes is the size of the copies of [MeasureCopies]. It exceeds the caches of a host, and
// twice it those of a device.
const CopiedBytes = 64 << 20

// CopyRates are the bytes that arrive in a second, of copies of [CopiedBytes].
type CopyRates struct {
	ToDevice, FromDevice float64 // from and to page-locked memory of the host
	OnDevice             float64 // within the device's memory: each byte is read and written
}

// named is a library with its version, which is empty where it is not there.
func named(library, version string) string {
	if version == "" {
		return "no " + library
	}
	return library + " " + version
}

// orUnknown returns a version, or words for a library without one.
func orUnknown(version string) string {
	if version == "" {
		return "(version unknown)"
	}
	return version
}

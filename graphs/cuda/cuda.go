// Package cuda is the engine's backend for NVIDIA GPUs. Importing it makes the
// backend "cuda" known to package engine.
//
// It is built with the tag gpu on Linux; other builds know of no device and say
// how to get one. A program built with the tag also starts where there is no
// driver: what is missing is said when a device is opened.
//
// A device is opened once in a process and shared by all engines. Everything
// runs in one stream, in the order in which it was launched; memory that is
// freed is used again in the same order, so that nothing waits but the end of a
// run. Programs whose operations all have a kernel leave the device only there.
//
// Results are deterministic: there are no atomic operations, sums have a fixed
// tree, and TF32 is off.
package cuda

import "fmt"

// Info describes a device.
type Info struct {
	Index    int    `json:"index"` // among the visible devices
	Name     string `json:"name"`
	Major    int    `json:"-"` // compute capability
	Minor    int    `json:"-"`
	Memory   int64  `json:"memory_bytes"`
	Driver   string `json:"driver,omitempty"` // its version, such as "550.54.14"; empty if unknown
	Version  int    `json:"cuda_driver"`      // the newest CUDA that the driver knows: 12040 is 12.4
	Compiler string `json:"nvrtc"`
	Products string `json:"cublas"`
	Solver   string `json:"cusolver"`
}

// String is what a record says of the device.
func (i Info) String() string {
	driver := ""
	if i.Driver != "" {
		driver = " driver " + i.Driver + ","
	}
	return fmt.Sprintf("%s (compute capability %d.%d),%s CUDA %d.%d, NVRTC %s, cuBLAS %s, cuSOLVER %s",
		i.Name, i.Major, i.Minor, driver, i.Version/1000, i.Version%1000/10, i.Compiler, orUnknown(i.Products), orUnknown(i.Solver))
}

func orUnknown(version string) string {
	if version == "" {
		return "(version unknown)"
	}
	return version
}

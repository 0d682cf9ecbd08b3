//go:build gpu && linux

// Package driver lets a program that uses gorgonia.org/cu start on a machine
// without an NVIDIA driver. It defines the driver's functions itself, as jumps
// to the real ones, which it looks up in libcuda.so.1 when the program starts;
// without the library they return an error. So the program's CUDA is missing,
// not the program.
package driver

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -Wl,--as-needed -ldl
#include <stddef.h>
int privkern_driver(const char **why);
const char *privkern_error_name(int code);
const char *privkern_error_text(int code);
int privkern_host_memory(void **address, size_t bytes);
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Error is a result of the driver other than success.
type Error int

// The results that callers distinguish.
const (
	InvalidValue      Error = 1
	OutOfMemory       Error = 2
	NoDevice          Error = 100
	InvalidImage      Error = 200
	NoBinaryForDevice Error = 209
	UnsupportedPTX    Error = 222
	NotFound          Error = 500
	NotReady          Error = 600
	SystemNotReady    Error = 802
	DriverMismatch    Error = 803
)

// Error is the driver's own name and text.
func (e Error) Error() string {
	name, text := C.GoString(C.privkern_error_name(C.int(e))), C.GoString(C.privkern_error_text(C.int(e)))
	if text == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, text)
}

// ErrNoDriver says that there is no NVIDIA driver.
var ErrNoDriver = errors.New("the NVIDIA driver cannot be loaded")

// Init says whether the driver was found and initialised: nil, an error that
// wraps [ErrNoDriver], or an [Error].
func Init() error {
	var why *C.char
	code := C.privkern_driver(&why)
	if text := C.GoString(why); text != "" {
		return fmt.Errorf("%w: %s", ErrNoDriver, strings.TrimSpace(text))
	}
	if code != 0 {
		return Error(code)
	}
	return nil
}

// HostMemory returns page-locked memory, which the device copies to and from
// while the host goes on. The calling thread must have a current context.
func HostMemory(bytes int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	if code := C.privkern_host_memory(&p, C.size_t(bytes)); code != 0 {
		return nil, Error(code)
	}
	return p, nil
}

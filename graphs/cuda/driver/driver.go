//go:build linux && (amd64 || arm64)

// Package driver holds the part of the NVIDIA driver that the backend uses, behind the interface
// [API]. There are two bindings: one without cgo, which every program has, and that of
// gorgonia.org/cu, for programs that are built with the tag cu.
package driver

import (
	"errors"
	"fmt"
	"unsafe"

	"privkern/graphs/engine"
)

type (
	// Device is a device; it is 0 for the first one.
	Device int32
	// Context is the context of a process on a device. For this and the other handles 0 is none.
	Context uintptr
	// Pointer is an address of device memory.
	Pointer uintptr
	// Stream is a queue of work.
	Stream uintptr
	// Event is a place in a stream that can be waited for.
	Event uintptr
	// Module is loaded machine code.
	Module uintptr
	// Function is a kernel of a module.
	Function uintptr
)

// Attribute is a property of a device, as the driver numbers them.
type Attribute int

// The attributes that are asked for.
const (
	Multiprocessors Attribute = 16
	CapabilityMajor Attribute = 75
	CapabilityMinor Attribute = 76
)

// API is the driver. Errors wrap an [Error], but for those of Init. Except for Init, Version
// and queries of a [Device], the calling thread must have a current context.
type API interface {
	// Name is the binding's name.
	Name() string
	// Init loads and initialises the driver at its first call. The error wraps
	// [ErrNoDriver] where there is none, and [ErrUnusable] where it cannot be loaded.
	Init() error
	// Version is the newest CUDA that the driver knows, such as 12040 for 12.4; 0 where
	// there is no driver.
	Version() int
	// Devices is the number of visible devices.
	Devices() (int, error)
	// Device is the visible device of this number.
	Device(index int) (Device, error)
	DeviceName(d Device) (string, error)
	Attribute(d Device, a Attribute) (int, error)
	// TotalMemory is in bytes.
	TotalMemory(d Device) (int64, error)

	// RetainContext returns the device's primary context, in which threads that wait
	// for the device sleep.
	RetainContext(d Device) (Context, error)
	ReleaseContext(d Device) error
	// SetContext makes a context current on the calling thread.
	SetContext(c Context) error

	Alloc(bytes int) (Pointer, error)
	Free(p Pointer) error
	// Memory returns the free and the total memory, in bytes.
	Memory() (free, total int64, err error)
	// AllocHost returns page-locked memory, which the device copies to and from while
	// the host goes on.
	AllocHost(bytes int) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	// Upload, Download and Copy copy in the order of a stream. The host's side must be
	// page-locked.
	Upload(to Pointer, from unsafe.Pointer, bytes int, s Stream) error
	Download(to unsafe.Pointer, from Pointer, bytes int, s Stream) error
	Copy(to, from Pointer, bytes int, s Stream) error
	// Clear sets bytes to zero in the order of a stream.
	Clear(p Pointer, bytes int, s Stream) error

	// NewStream returns a stream that no other one waits for.
	NewStream() (Stream, error)
	Synchronize(s Stream) error
	DestroyStream(s Stream) error

	// NewEvent returns an event for which threads wait asleep.
	NewEvent() (Event, error)
	Record(e Event, s Stream) error
	Wait(e Event) error
	// Follow makes later work in a stream wait for an event.
	Follow(s Stream, e Event) error
	// Passed reports whether an event has been reached. It does not wait.
	Passed(e Event) (bool, error)
	DestroyEvent(e Event) error

	// Load loads machine code or PTX.
	Load(image []byte) (Module, error)
	Unload(m Module) error
	Function(m Module, name string) (Function, error)
	// Launch queues a kernel on blocks of x×y threads, for each of some members of a batch,
	// which are the blocks' numbers in y; its arguments, at most [kernels.MaxWords], have 64
	// bits each.
	Launch(f Function, blocks, members, x, y int, s Stream, words []uint64) error

	// BeginCapture lets a stream keep the work that follows, in place of queueing it, until
	// EndCapture returns it as a graph. Both bindings call it without cgo.
	BeginCapture(s Stream) error
	EndCapture(s Stream) (Graph, error)
	Instantiate(g Graph) (Exec, error)
	DestroyGraph(g Graph) error
	// LaunchGraph queues the work of a graph. Launches of one graph follow one another.
	LaunchGraph(x Exec, s Stream) error
	DestroyExec(x Exec) error
}

// The flags of contexts, streams, events and memory that the backend makes.
const (
	blockingContext  = 4     // CU_CTX_SCHED_BLOCKING_SYNC
	independent      = 1     // CU_STREAM_NON_BLOCKING
	blockingNoTiming = 1 | 2 // CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING
)

// Error is a result of the driver other than success.
type Error int

// The results that callers distinguish.
const (
	InvalidValue      Error = 1
	OutOfMemory       Error = 2
	NotInitialized    Error = 3
	StubLibrary       Error = 34
	Unavailable       Error = 46
	NoDevice          Error = 100
	InvalidDevice     Error = 101
	InvalidImage      Error = 200
	NoBinaryForDevice Error = 209
	InvalidPTX        Error = 218
	NoPTXCompiler     Error = 221 // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
	UnsupportedPTX    Error = 222
	PTXDisabled       Error = 223 // CUDA_ERROR_JIT_COMPILATION_DISABLED
	NotFound          Error = 500
	NotReady          Error = 600
	ContextActive     Error = 708
	SystemNotReady    Error = 802
	DriverMismatch    Error = 803
	Incompatible      Error = 804
	MPSUnreachable    Error = 805
	MPSFailed         Error = 806
	MPSNotReady       Error = 807
	MPSFullOfClients  Error = 808
	MPSFull           Error = 809
	MPSTerminated     Error = 810
	Unknown           Error = 999
)

// Error is the driver's own name and text.
func (e Error) Error() string {
	name, text := describe(e)
	switch {
	case name == "":
		return fmt.Sprintf("error %d of the driver", int(e))
	case text == "":
		return name
	}
	return fmt.Sprintf("%s (%s)", name, text)
}

// ErrNoDriver reports that there is no NVIDIA driver.
var ErrNoDriver = engine.ErrNoDriver

// ErrUnusable reports a library of the driver that cannot be loaded: it is damaged, for another
// processor, too old, or not NVIDIA's.
var ErrUnusable = errors.New("the library of the NVIDIA driver cannot be used")

//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"privkern/graphs/cuda/library"
	"privkern/graphs/kernels"
)

// pure calls the driver without cgo.
type pure struct{}

// Name implements [API].
func (pure) Name() string { return "purego" }

// functions are those that are called. The driver keeps old ones for ever, under the
// names with and without "_v2".
var functions = []string{
	"cuInit", "cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
	"cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxSetFlags_v2",
	"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemFree_v2",
	"cuMemGetInfo_v2", "cuMemAllocHost_v2", "cuMemFreeHost", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
	"cuMemcpyDtoDAsync_v2", "cuMemsetD8Async", "cuStreamCreate", "cuStreamSynchronize", "cuStreamDestroy_v2",
	"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventDestroy_v2", "cuModuleLoadData", "cuModuleUnload",
	"cuModuleGetFunction", "cuLaunchKernel", "cuStreamWaitEvent", "cuEventQuery",
	"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphLaunch",
	"cuGraphExecDestroy",
}

// loaded is the driver's library. Nothing of it runs before the first call.
var loaded = sync.OnceValues(func() (*library.Library, error) {
	l, err := library.Open("the NVIDIA driver", "libcuda.so.1", library.DriverFolders(), functions...)
	switch {
	case err != nil && library.Missing(err):
		return nil, fmt.Errorf("%w: there is no libcuda.so.1", ErrNoDriver)
	case err != nil:
		return nil, unusable{err}
	}
	return l, nil
})

// unusable is an error that is [ErrUnusable].
type unusable struct{ error }

// Is implements [errors.Is].
func (unusable) Is(target error) bool { return target == ErrUnusable }

// Path is the file of the driver's library, empty where there is none.
func Path() string {
	l, err := loaded()
	if err != nil {
		return ""
	}
	return l.Path
}

// initialised is the result of the driver's initialisation, which it has once.
var initialised = sync.OnceValue(func() error {
	if _, err := loaded(); err != nil {
		return err
	}
	return do("cuInit", 0)
})

// call calls a function of the driver. Pointers to Go memory must be converted to uintptr
// in the call's own arguments.
//
//go:uintptrescapes
func call(function string, args ...uintptr) error { return do(function, args...) }

// do is call for arguments without pointers to Go memory, or to such that stays where it is. It
// allocates nothing.
func do(function string, args ...uintptr) error {
	l, err := loaded()
	if err != nil {
		return NotInitialized
	}
	if status := l.Do(function, args...); status != 0 {
		return Error(status)
	}
	return nil
}

// describe is the driver's name and text of an error.
func describe(e Error) (name, text string) {
	var at [2]*byte
	if call("cuGetErrorName", uintptr(e), uintptr(unsafe.Pointer(&at[0]))) != nil {
		return "", ""
	}
	if call("cuGetErrorString", uintptr(e), uintptr(unsafe.Pointer(&at[1]))) != nil {
		return goString(at[0]), ""
	}
	return goString(at[0]), goString(at[1])
}

// goString copies a string of C.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(p, n))
}

// cString is s with the zero byte that ends a string of C.
func cString(s string) []byte { return append([]byte(s), 0) }

// Init implements [API].
func (pure) Init() error { return initialised() }

// Version implements [API].
func (pure) Version() int {
	var v int32
	if call("cuDriverGetVersion", uintptr(unsafe.Pointer(&v))) != nil {
		return 0
	}
	return int(v)
}

// Devices implements [API].
func (pure) Devices() (int, error) {
	var n int32
	err := call("cuDeviceGetCount", uintptr(unsafe.Pointer(&n)))
	return int(n), err
}

// Device implements [API].
func (pure) Device(index int) (Device, error) {
	var d Device
	err := call("cuDeviceGet", uintptr(unsafe.Pointer(&d)), uintptr(index))
	return d, err
}

// DeviceName implements [API].
func (pure) DeviceName(d Device) (string, error) {
	var name [256]byte
	err := call("cuDeviceGetName", uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(d))
	text, _, _ := strings.Cut(string(name[:]), "\x00")
	return text, err
}

// Attribute implements [API].
func (pure) Attribute(d Device, a Attribute) (int, error) {
	var v int32
	err := call("cuDeviceGetAttribute", uintptr(unsafe.Pointer(&v)), uintptr(a), uintptr(d))
	return int(v), err
}

// TotalMemory implements [API].
func (pure) TotalMemory(d Device) (int64, error) {
	var v uint64
	err := call("cuDeviceTotalMem_v2", uintptr(unsafe.Pointer(&v)), uintptr(d))
	return int64(v), err
}

// RetainContext implements [API].
func (pure) RetainContext(d Device) (Context, error) {
	// A context that another library of the process made keeps its flags.
	err := do("cuDevicePrimaryCtxSetFlags_v2", uintptr(d), blockingContext)
	if err != nil && !errors.Is(err, ContextActive) {
		return 0, err
	}
	var c Context
	err = call("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&c)), uintptr(d))
	return c, err
}

// ReleaseContext implements [API].
func (pure) ReleaseContext(d Device) error { return do("cuDevicePrimaryCtxRelease_v2", uintptr(d)) }

// SetContext implements [API].
func (pure) SetContext(c Context) error { return do("cuCtxSetCurrent", uintptr(c)) }

// Alloc implements [API].
func (pure) Alloc(bytes int) (Pointer, error) {
	var p Pointer
	err := call("cuMemAlloc_v2", uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	return p, err
}

// Free implements [API].
func (pure) Free(p Pointer) error { return do("cuMemFree_v2", uintptr(p)) }

// Memory implements [API].
func (pure) Memory() (free, total int64, err error) {
	var bytes [2]uint64
	err = call("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&bytes[0])), uintptr(unsafe.Pointer(&bytes[1])))
	return int64(bytes[0]), int64(bytes[1]), err
}

// AllocHost implements [API].
func (pure) AllocHost(bytes int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := call("cuMemAllocHost_v2", uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	return p, err
}

// FreeHost implements [API].
func (pure) FreeHost(p unsafe.Pointer) error { return do("cuMemFreeHost", uintptr(p)) }

// Upload implements [API].
func (pure) Upload(to Pointer, from unsafe.Pointer, bytes int, s Stream) error {
	return do("cuMemcpyHtoDAsync_v2", uintptr(to), uintptr(from), uintptr(bytes), uintptr(s))
}

// Download implements [API].
func (pure) Download(to unsafe.Pointer, from Pointer, bytes int, s Stream) error {
	return do("cuMemcpyDtoHAsync_v2", uintptr(to), uintptr(from), uintptr(bytes), uintptr(s))
}

// Copy implements [API].
func (pure) Copy(to, from Pointer, bytes int, s Stream) error {
	return do("cuMemcpyDtoDAsync_v2", uintptr(to), uintptr(from), uintptr(bytes), uintptr(s))
}

// Clear implements [API].
func (pure) Clear(p Pointer, bytes int, s Stream) error {
	return do("cuMemsetD8Async", uintptr(p), 0, uintptr(bytes), uintptr(s))
}

// NewStream implements [API].
func (pure) NewStream() (Stream, error) {
	var s Stream
	err := call("cuStreamCreate", uintptr(unsafe.Pointer(&s)), independent)
	return s, err
}

// Synchronize implements [API].
func (pure) Synchronize(s Stream) error { return do("cuStreamSynchronize", uintptr(s)) }

// DestroyStream implements [API].
func (pure) DestroyStream(s Stream) error { return do("cuStreamDestroy_v2", uintptr(s)) }

// NewEvent implements [API].
func (pure) NewEvent() (Event, error) {
	var e Event
	err := call("cuEventCreate", uintptr(unsafe.Pointer(&e)), blockingNoTiming)
	return e, err
}

// Record implements [API].
func (pure) Record(e Event, s Stream) error { return do("cuEventRecord", uintptr(e), uintptr(s)) }

// Wait implements [API].
func (pure) Wait(e Event) error { return do("cuEventSynchronize", uintptr(e)) }

// Follow implements [API].
func (pure) Follow(s Stream, e Event) error {
	return do("cuStreamWaitEvent", uintptr(s), uintptr(e), 0)
}

// Passed implements [API].
func (pure) Passed(e Event) (bool, error) {
	err := do("cuEventQuery", uintptr(e))
	if errors.Is(err, NotReady) {
		return false, nil
	}
	return err == nil, err
}

// DestroyEvent implements [API].
func (pure) DestroyEvent(e Event) error { return do("cuEventDestroy_v2", uintptr(e)) }

// Load implements [API].
func (pure) Load(image []byte) (Module, error) {
	// PTX is a string of C.
	ended := append(image[:len(image):len(image)], 0)
	var m Module
	err := call("cuModuleLoadData", uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&ended[0])))
	return m, err
}

// Unload implements [API].
func (pure) Unload(m Module) error { return do("cuModuleUnload", uintptr(m)) }

// Function implements [API].
func (pure) Function(m Module, name string) (Function, error) {
	text := cString(name)
	var f Function
	err := call("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// frame is the memory of a launch: the kernel's arguments and their addresses.
type frame struct {
	at    [kernels.MaxWords]uintptr
	words [kernels.MaxWords]uint64
}

// frames keeps those that no launch uses. Go does not move them.
var frames = sync.Pool{New: func() any {
	f := new(frame)
	for i := range f.words {
		f.at[i] = uintptr(unsafe.Pointer(&f.words[i]))
	}
	return f
}}

// Launch implements [API]. The driver has read the arguments when it returns.
func (pure) Launch(f Function, blocks, members, x, y int, s Stream, words []uint64) error {
	if len(words) > kernels.MaxWords {
		return fmt.Errorf("%w: a kernel with %d arguments; at most %d", InvalidValue, len(words), kernels.MaxWords)
	}
	p := frames.Get().(*frame)
	defer frames.Put(p)
	copy(p.words[:], words)
	return do("cuLaunchKernel", uintptr(f), uintptr(blocks), uintptr(members), 1, uintptr(x), uintptr(y), 1, 0, uintptr(s),
		uintptr(unsafe.Pointer(&p.at)), 0)
}

//go:build linux && (amd64 || arm64) && cu

package driver

import (
	"errors"
	"reflect"
	"unsafe"

	"gorgonia.org/cu"
)

// New returns the program's binding, that of gorgonia.org/cu. It links the driver and
// initialises it when the program starts: without one the program ends there.
func New() API { return bound{} }

// bound calls the driver through gorgonia.org/cu, and without cgo where that has no function:
// page-locked memory, texts of errors, the destruction of streams and modules without leaks,
// queries of events and streams that follow them, and launches without allocations.
type bound struct{ pure }

// Its handles are structures of one pointer of C, which only it can name.
func from[To, From any](handle From) To { return *(*To)(unsafe.Pointer(&handle)) }

var (
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.CUContext{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Stream{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Event{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Module{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(cu.Function{})]byte{}
)

// result is the driver's result in an error of package cu.
func result(err error) error {
	if v := reflect.ValueOf(err); v.IsValid() && v.CanInt() {
		return Error(v.Int())
	}
	return err
}

// Name implements [API].
func (bound) Name() string { return "gorgonia.org/cu" }

// Version implements [API].
func (bound) Version() int { return max(cu.Version(), 0) }

// Devices implements [API].
func (bound) Devices() (int, error) {
	n, err := cu.NumDevices()
	return n, result(err)
}

// Device implements [API].
func (bound) Device(index int) (Device, error) {
	d, err := cu.GetDevice(index)
	return Device(d), result(err)
}

// Attribute implements [API].
func (bound) Attribute(d Device, a Attribute) (int, error) {
	v, err := cu.Device(d).Attribute(cu.DeviceAttribute(a))
	return v, result(err)
}

// TotalMemory implements [API].
func (bound) TotalMemory(d Device) (int64, error) {
	n, err := cu.Device(d).TotalMem()
	return n, result(err)
}

// RetainContext implements [API].
func (bound) RetainContext(d Device) (Context, error) {
	err := result(cu.Device(d).SetPrimaryCtxFlags(cu.SchedBlockingSync))
	if err != nil && !errors.Is(err, ContextActive) {
		return 0, err
	}
	c, err := cu.Device(d).RetainPrimaryCtx()
	return from[Context](c), result(err)
}

// ReleaseContext implements [API].
func (bound) ReleaseContext(d Device) error { return result(cu.Device(d).ReleasePrimaryCtx()) }

// SetContext implements [API].
func (bound) SetContext(c Context) error { return result(cu.SetCurrentContext(from[cu.CUContext](c))) }

// Alloc implements [API].
func (bound) Alloc(bytes int) (Pointer, error) {
	p, err := cu.MemAlloc(int64(bytes))
	return Pointer(p), result(err)
}

// Free implements [API].
func (bound) Free(p Pointer) error { return result(cu.MemFree(cu.DevicePtr(p))) }

// Memory implements [API].
func (bound) Memory() (free, total int64, err error) {
	free, total, err = cu.MemInfo()
	return free, total, result(err)
}

// FreeHost implements [API].
func (bound) FreeHost(p unsafe.Pointer) error { return result(cu.MemFreeHost(p)) }

// Upload implements [API].
func (bound) Upload(to Pointer, data unsafe.Pointer, bytes int, s Stream) error {
	return result(cu.MemcpyHtoDAsync(cu.DevicePtr(to), data, int64(bytes), from[cu.Stream](s)))
}

// Download implements [API].
func (bound) Download(to unsafe.Pointer, data Pointer, bytes int, s Stream) error {
	return result(cu.MemcpyDtoHAsync(to, cu.DevicePtr(data), int64(bytes), from[cu.Stream](s)))
}

// Copy implements [API].
func (bound) Copy(to, data Pointer, bytes int, s Stream) error {
	return result(cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(data), int64(bytes), from[cu.Stream](s)))
}

// Clear implements [API].
func (bound) Clear(p Pointer, bytes int, s Stream) error {
	return result(cu.MemsetD8Async(cu.DevicePtr(p), 0, int64(bytes), from[cu.Stream](s)))
}

// NewStream implements [API].
func (bound) NewStream() (Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return from[Stream](s), result(err)
}

// Synchronize implements [API].
func (bound) Synchronize(s Stream) error { return result(from[cu.Stream](s).Synchronize()) }

// NewEvent implements [API].
func (bound) NewEvent() (Event, error) {
	e, err := cu.MakeEvent(cu.BlockingSyncEvent | cu.DisableTiming)
	return from[Event](e), result(err)
}

// Record implements [API].
func (bound) Record(e Event, s Stream) error {
	return result(from[cu.Event](e).Record(from[cu.Stream](s)))
}

// Wait implements [API].
func (bound) Wait(e Event) error { return result(from[cu.Event](e).Synchronize()) }

// DestroyEvent implements [API].
func (bound) DestroyEvent(e Event) error {
	event := from[cu.Event](e)
	return result(cu.DestroyEvent(&event))
}

// Load implements [API].
func (bound) Load(image []byte) (Module, error) {
	m, err := cu.LoadData(string(image))
	return from[Module](m), result(err)
}

// Function implements [API].
func (bound) Function(m Module, name string) (Function, error) {
	f, err := from[cu.Module](m).Function(name)
	return from[Function](f), result(err)
}

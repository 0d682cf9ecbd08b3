//go:build linux && (amd64 || arm64)

package driver

import "unsafe"

type (
	// Graph is work that was captured from a stream.
	Graph uintptr
	// Exec is a graph that can be launched.
	Exec uintptr
)

// relaxedCapture allows calls that are no work of a stream, such as allocations, while one
// captures: CU_STREAM_CAPTURE_MODE_RELAXED.
const relaxedCapture = 2

// Capturing reports an error of a capture. It leaves the context as it was.
func (e Error) Capturing() bool { return e >= 900 && e <= 908 || e == 801 }

// BeginCapture implements [API].
func (pure) BeginCapture(s Stream) error {
	return call("cuStreamBeginCapture_v2", uintptr(s), relaxedCapture)
}

// EndCapture implements [API].
func (pure) EndCapture(s Stream) (Graph, error) {
	var g Graph
	err := call("cuStreamEndCapture", uintptr(s), uintptr(unsafe.Pointer(&g)))
	return g, err
}

// Instantiate implements [API].
func (pure) Instantiate(g Graph) (Exec, error) {
	var x Exec
	err := call("cuGraphInstantiateWithFlags", uintptr(unsafe.Pointer(&x)), uintptr(g), 0)
	return x, err
}

// DestroyGraph implements [API].
func (pure) DestroyGraph(g Graph) error { return call("cuGraphDestroy", uintptr(g)) }

// LaunchGraph implements [API].
func (pure) LaunchGraph(x Exec, s Stream) error { return call("cuGraphLaunch", uintptr(x), uintptr(s)) }

// DestroyExec implements [API].
func (pure) DestroyExec(x Exec) error { return call("cuGraphExecDestroy", uintptr(x)) }

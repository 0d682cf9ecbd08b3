//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"privkern/graphs/kernels"
)

// eigenBatch are the functions that cuSOLVER has from CUDA 12.6 on for the eigen-decompositions of a batch.
var eigenBatch = []string{"cusolverDnCreateParams", "cusolverDnDestroyParams", "cusolverDnXsyevBatched_bufferSize",
	"cusolverDnXsyevBatched"}

// eigenWorkspace is the size in bytes to which the workspace of a call is held, by fewer members in each.
var eigenWorkspace uintptr = 1 << 30

// syevMembers is Syevd for a batch by cusolverDnXsyevBatched, whose matrices follow one another, like those of
// [task.Doubles].
func (t *task) syevMembers(n int, v, w kernels.Doubles, converged kernels.Flag) {
	const name, vectors, lower, float64s = "cusolverDnXsyevBatched", 1, 0, 1
	if t.stride(uintptr(v)) != n*n || t.stride(uintptr(w)) != n {
		t.Fail(fmt.Errorf("%s: the matrices of the members do not follow one another", name))
	}
	params, err := t.lane.solverParams()
	if err != nil {
		t.Fail(err)
	}
	var device, host uintptr // bytes
	count := t.members
	for ; ; count = (count + 1) / 2 {
		t.solverCall(name+"_bufferSize", params, vectors, lower, uintptr(n), float64s, uintptr(v), uintptr(n), float64s,
			uintptr(w), float64s, uintptr(unsafe.Pointer(&device)), uintptr(unsafe.Pointer(&host)), uintptr(count))
		if t.err != nil {
			return
		}
		if device <= eigenWorkspace || count == 1 {
			break
		}
	}
	buffer, onHost := t.scratch(int(device)), make([]byte, host)
	for i := 0; i < t.members; i += count {
		t.solverCall(name, params, vectors, lower, uintptr(n), float64s, uintptr(v)+uintptr(8*i*n*n), uintptr(n), float64s,
			uintptr(w)+uintptr(8*i*n), float64s, uintptr(buffer), device, uintptr(unsafe.Pointer(unsafe.SliceData(onHost))),
			host, uintptr(converged)+uintptr(4*i), uintptr(min(count, t.members-i)))
	}
	t.lane.host = append(t.lane.host, onHost) // a call that has made room has cleared those of before
}

// solverParams returns the lane's parameters for cuSOLVER's generic functions, which are the defaults.
func (l *lane) solverParams() (uintptr, error) {
	if l.params == 0 {
		if status := l.gpu.libs.solver.Call("cusolverDnCreateParams", uintptr(unsafe.Pointer(&l.params))); status != 0 {
			l.params = 0
			return 0, fmt.Errorf("cuSOLVER's parameters cannot be set up: status %d", status)
		}
	}
	return l.params, nil
}

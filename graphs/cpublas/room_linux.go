package cpublas

import "syscall"

// limited reports whether the address space or the data of this process have a limit.
func limited() bool {
	for _, resource := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var l syscall.Rlimit
		if err := syscall.Getrlimit(resource, &l); err == nil && l.Cur != ^uint64(0) {
			return true
		}
	}
	return false
}

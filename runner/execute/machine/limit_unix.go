//go:build unix

package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// limits lists the limits on a process: of all addresses, and of writable ones.
var limits = []struct {
	resource     int
	flag, mapped string // mapped is the field of /proc/self/status
}{
	{unix.RLIMIT_AS, "-v", "VmSize:"},
	{unix.RLIMIT_DATA, "-d", "VmData:"},
}

// ProcessLimit returns the limit that leaves the least to this process; ok is
// false where there is none. A worker has the same limit for itself, and has
// mapped about as much before it computes.
func ProcessLimit() (least MemoryLimit, ok bool) {
	root := os.DirFS("/")
	for _, l := range limits {
		var r unix.Rlimit
		if unix.Getrlimit(l.resource, &r) != nil || r.Cur >= 1<<60 { // infinity is the largest number
			continue
		}
		limit := MemoryLimit{Bytes: int64(r.Cur), Flag: l.flag, Left: leftOf(root, int64(r.Cur), l.mapped)}
		if !ok || limit.Left < least.Left {
			least, ok = limit, true
		}
	}
	return least, ok
}

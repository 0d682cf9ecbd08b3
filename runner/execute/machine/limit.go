package machine

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// MemoryLimit is a limit on the memory of one process, which its shell has set.
type MemoryLimit struct {
	Bytes int64
	Flag  string // of ulimit: "-v" for the address space, "-d" for the data
	Left  int64  // what this process has not mapped of it
}

// Limits on a process. The first counts every address, the second what can be
// written to.
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

// leftOf is a limit less what is mapped, 1 at least: 0 is for what is not known.
func leftOf(root fs.FS, limit int64, mapped string) int64 {
	return max(1, limit-field(root, "proc/self/status", mapped, 1024))
}

// GroupLimit returns the least limit of the control groups of this process; 0
// where there is none.
func GroupLimit() int64 { return groupLimit(os.DirFS("/")) }

func groupLimit(root fs.FS) (least int64) {
	eachMemoryGroup(root, func(group, limitFile, _, _ string) {
		if limit, ok := limitOf(root, group, limitFile); ok && (least == 0 || limit < least) {
			least = limit
		}
	})
	return least
}

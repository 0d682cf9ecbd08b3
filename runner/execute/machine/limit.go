package machine

import (
	"io/fs"
	"os"
)

// MemoryLimit is a limit on the memory of one process, which its shell has set.
type MemoryLimit struct {
	Bytes int64
	Flag  string // of ulimit: "-v" for the address space, "-d" for the data
	Left  int64  // bytes of it that this process has not mapped
}

// leftOf returns a limit less the mapped bytes, at least 1, because 0 stands for
// unknown.
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

// Package machine measures this machine for its trials: the available memory, the peak
// memory of this process, and the processor time that other programs use meanwhile.
package machine

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// available returns the bytes that the Linux kernel and its control groups leave; 0
// where they are unknown.
func available(root fs.FS) int64 {
	least := int64(0)
	take := func(bytes int64, ok bool) {
		if ok && (least == 0 || bytes < least) {
			least = max(bytes, 1) // 0 stands for unknown
		}
	}
	take(memAvailable(root))
	eachMemoryGroup(root, func(group, limitFile, usageFile, reclaimable string) {
		take(left(root, group, limitFile, usageFile, reclaimable))
	})
	return least
}

// eachMemoryGroup calls f with every control group whose limit on memory holds for
// this process, and the names of its files.
func eachMemoryGroup(root fs.FS, f func(group, limitFile, usageFile, reclaimable string)) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "":
			eachGroup(fields[2], func(group string) {
				f(path.Join("sys/fs/cgroup", group), "memory.max", "memory.current", "inactive_file")
			})
		case strings.Contains(","+fields[1]+",", ",memory,"):
			eachGroup(fields[2], func(group string) {
				f(path.Join("sys/fs/cgroup/memory", group), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
			})
		}
	}
}

// eachGroup calls f with a group and all above it, whose limits hold for it. In
// a container the path may be that of the host; the group is then the root.
func eachGroup(group string, f func(string)) {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		f(strings.TrimPrefix(group, "/"))
		if group == "/" {
			return
		}
	}
}

// left returns the bytes that a control group leaves; ok is false where it has no
// limit. Inactive pages of files count as free, because the kernel reclaims them.
func left(root fs.FS, group, limitFile, usageFile, reclaimable string) (bytes int64, ok bool) {
	limit, ok := limitOf(root, group, limitFile)
	if !ok {
		return 0, false
	}
	used, ok := number(root, path.Join(group, usageFile))
	if !ok {
		return 0, false
	}
	return max(0, limit-used+field(root, path.Join(group, "memory.stat"), reclaimable, 1)), true
}

// limitOf is the limit of a control group; ok is false where it has none.
func limitOf(root fs.FS, group, limitFile string) (bytes int64, ok bool) {
	bytes, ok = number(root, path.Join(group, limitFile))
	return bytes, ok && bytes < 1<<60 // v1 writes a number close to 2^63 for none
}

func memAvailable(root fs.FS) (bytes int64, ok bool) {
	n := field(root, "proc/meminfo", "MemAvailable:", 1024)
	return n, n > 0
}

// number reads a file that holds one number.
func number(root fs.FS, name string) (int64, bool) {
	raw, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	return n, err == nil && n >= 0
}

// field reads "name number ..." from a file of such lines; 0 where it is not
// there.
func field(root fs.FS, name, key string, unit int64) int64 {
	raw, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == key {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n >= 0 && n < 1<<60/unit {
				return n * unit
			}
		}
	}
	return 0
}

// MemoryRefusal returns the reason for which a trial that needs that many bytes is not
// started; "" where it is started. An available amount of 0 is unknown, and the zero
// MemoryLimit is none.
func MemoryRefusal(need, available int64, l MemoryLimit) string {
	switch {
	case available > 0 && need > available:
		return fmt.Sprintf("needs about %s, %s are available: use a smaller setting or a machine with more memory; "+
			"--ignore-memory starts it all the same", Gibibytes(need), Gibibytes(available))
	case l.Bytes > 0 && need > l.Left:
		return fmt.Sprintf("needs about %s; of the limit on the memory of a process (ulimit %s), which is %s, %s are left: "+
			"raise the limit, or use a smaller setting; --ignore-memory starts it all the same",
			Gibibytes(need), l.Flag, Gibibytes(l.Bytes), Gibibytes(l.Left))
	}
	return ""
}

// Gibibytes writes an amount of memory for people.
func Gibibytes(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

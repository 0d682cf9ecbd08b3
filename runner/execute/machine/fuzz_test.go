package machine

import (
	"testing"
	"testing/fstest"
)

// FuzzAvailable reads the files of the kernel about memory and control groups. A group
// leaves no more than the machine has.
func FuzzAvailable(f *testing.F) {
	f.Add(meminfo, "0::/job/step\n", "2147483648\n", "1073741824\n", "anon 1\ninactive_file 536870912\n")
	f.Add(meminfo, "0::/job/step\n", "max\n", "5\n", "")
	f.Add("MemAvailable: 9223372036854775807 kB", "0::/job/../../step\n", "1152921504606846975", "0",
		"inactive_file 1152921504606846975")
	f.Add("", "4:cpu,memory:/\n0::\n::\n", "1", "9223372036854775807", "inactive_file -1")
	f.Fuzz(func(t *testing.T, info, groups, limit, usage, stat string) {
		machine := fstest.MapFS{"proc/meminfo": {Data: []byte(info)}}
		alone := available(machine)
		if alone < 0 {
			t.Errorf("%d bytes are available with %q", alone, info)
		}
		grouped := fstest.MapFS{"proc/meminfo": machine["proc/meminfo"], "proc/self/cgroup": {Data: []byte(groups)}}
		for _, group := range []string{"sys/fs/cgroup/job/step/", "sys/fs/cgroup/"} {
			grouped[group+"memory.max"] = &fstest.MapFile{Data: []byte(limit)}
			grouped[group+"memory.current"] = &fstest.MapFile{Data: []byte(usage)}
			grouped[group+"memory.stat"] = &fstest.MapFile{Data: []byte(stat)}
		}
		got := available(grouped)
		if got < 0 || alone > 0 && (got == 0 || got > alone) {
			t.Errorf("%d bytes are available in the group, %d on the machine", got, alone)
		}
	})
}

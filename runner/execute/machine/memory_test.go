package machine

import (
	"maps"
	"runtime"
	"testing"
	"testing/fstest"
)

const meminfo = "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:    4000000 kB\n"

func TestAvailable(t *testing.T) {
	const gib = 1 << 30
	v2 := map[string]string{
		"proc/meminfo":                          meminfo,
		"proc/self/cgroup":                      "0::/job/step\n",
		"sys/fs/cgroup/job/memory.max":          "2147483648\n",
		"sys/fs/cgroup/job/memory.current":      "1073741824\n",
		"sys/fs/cgroup/job/memory.stat":         "anon 1\ninactive_file 536870912\n",
		"sys/fs/cgroup/job/step/memory.max":     "max\n",
		"sys/fs/cgroup/job/step/memory.current": "5\n",
	}
	v1 := map[string]string{
		"proc/meminfo":     meminfo,
		"proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n",
		// Inside a container the group is mounted as the root.
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "73741824\n",
	}
	with := func(files map[string]string, changed map[string]string) map[string]string {
		files = maps.Clone(files)
		maps.Copy(files, changed)
		return files
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known":   {nil, 0},
		"no groups":       {map[string]string{"proc/meminfo": meminfo}, 4000000 * 1024},
		"v2, limit above": {v2, gib + gib/2},
		"v2, more than is there": {with(v2, map[string]string{"sys/fs/cgroup/job/memory.max": "99999999999999"}),
			4000000 * 1024},
		"v2, beyond the limit":     {with(v2, map[string]string{"sys/fs/cgroup/job/memory.current": "9999999999"}), 1},
		"v2, a file of other form": {with(v2, map[string]string{"sys/fs/cgroup/job/memory.max": "much"}), 4000000 * 1024},
		"v1":                       {v1, 1000000000},
		"v1, a limit above": {with(v1,
			map[string]string{"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "2000000000",
				"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": "1"}), 1000000000},
		"v1 without limit": {with(v1,
			map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}), 4000000 * 1024},
		"groups of other form": {map[string]string{"proc/meminfo": "MemAvailable: much\n",
			"proc/self/cgroup": "memory\n1:memory\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := available(root); got != c.want {
				t.Errorf("%s: %d, want %d", name, got, c.want)
			}
		})
	}
	if runtime.GOOS == "linux" && AvailableMemory() < 1<<20 {
		t.Errorf("this machine has %d bytes", AvailableMemory())
	}
}

func TestGroupLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, 0},
		{"v2, the least of all above",
			map[string]string{"proc/self/cgroup": "0::/job/step\n", "sys/fs/cgroup/job/memory.max": "1000\n",
				"sys/fs/cgroup/job/step/memory.max": "2000\n", "sys/fs/cgroup/memory.max": "3000\n"}, 1000},
		{"v2, none", map[string]string{"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.max": "max\n"}, 0},
		{"v1", map[string]string{"proc/self/cgroup": "4:memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1000\n"}, 1000},
		{"v1, none", map[string]string{"proc/self/cgroup": "4:memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := groupLimit(root); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestLeftOf(t *testing.T) {
	root := fstest.MapFS{"proc/self/status": {Data: []byte("Name:\trun\nVmSize:\t 1000 kB\nVmData:\t  10 kB\n")}}
	for _, c := range []struct {
		name  string
		limit int64
		field string
		want  int64
	}{
		{"the address space", 1500 << 10, "VmSize:", 500 << 10},
		{"the data", 1500 << 10, "VmData:", 1490 << 10},
		{"nothing left", 900 << 10, "VmSize:", 1},
		{"what is mapped is not known", 900, "VmLck:", 900},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := leftOf(root, c.limit, c.field); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestLimitRefusal(t *testing.T) {
	limit := MemoryLimit{Bytes: 4 << 30, Flag: "-v", Left: 3 << 30}
	for _, c := range []struct {
		name  string
		need  int64
		limit MemoryLimit
		want  string
	}{
		{"no limit", 5 << 30, MemoryLimit{}, ""},
		{"it fits", 3 << 30, limit, ""},
		{"it does not", 3<<30 + 1<<29, limit, "needs about 3.5 GiB; of the limit on the memory of a process (ulimit -v), " +
			"which is 4.0 GiB, 3.0 GiB are left: raise the limit, or use a smaller setting; --ignore-memory starts it all " +
			"the same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := MemoryRefusal(c.need, 0, c.limit); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	if r := MemoryRefusal(5<<30, 0, MemoryLimit{}) + MemoryRefusal(5, 5, MemoryLimit{}); r != "" {
		t.Error(r)
	}
	const want = "needs about 5.0 GiB, 1.5 GiB are available: "
	if r := MemoryRefusal(5<<30, 3<<29, MemoryLimit{}); len(r) < len(want) || r[:len(want)] != want {
		t.Error(r)
	}
}

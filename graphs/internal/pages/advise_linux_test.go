package pages

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// The kernel marks memory with requested huge pages by "hg".
func TestLargeMemoryAsksForHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel has no transparent huge pages")
	}
	s := Make[float32](16 << 20)
	middle := uintptr(unsafe.Pointer(&s[len(s)/2]))
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= middle && middle < to
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			if !strings.Contains(flags, " hg") {
				t.Errorf("flags %q, want hg among them", flags)
			}
			runtime.KeepAlive(s)
			return
		}
	}
	t.Skip("the kernel does not say the flags of memory")
}

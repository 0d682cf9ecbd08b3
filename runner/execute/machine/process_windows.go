package machine

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Functions of Windows that golang.org/x/sys does not have.
var (
	kernel32             = windows.NewLazySystemDLL("kernel32.dll")
	globalMemoryStatusEx = kernel32.NewProc("GlobalMemoryStatusEx")
	processMemoryInfo    = kernel32.NewProc("K32GetProcessMemoryInfo")
	getSystemTimes       = kernel32.NewProc("GetSystemTimes")
)

// memoryStatus is MEMORYSTATUSEX of sysinfoapi.h, in bytes.
type memoryStatus struct {
	size, load                           uint32
	physical, availablePhysical          uint64
	committable, availableCommit         uint64
	addresses, availableAddresses, spare uint64
}

// memoryCounters is PROCESS_MEMORY_COUNTERS of psapi.h, in bytes.
type memoryCounters struct {
	size, faults                                       uint32
	peakWorkingSet, workingSet                         uintptr
	peakPagedPool, pagedPool, peakOtherPool, otherPool uintptr
	commit, peakCommit                                 uintptr
}

// AvailableMemory returns the bytes that programs may still allocate on this machine:
// the lesser of the free physical memory and of the commit limit, which page files
// bound too. It is 0 where nothing is known. Limits of job objects are ignored.
func AvailableMemory() int64 {
	m := memoryStatus{size: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 0
	}
	return int64(max(1, min(m.availablePhysical, m.availableCommit)))
}

// ProcessLimit returns none: shells of Windows limit no process.
func ProcessLimit() (least MemoryLimit, ok bool) { return MemoryLimit{}, false }

// WatchOthers begins a measurement.
func WatchOthers() *Others { return watchOthers(systemReading) }

// systemReading reads the counters of Windows for all programs.
func systemReading() reading {
	r := reading{at: time.Now(), own: CPUSeconds(), cores: runtime.NumCPU()}
	var idle, kernel, user windows.Filetime // kernel has the idle time in it
	ok, _, _ := getSystemTimes.Call(uintptr(unsafe.Pointer(&idle)), uintptr(unsafe.Pointer(&kernel)),
		uintptr(unsafe.Pointer(&user)))
	r.all, r.known = seconds(kernel)+seconds(user)-seconds(idle), ok != 0
	return r
}

// CPUSeconds is the processor time of this process, user and system.
func CPUSeconds() float64 {
	var begin, end, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &begin, &end, &kernel, &user) != nil {
		return 0
	}
	return seconds(kernel) + seconds(user)
}

// seconds is a span of time, which Windows counts in 100 ns.
func seconds(t windows.Filetime) float64 {
	return float64(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) / 1e7
}

// ResetPeakRSS does nothing: Windows cannot start the peak anew, which stays that of
// the process, an upper bound.
func ResetPeakRSS() {}

// PeakRSS is the largest working set of this process in bytes.
func PeakRSS() int64 {
	m := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	ok, _, _ := processMemoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&m)), uintptr(m.size))
	if ok == 0 {
		return 0
	}
	return int64(m.peakWorkingSet)
}

// BrokenPipe reports whether an error is that of a write to a pipe without a reader.
func BrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

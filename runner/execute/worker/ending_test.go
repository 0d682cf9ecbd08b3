package worker

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const stack = "\n\ngoroutine 7 [running]:\nmain.f()\n\t/src/f.go:12 +0x1d\n"

// Every way to end has a row: whose doing it was, and the sentence.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name    string
		ending  exitState
		machine bool
		want    string
	}{
		{"killed", exitState{Signal: syscall.SIGKILL}, true, "was killed (SIGKILL), perhaps for want of memory"},
		{"processor time", exitState{Signal: syscall.SIGXCPU}, true, "was ended by the limit on processor time (SIGXCPU)"},
		{"terminated", exitState{Signal: syscall.SIGTERM}, true, "was ended from outside (SIGTERM)"},
		{"interrupted", exitState{Signal: syscall.SIGINT}, true, "was ended from outside (SIGINT)"},
		{"hung up", exitState{Signal: syscall.SIGHUP}, true, "was ended from outside (SIGHUP)"},
		{"ordered to quit", exitState{Status: 2, Output: "SIGQUIT: quit\nPC=0x1" + stack}, true,
			"was ended from outside (SIGQUIT): SIGQUIT: quit"},
		{"no heap", exitState{Status: 2, Output: "words\nruntime: out of memory: cannot allocate 4194304-byte block (0 in " +
			"use)\nfatal error: out of memory" + stack}, true,
			"ran out of memory: runtime: out of memory: cannot allocate 4194304-byte block (0 in use)"},
		{"no memory for the runtime", exitState{Status: 2, Output: "fatal error: runtime: cannot allocate memory" + stack},
			true, "ran out of memory: fatal error: runtime: cannot allocate memory"},
		{"no address space", exitState{Status: 2, Output: "fatal error: failed to reserve page summary memory" + stack}, true,
			"ran out of memory: fatal error: failed to reserve page summary memory"},
		{"no thread", exitState{Status: 2, Output: "runtime: failed to create new OS thread (have 5 already; " +
			"errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc" + stack}, true,
			"could not start a thread: runtime: failed to create new OS thread (have 5 already; errno=11)"},
		{"no thread, through libc",
			exitState{Signal: syscall.SIGABRT, Output: "runtime/cgo: pthread_create failed: Resource temporarily unavailable\n"},
			true,
			"could not start a thread: runtime/cgo: pthread_create failed: Resource temporarily unavailable"},
		{"no thread, and the runtime catches the abort",
			exitState{Status: 2, Output: "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort" +
				stack}, true,
			"could not start a thread: runtime/cgo: pthread_create failed: Resource temporarily unavailable"},
		{"no files for the runtime",
			exitState{Status: 2, Output: "runtime: eventfd failed with 24\nfatal error: runtime: netpollinit failed" + stack},
			true,
			"could not open what it needs: runtime: eventfd failed with 24"},
		{"OpenBLAS without memory",
			exitState{Status: 1, Output: "OpenBLAS error: Memory allocation still failed after 10 retries, giving up.\n"}, true,
			"ran out of memory or threads: OpenBLAS error: Memory allocation still failed after 10 retries, giving up."},
		{"OpenBLAS without threads",
			exitState{Status: 1, Output: "OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 4: Resource " +
				"temporarily unavailable\nOpenBLAS blas_thread_init: RLIMIT_NPROC 40 current\n"}, true,
			"ran out of memory or threads: OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 4: Resource " +
				"temporarily unavailable"},
		{"a C++ library without memory",
			exitState{Signal: syscall.SIGABRT, Output: "terminate called after throwing an instance of 'std::bad_alloc'\n  " +
				"what():  std::bad_alloc\n"}, true,
			"ran out of memory: terminate called after throwing an instance of 'std::bad_alloc'"},
		{"the same, and the runtime catches the abort",
			exitState{Status: 2, Output: "terminate called after throwing an instance of 'std::bad_alloc'\nSIGABRT: abort" +
				stack}, true,
			"ran out of memory: terminate called after throwing an instance of 'std::bad_alloc'"},
		{"libraries that do not fit",
			exitState{Status: 127, Output: "run: error while loading shared libraries: libc.so.6: failed to map segment from " +
				"shared object\n"}, true,
			"could not load its libraries into the memory: run: error while loading shared libraries: libc.so.6: failed to " +
				"map segment from shared object"},
		{"libraries that cannot be opened",
			exitState{Status: 127, Output: "run: error while loading shared libraries: libc.so.6: cannot open shared object " +
				"file: Too many open files\n"}, true,
			"could not open its libraries: run: error while loading shared libraries: libc.so.6: cannot open shared object " +
				"file: Too many open files"},
		{"an error for want of memory", exitState{Status: 1, Output: "run: mmap: cannot allocate memory\n"}, true,
			"ran out of memory: run: mmap: cannot allocate memory"},
		{"an error for want of files", exitState{Status: 1, Output: "run: open x: too many open files\n"}, true,
			"could not open what it needs: run: open x: too many open files"},

		{"a status of its own", exitState{Status: 7, Output: "many words\nlast words\n"}, false,
			"ended with exit status 7: last words"},
		{"nothing said", exitState{Status: 7}, false, "ended with exit status 7"},
		{"no error at all", exitState{Status: 0, Output: "bye\n"}, false, "ended with exit status 0: bye"},
		{"a panic", exitState{Status: 2, Output: "panic: runtime error: index out of range [3] with length 3" + stack}, false,
			"ended with exit status 2: panic: runtime error: index out of range [3] with length 3"},
		{"a fault in Go", exitState{Status: 2, Output: "fatal error: unexpected signal during runtime execution\n[signal " +
			"SIGSEGV: segmentation violation]" + stack}, false,
			"ended with exit status 2: fatal error: unexpected signal during runtime execution"},
		{"endless recursion", exitState{Status: 2,
			Output: "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow" + stack}, false,
			"ended with exit status 2: fatal error: stack overflow"},
		{"a deadlock", exitState{Status: 2, Output: "fatal error: all goroutines are asleep - deadlock!" + stack}, false,
			"ended with exit status 2: fatal error: all goroutines are asleep - deadlock!"},
		{"a fault in a library", exitState{Signal: syscall.SIGSEGV}, false, "was ended by SIGSEGV (segmentation fault)"},
		{"an assertion of a library", exitState{Signal: syscall.SIGABRT, Output: "Assertion `n > 0' failed.\n"}, false,
			"was ended by SIGABRT (aborted): Assertion `n > 0' failed."},
		{"a trial that speaks of memory", exitState{Status: 7, Output: "runtime: out of memory: I made this up\n"}, false,
			"ended with exit status 7: runtime: out of memory: I made this up"},
		{"many words", exitState{Status: 3, Output: strings.Repeat("x", 300)}, false, "ended with exit status 3: " +
			strings.Repeat("x", 200) + "..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.ending.trouble("it")
			// Threads and files are short for every trial; memory is, and a signal comes, perhaps for one.
			refused := strings.Contains(c.want, "could not start a thread") || strings.Contains(c.want, "could not open")
			if got.Machine != c.machine || got.Refused != refused || got.Reason != "it "+c.want ||
				got.Output != c.ending.Output {
				t.Errorf("%+v\nwant %v, %v, %q", got, c.machine, refused, c.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         exitState
	}{
		{"a status", "exit 7", exitState{Status: 7, Output: "o"}},
		{"a signal", "kill -9 $$", exitState{Signal: syscall.SIGKILL, Status: -1, Output: "o"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			_ = cmd.Run()
			if got := exitStateOf(cmd.ProcessState, "o"); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

//go:build (linux || darwin || freebsd) && (amd64 || arm64)

package dynamic_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"privkern/graphs/internal/dynamic"
)

// The error holds the reason why a library cannot be loaded, also while goroutines change threads.
func TestErrorsOfManyThreads(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if _, err := dynamic.Open("libnone.so.1"); err == nil || !strings.Contains(err.Error(), "libnone.so.1") {
					t.Errorf("error %q", err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}

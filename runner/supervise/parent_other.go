//go:build unix && !linux

package supervise

import "syscall"

// endsWithParent does nothing here: a child outlives a parent that is killed, and
// ends by itself.
func endsWithParent() *syscall.SysProcAttr { return nil }

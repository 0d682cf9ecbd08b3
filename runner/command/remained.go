package command

import "sync/atomic"

// remained is true where processes may be left that a program has started.
var remained atomic.Bool

// Remained reports whether processes may be left that a program has started. They end with
// the group of this worker.
func Remained() bool { return remained.Load() }

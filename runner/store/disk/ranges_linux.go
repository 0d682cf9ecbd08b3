package disk

import "golang.org/x/sys/unix"

// Open file description locks belong to the open file, not to the process:
// closing another handle on the file does not drop them.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)

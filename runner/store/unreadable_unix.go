//go:build unix

package store

import "golang.org/x/sys/unix"

// fileErrors are about the one file that is read.
var fileErrors = []error{unix.EISDIR, unix.EACCES, unix.EPERM, unix.EIO, unix.ELOOP, unix.EBADMSG, unix.ENXIO}

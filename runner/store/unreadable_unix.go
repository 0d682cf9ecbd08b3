//go:build unix

package store

import (
	"golang.org/x/sys/unix"

	"privkern/runner/store/disk"
)

// fileErrors are errors that concern a single file.
var fileErrors = []error{unix.EISDIR, unix.EACCES, unix.EPERM, unix.EIO, unix.ELOOP, unix.EBADMSG, unix.ENXIO,
	disk.ErrNotRegular}

// Package disk is the file system for files that must survive a crash: records, plans,
// releases and ledgers are written through a [Disk], which is [System] in every command.
// Tests replace it by a disk that loses power, fills up and fails (package disktest).
//
// # Durability
//
// The content of a file is durable when [File.Sync] returns. Its name is an entry of a
// folder, and durable when [Disk.SyncDir] of that folder returns; a rename from one folder
// to another is an entry in both. Unsynced changes may be lost or kept, in any order and in
// parts: a renamed file may lack its content. So [WriteFile] syncs the content, renames and
// syncs the folder, in this order, and [MakeFolder] syncs the folder above. The changes of
// a killed process are kept, but its unsynced changes stay unsynced: a process that relies
// on them must sync them.
//
// On Windows less is durable, because it cannot sync a folder, and [Disk.SyncDir] of
// [System] does nothing there. A rename is written through to the disk as far as
// Windows offers that; a new folder, a second name and a removal are in the journal
// of NTFS, which reaches the disk seconds later. After a loss of power the newest of
// them may be missing, so that a trial is run again and a release must be requested
// again; files with a name are whole.
package disk

import (
	"errors"
	"io"
	"io/fs"
)

// ErrHeld is the error of a lock that another process or goroutine holds.
var ErrHeld = errors.New("the lock is held")

// ErrNotRegular is the error of [Disk.Open] and [Disk.ReadFile] for a pipe, a socket or a device, whose reading may
// never end.
var ErrNotRegular = errors.New("not a regular file")

// Disk is a file system. Errors are those of package os: *[fs.PathError] with the
// error of the system, which [errors.Is] compares with [fs.ErrNotExist] and others.
// It is safe for concurrent use.
type Disk interface {
	// Open opens a file for reading.
	Open(path string) (io.ReadCloser, error)
	// ReadFile returns the content of a file.
	ReadFile(path string) ([]byte, error)
	// Names returns the names in a folder, in no order.
	Names(path string) ([]string, error)
	// Stat describes a file; Lstat, the link where it is one.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	// SameFile reports whether two descriptions are of one file.
	SameFile(a, b fs.FileInfo) bool

	// Mkdir makes one folder.
	Mkdir(path string, mode fs.FileMode) error
	// CreateTemp makes a new file with mode 0600, named by the pattern with a number
	// instead of the star.
	CreateTemp(dir, pattern string) (File, error)
	// Rename renames a file atomically and replaces a file of the new name. Windows
	// refuses that while another program has one of the two open; [System] waits at
	// most two seconds.
	Rename(from, to string) error
	// Link gives a file a second name, and fails where it exists.
	Link(file, name string) error
	// Touch sets the modification time of a file to now.
	Touch(path string) error
	// Remove removes a file, or a folder that is empty.
	Remove(path string) error
	// SyncDir makes the entries of a folder durable. It is no error on a file system that
	// cannot sync a folder.
	SyncDir(path string) error

	// RangeLocks opens a file for locks on its bytes, and makes a missing one.
	RangeLocks(path string) (RangeLocks, error)
	// RangeHeld reports whether anybody holds an exclusive lock on the bytes; length 0
	// extends to the end. It makes no file, and takes no lock except on Windows, which has
	// no query: there it shares the bytes for a moment, in which exclusive locks fail.
	RangeHeld(path string, start, length int64) (bool, error)
	// LockFile takes the lock of a file without waiting, and makes a missing file; it
	// returns [ErrHeld] where another holds the lock.
	LockFile(path string) (unlock func(), err error)
}

// File is a file that is being written.
type File interface {
	io.Writer
	Name() string
	Chmod(mode fs.FileMode) error
	// Sync makes the content durable.
	Sync() error
	Close() error
}

// RangeLocks are locks on single bytes of a file, which exclude other processes and other
// RangeLocks, but not their holder. They end with the process.
type RangeLocks interface {
	// Try takes the exclusive lock of a byte unless another holds one.
	Try(at int64) (ok bool, err error)
	// Share takes the shared lock of a byte unless another holds the exclusive one.
	Share(at int64) (ok bool, err error)
	// Unlock releases the lock of a byte.
	Unlock(at int64)
	// Close releases all locks.
	Close() error
}

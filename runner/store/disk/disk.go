// Package disk is what the project keeps its files on, as far as a crash matters:
// records, plans, releases and ledgers are written through a [Disk], which is
// [System] in every command. Tests put another in its place, which loses power,
// fills up and fails (package disktest).
//
// # What survives a crash
//
// A file survives with its content from the moment that [File.Sync] returns. Its
// name is an entry of a folder, and survives from the moment that [Disk.SyncDir]
// of that folder returns; a rename from one folder to another is an entry in
// both. What is not synced may be lost or kept, in any order and in parts: a
// renamed file may be there without its content. So [WriteFile] syncs the content,
// renames and syncs the folder, in this order, and [MakeFolder] syncs the folder
// above. A process that is killed loses nothing that it wrote, but what it did not
// sync stays unsynced: who relies on it syncs it.
//
// On Windows less survives, since it cannot sync a folder, and [Disk.SyncDir] of
// [System] does nothing there. A rename is written through to the disk as far as
// Windows offers that; a new folder, a second name and a removal are in the journal
// of NTFS, which reaches the disk seconds later. After a loss of power the newest of
// them may be missing, so that a trial is run again and a released file has to be
// asked for again; what has a name is whole.
package disk

import (
	"io"
	"io/fs"
)

// Disk is a file system. Errors are those of package os: *[fs.PathError] with the
// error of the system, which [errors.Is] holds against [fs.ErrNotExist] and such.
// It is safe for concurrent use.
type Disk interface {
	// Open opens a file for reading.
	Open(path string) (io.ReadCloser, error)
	// ReadFile returns what a file holds.
	ReadFile(path string) ([]byte, error)
	// Names returns the names in a folder, in no order.
	Names(path string) ([]string, error)
	// Stat describes a file; Lstat, the link where it is one.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	// SameFile says whether two descriptions are of one file.
	SameFile(a, b fs.FileInfo) bool

	// Mkdir makes one folder.
	Mkdir(path string, mode fs.FileMode) error
	// CreateTemp makes a new file whose name is the pattern with a number for the
	// star, with mode 0600.
	CreateTemp(dir, pattern string) (File, error)
	// Rename gives a file another name, in one step, in place of what has it.
	// Windows refuses that while another program has one of the two open, which
	// [System] waits for, two seconds at most.
	Rename(from, to string) error
	// Link gives a file a second name, and fails where something has it.
	Link(file, name string) error
	// Touch dates a file to now, as if it were written.
	Touch(path string) error
	// Remove removes a file, or a folder that is empty.
	Remove(path string) error
	// SyncDir makes the entries of a folder durable. File systems that cannot sync
	// a folder are none where that would help, and it is no error there.
	SyncDir(path string) error

	// RangeLocks opens a file for locks on its bytes, and makes it where it is not
	// there.
	RangeLocks(path string) (RangeLocks, error)
	// RangeHeld says whether anybody holds a lock on the bytes alone; length 0 is up
	// to the end. It makes no file, and takes no lock but on Windows, which cannot be
	// asked otherwise: there it shares the bytes for a moment, in which others who try
	// for one of them alone find it held.
	RangeHeld(path string, start, length int64) (bool, error)
	// LockFile takes the lock of a file, which it makes where it is not there,
	// without waiting; it returns [ErrHeld] where another has it.
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

// RangeLocks are locks on single bytes of a file, which exclude other processes
// and other RangeLocks, not their own holder. They end with the process.
type RangeLocks interface {
	// Try takes the lock of a byte unless another holds it.
	Try(at int64) (ok bool, err error)
	// Share takes it together with others who share it, unless another has it alone.
	Share(at int64) (ok bool, err error)
	// Unlock gives it back.
	Unlock(at int64)
	// Close gives all back.
	Close() error
}

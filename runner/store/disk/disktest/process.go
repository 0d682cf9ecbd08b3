package disktest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"privkern/runner/store/disk"
)

// Process is the disk in the view of a process.
type Process struct {
	disk    *Disk
	name    string
	killed  bool
	done    int // operations
	syncs   int // of folders
	killAt  int // the operation at which it is killed; 0 for none
	syncAt  int // the sync of a folder at which it is killed; 0 for none
	failAt  int // the operation that fails; 0 for none
	failure error
}

var _ disk.Disk = (*Process)(nil)

// Process returns a new process; its name is for Before.
func (d *Disk) Process(name string) *Process { return &Process{disk: d, name: name} }

// Name returns the name of the process.
func (p *Process) Name() string { return p.name }

// Kill ends the process.
func (p *Process) Kill() {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.kill()
}

// KillAt kills the process before its n-th operation from now, counted from 1. A write is two
// operations.
func (p *Process) KillAt(n int) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.killAt = p.done + n
}

// KillAtSync kills the process before its n-th sync of a folder from now: its changes are
// visible to others, and not durable.
func (p *Process) KillAtSync(n int) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.syncAt = p.syncs + n
}

// FailAt makes the n-th operation from now fail, or the first after it that can fail: writing
// operations with an input/output error, reading ones with too many open files.
func (p *Process) FailAt(n int) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.failAt = p.done + n
}

// Killed reports whether the process was killed.
func (p *Process) Killed() bool {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	return p.killed
}

// Failed reports whether an operation has failed because of [Process.FailAt].
func (p *Process) Failed() bool {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	return p.failure != nil
}

func (p *Process) kill() {
	p.killed = true
	for _, held := range p.disk.locks {
		for _, h := range held {
			maps.DeleteFunc(h, func(r *ranges, _ bool) bool { return r.process == p })
		}
	}
	maps.DeleteFunc(p.disk.whole, func(_ *node, holder *Process) bool { return holder == p })
}

// operationKind is the kind of an operation.
type operationKind int

const (
	reading operationKind = iota
	writing
	locking
)

// syncFolder is the name of an operation.
const syncFolder = "sync folder"

// do performs one operation.
func (p *Process) do(kind operationKind, operation, name string, f func() error) error {
	if p.disk.Before != nil && kind != locking {
		p.disk.Before(p, operation, name)
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.done++
	if p.killed || p.disk.root == nil {
		return ErrKilled
	}
	if operation == syncFolder {
		p.syncs++
	}
	if p.done == p.killAt || operation == syncFolder && p.syncs == p.syncAt {
		p.kill()
		return ErrKilled
	}
	err := p.fault(kind)
	if err == nil {
		err = f()
	}
	if err != nil {
		return &fs.PathError{Op: operation, Path: name, Err: err}
	}
	return nil
}

// fault returns the error of an operation that FailAt selected.
func (p *Process) fault(kind operationKind) error {
	if p.failAt == 0 || p.done < p.failAt || kind == locking {
		return nil
	}
	p.failAt = 0
	p.failure = syscall.EIO
	if kind == reading {
		p.failure = syscall.EMFILE // because EIO would concern the file
	}
	return p.failure
}

// Open implements [disk.Disk].
func (p *Process) Open(name string) (io.ReadCloser, error) {
	data, err := p.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// ReadFile implements [disk.Disk].
func (p *Process) ReadFile(name string) (data []byte, err error) {
	err = p.do(reading, "read", name, func() error {
		n, err := p.disk.find(name)
		if err == nil && n.folder {
			err = syscall.EISDIR
		}
		if err == nil {
			data = bytes.Clone(n.data)
		}
		return err
	})
	return data, err
}

// Names implements [disk.Disk].
func (p *Process) Names(name string) (names []string, err error) {
	err = p.do(reading, "list", name, func() error {
		n, err := p.disk.find(name)
		if err == nil && !n.folder {
			err = syscall.ENOTDIR
		}
		if err == nil {
			names = slices.Sorted(maps.Keys(n.entries))
		}
		return err
	})
	return names, err
}

// Stat implements [disk.Disk].
func (p *Process) Stat(name string) (i fs.FileInfo, err error) {
	err = p.do(reading, "stat", name, func() error {
		n, err := p.disk.find(name)
		if err == nil {
			i = info{path.Base(name), n, n.modified, int64(len(n.data))}
		}
		return err
	})
	return i, err
}

// Lstat implements [disk.Disk]; there are no symbolic links.
func (p *Process) Lstat(name string) (fs.FileInfo, error) { return p.Stat(name) }

// SameFile implements [disk.Disk].
func (p *Process) SameFile(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

// info describes a file.
type info struct {
	name     string
	node     *node
	modified time.Time
	size     int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.node.folder }
func (i info) Sys() any           { return i.node }
func (i info) Mode() fs.FileMode {
	if i.node.folder {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// Mkdir implements [disk.Disk].
func (p *Process) Mkdir(name string, _ fs.FileMode) error {
	return p.do(writing, "mkdir", name, func() error { return p.make(name, true) })
}

// make makes an empty file or folder.
func (p *Process) make(name string, folder bool) error {
	in, base, err := p.disk.parent(name)
	switch {
	case err != nil:
		return err
	case in.entries[base] != nil:
		return syscall.EEXIST
	case p.disk.free <= 0:
		return syscall.ENOSPC
	}
	p.disk.enter(change{{in, base, p.disk.newNode(folder)}})
	return nil
}

// CreateTemp implements [disk.Disk].
func (p *Process) CreateTemp(dir, pattern string) (f disk.File, err error) {
	err = p.do(writing, "create", path.Join(dir, pattern), func() error {
		name := path.Join(dir, strings.Replace(pattern, "*", fmt.Sprint(p.disk.nodes), 1))
		if err := p.make(name, false); err != nil {
			return err
		}
		n, err := p.disk.find(name)
		f = &file{p, name, n}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// file is a file that is being written.
type file struct {
	*Process
	name string
	node *node
}

func (f *file) Name() string { return f.name }

func (f *file) Chmod(fs.FileMode) error {
	return f.do(writing, "chmod", f.name, func() error { return nil })
}

// Write takes two operations, so that a kill may come between its halves.
func (f *file) Write(data []byte) (n int, err error) {
	for _, part := range [][]byte{data[:len(data)/2], data[len(data)/2:]} {
		err := f.do(writing, "write", f.name, func() error {
			fits := min(len(part), max(0, f.disk.free))
			f.disk.free -= fits
			f.node.data = append(bytes.Clone(f.node.data), part[:fits]...)
			f.node.modified = time.Now()
			n += fits
			if fits < len(part) {
				return syscall.ENOSPC
			}
			return nil
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (f *file) Sync() error {
	return f.do(writing, "sync", f.name, func() error {
		f.node.synced = f.node.data
		return nil
	})
}

func (f *file) Close() error {
	return f.do(writing, "close", f.name, func() error { return nil })
}

// Rename implements [disk.Disk].
func (p *Process) Rename(from, to string) error {
	return p.do(writing, "rename", from+" to "+to, func() error {
		a, old, err := p.disk.parent(from)
		if err != nil {
			return err
		}
		b, name, err := p.disk.parent(to)
		switch there := a.entries[old]; {
		case err != nil:
			return err
		case there == nil:
			return syscall.ENOENT
		case b.entries[name] != nil && (there.folder || b.entries[name].folder):
			return syscall.EISDIR
		default:
			p.disk.enter(change{{a, old, nil}, {b, name, there}})
			return nil
		}
	})
}

// Link implements [disk.Disk].
func (p *Process) Link(from, to string) error {
	return p.do(writing, "link", from+" to "+to, func() error {
		n, err := p.disk.find(from)
		if err != nil {
			return err
		}
		in, name, err := p.disk.parent(to)
		if err == nil && in.entries[name] != nil {
			err = syscall.EEXIST
		}
		if err == nil {
			p.disk.enter(change{{in, name, n}})
		}
		return err
	})
}

// Touch implements [disk.Disk].
func (p *Process) Touch(name string) error {
	return p.do(writing, "touch", name, func() error {
		n, err := p.disk.find(name)
		if err == nil {
			n.modified = time.Now()
		}
		return err
	})
}

// Remove implements [disk.Disk].
func (p *Process) Remove(name string) error {
	return p.do(writing, "remove", name, func() error {
		in, base, err := p.disk.parent(name)
		switch {
		case err != nil:
			return err
		case in.entries[base] == nil:
			return syscall.ENOENT
		case len(in.entries[base].entries) > 0:
			return syscall.ENOTEMPTY
		}
		p.disk.enter(change{{in, base, nil}})
		return nil
	})
}

// SyncDir implements [disk.Disk].
func (p *Process) SyncDir(name string) error {
	return p.do(writing, syncFolder, name, func() error {
		n, err := p.disk.find(name)
		if err == nil {
			p.disk.settle(n)
		}
		return err
	})
}

// ranges are the locks of one opening of a file.
type ranges struct {
	process *Process
	node    *node
}

// open returns a file for locks, and makes it.
func (p *Process) open(name string) (n *node, err error) {
	err = p.do(writing, "open", name, func() error {
		if err := p.make(name, false); err != nil && err != syscall.EEXIST { //nolint:errorlint // as it was made
			return err
		}
		n, err = p.disk.find(name)
		return err
	})
	return n, err
}

// RangeLocks implements [disk.Disk].
func (p *Process) RangeLocks(name string) (disk.RangeLocks, error) {
	n, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return &ranges{p, n}, nil
}

// holders are the openings that hold the lock of a byte, with true for an exclusive lock.
type holders map[*ranges]bool

func (r *ranges) Try(at int64) (ok bool, err error) { return r.take(at, true) }

func (r *ranges) Share(at int64) (ok bool, err error) { return r.take(at, false) }

func (r *ranges) take(at int64, alone bool) (ok bool, err error) {
	err = r.process.do(locking, "lock", "", func() error {
		held := r.process.disk.locks[r.node]
		if held == nil {
			held = map[int64]holders{}
			r.process.disk.locks[r.node] = held
		}
		for by, theirs := range held[at] {
			if by != r && (alone || theirs) {
				return nil
			}
		}
		if held[at] == nil {
			held[at] = holders{}
		}
		held[at][r], ok = alone, true
		return nil
	})
	return ok, err
}

func (r *ranges) Unlock(at int64) {
	_ = r.process.do(locking, "unlock", "", func() error {
		delete(r.process.disk.locks[r.node][at], r)
		return nil
	})
}

func (r *ranges) Close() error {
	return r.process.do(locking, "close", "", func() error {
		for _, h := range r.process.disk.locks[r.node] {
			delete(h, r)
		}
		return nil
	})
}

// RangeHeld implements [disk.Disk].
func (p *Process) RangeHeld(name string, start, length int64) (held bool, err error) {
	err = p.do(reading, "ask for locks", name, func() error {
		n, err := p.disk.find(name)
		if err == syscall.ENOENT { //nolint:errorlint // as find returns it
			return nil
		}
		for at, h := range p.disk.locks[n] {
			if at < start || length > 0 && at >= start+length {
				continue
			}
			for _, alone := range h {
				held = held || alone
			}
		}
		return err
	})
	return held, err
}

// LockFile implements [disk.Disk].
func (p *Process) LockFile(name string) (unlock func(), err error) {
	n, err := p.open(name)
	if err != nil {
		return nil, err
	}
	taken := false
	err = p.do(locking, "lock", name, func() error {
		if taken = p.disk.whole[n] == nil; taken {
			p.disk.whole[n] = p
		}
		return nil
	})
	if err == nil && !taken {
		err = disk.ErrHeld
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = p.do(locking, "unlock", name, func() error {
			delete(p.disk.whole, n)
			return nil
		})
	}, nil
}

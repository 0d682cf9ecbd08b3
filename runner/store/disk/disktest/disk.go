// Package disktest is a file system in memory that loses power, fills up and fails, for
// tests. Commands never use it.
//
// A [Disk] distinguishes durable from unsynced changes: the synced and the current content of
// each file, and the synced entries of each folder with the changes since. [Disk.PowerCut]
// returns a possible state after a loss of power: each unsynced change of an entry is kept or
// lost independently, and of unsynced content all, nothing, the first bytes, or a subset of
// its sectors is kept, with zeros for the rest. A rename is one change, even from one folder
// to another: it is kept or lost as a whole, and syncing either folder makes it durable.
// Locks are lost.
//
// Programs use a Disk through a [Process], which can be killed: its changes stay, synced or
// not, its locks end, and all of its later operations fail without effect.
package disktest

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrKilled is the error of the operations of a killed process.
var ErrKilled = errors.New("the process was killed")

// sector is the number of bytes that a disk writes atomically.
const sector = 512

// Disk is a file system with a root folder. Its paths are absolute.
type Disk struct {
	// Before, if not nil, is called before every operation except those on locks. It may
	// block, so that a test orders the operations of processes.
	Before func(p *Process, operation, path string)

	mu      sync.Mutex
	root    *node
	changes []*change // unsynced changes of entries, in order
	nodes   int       // number of nodes, for names of temporary files
	free    int       // bytes
	locks   map[*node]map[int64]holders
	whole   map[*node]*Process // holders of locks on whole files
}

// node is a file or a folder.
type node struct {
	folder   bool
	modified time.Time

	data, synced []byte // of a file: the current and the durable content

	entries, durable map[string]*node // of a folder
}

// change is the effect of one operation on the entries of folders.
type change []entry

// entry assigns a file, or none, to a name in a folder.
type entry struct {
	folder *node
	name   string
	to     *node // nil for none
}

// Unlimited is an argument of [Disk.SetFree].
const Unlimited = 1 << 62

// New returns an empty disk.
func New() *Disk {
	d := &Disk{free: Unlimited, locks: map[*node]map[int64]holders{}, whole: map[*node]*Process{}}
	d.root = d.newNode(true)
	return d
}

func (d *Disk) newNode(folder bool) *node {
	d.nodes++
	n := &node{folder: folder, modified: time.Now()}
	if folder {
		n.entries, n.durable = map[string]*node{}, map[string]*node{}
	}
	return n
}

// SetFree sets the number of bytes that can be written before the disk is full.
func (d *Disk) SetFree(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = bytes
}

// split returns the elements of a path.
func split(name string) []string {
	name = strings.Trim(path.Clean(name), "/")
	if name == "" || name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// find returns a file or folder.
func (d *Disk) find(name string) (*node, error) {
	n := d.root
	for _, part := range split(name) {
		if !n.folder {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.entries[part]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// parent returns the folder that a name is in, and its last part.
func (d *Disk) parent(name string) (*node, string, error) {
	folder, err := d.find(path.Dir(path.Clean(name)))
	if err == nil && !folder.folder {
		err = syscall.ENOTDIR
	}
	return folder, path.Base(path.Clean(name)), err
}

// enter makes an unsynced change.
func (d *Disk) enter(c change) {
	c.apply(func(n *node) map[string]*node { return n.entries })
	d.changes = append(d.changes, &c)
}

func (c change) apply(entries func(*node) map[string]*node) {
	for _, e := range c {
		if e.to == nil {
			delete(entries(e.folder), e.name)
		} else {
			entries(e.folder)[e.name] = e.to
		}
	}
}

func durable(n *node) map[string]*node { return n.durable }

// settle makes the changes of a folder durable.
func (d *Disk) settle(folder *node) {
	d.changes = slices.DeleteFunc(d.changes, func(c *change) bool {
		touched := slices.ContainsFunc(*c, func(e entry) bool { return e.folder == folder })
		if touched {
			c.apply(durable)
		}
		return touched
	})
}

// PowerCut ends all processes and returns the disk in a possible state after a loss of power.
func (d *Disk) PowerCut(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	// The probability is drawn first, so that all or nothing is kept often.
	kept := []float64{0, 0.2, 0.5, 0.8, 1}[rng.IntN(5)]
	for _, c := range d.changes {
		if rng.Float64() < kept {
			c.apply(durable)
		}
	}
	after := New()
	after.nodes = d.nodes
	after.adopt(d.root, map[*node]*node{d.root: after.root}, rng)
	d.root, d.changes = nil, nil // later operations fail
	return after
}

// adopt copies the durable entries of a folder, each file once.
func (d *Disk) adopt(folder *node, copies map[*node]*node, rng *rand.Rand) {
	to := copies[folder]
	for _, name := range slices.Sorted(maps.Keys(folder.durable)) {
		n := folder.durable[name]
		c, done := copies[n]
		if !done {
			c = d.newNode(n.folder)
			c.modified = n.modified
			copies[n] = c
			if n.folder {
				d.adopt(n, copies, rng)
			} else {
				c.data = n.survives(rng)
				c.synced = c.data
			}
		}
		to.entries[name], to.durable[name] = c, c
	}
}

// survives returns a possible content of a file after a loss of power.
func (n *node) survives(rng *rand.Rand) []byte {
	if string(n.data) == string(n.synced) {
		return n.synced
	}
	switch rng.IntN(4) {
	case 0:
		return n.data
	case 1:
		return n.synced
	case 2:
		return n.data[:rng.IntN(len(n.data)+1)]
	}
	left := make([]byte, len(n.data))
	copy(left, n.synced)
	for at := 0; at < len(left); at += sector {
		if rng.IntN(2) == 0 {
			copy(left[at:min(at+sector, len(left))], n.data[at:])
		}
	}
	return left
}

// Look returns the current content of a file, without a process; nil for none.
func (d *Disk) Look(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, err := d.find(name); err == nil && !n.folder {
		return n.data
	}
	return nil
}

// List returns the names in a folder in order, without a process; nil for no folder.
func (d *Disk) List(name string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, err := d.find(name); err == nil && n.folder {
		return slices.Sorted(maps.Keys(n.entries))
	}
	return nil
}

// Plant replaces the content of an existing file durably, to simulate a bad sector or a change
// by a person.
func (d *Disk) Plant(name string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil || n.folder {
		return &fs.PathError{Op: "plant", Path: name, Err: errors.Join(err, fs.ErrInvalid)}
	}
	n.data, n.synced = data, data
	for folder := path.Clean(name); folder != "/"; {
		folder = path.Dir(folder)
		above, err := d.find(folder)
		if err != nil {
			return err
		}
		d.settle(above)
	}
	return nil
}

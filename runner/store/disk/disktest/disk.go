// Package disktest is a file system in memory that loses power, fills up and fails,
// for tests of what must survive that. Commands never use it.
//
// A [Disk] knows what is durable and what is not yet. Of each file it has the
// content that was synced and the one that was written since; of each folder, the
// entries that were synced and the changes since. [Disk.PowerCut] returns what a
// machine may find after it has lost power: every change of an entry that was not
// synced is there or not, independently of all others, and of a content that was
// not synced there is all, nothing, the first bytes, or any of its sectors, with
// zeros for the rest. A rename is one change, also from one folder to another: it
// has happened or it has not, and syncing either folder makes it durable. Locks are
// gone.
//
// Programs see a Disk through a [Process], which can be killed: what it did stays,
// synced or not, its locks end, and everything that it does afterwards fails and
// changes nothing.
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

// ErrKilled is what a process gets that has been killed.
var ErrKilled = errors.New("the process was killed")

// sector is the number of bytes that a disk writes as a whole or not at all.
const sector = 512

// Disk is a file system with a root folder. Its paths are absolute.
type Disk struct {
	// Before is called before every operation but those on locks, if it is not
	// nil, and may block: so a test decides which process comes next.
	Before func(p *Process, operation, path string)

	mu      sync.Mutex
	root    *node
	changes []*change // of entries, not durable yet, in their order
	nodes   int       // made so far, for names of temporary files
	free    int       // bytes
	locks   map[*node]map[int64]holders
	whole   map[*node]*Process // who has the lock of a file as a whole
}

// node is a file or a folder.
type node struct {
	folder   bool
	modified time.Time

	data, synced []byte // of a file: what it holds, and what of it is durable

	entries, durable map[string]*node // of a folder
}

// change is what one operation does to the entries of folders.
type change []entry

// entry is a name in a folder that becomes that of a file, or of none.
type entry struct {
	folder *node
	name   string
	to     *node // nil for none
}

// Unlimited is space without end.
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

// SetFree says how many bytes can be written before the disk is full.
func (d *Disk) SetFree(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = bytes
}

// split returns the names on the way to a file.
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

// enter makes a change, which is not durable yet.
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

// settle makes the changes durable that touch a folder.
func (d *Disk) settle(folder *node) {
	d.changes = slices.DeleteFunc(d.changes, func(c *change) bool {
		touched := slices.ContainsFunc(*c, func(e entry) bool { return e.folder == folder })
		if touched {
			c.apply(durable)
		}
		return touched
	})
}

// PowerCut ends all processes and returns what the disk holds once there is power
// again.
func (d *Disk) PowerCut(rng *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Seldom is either all or nothing kept where each is drawn by itself.
	kept := []float64{0, 0.2, 0.5, 0.8, 1}[rng.IntN(5)]
	for _, c := range d.changes {
		if rng.Float64() < kept {
			c.apply(durable)
		}
	}
	after := New()
	after.nodes = d.nodes
	after.adopt(d.root, map[*node]*node{d.root: after.root}, rng)
	d.root, d.changes = nil, nil // nobody goes on with it
	return after
}

// adopt copies what is durable of a folder, each file once.
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

// survives returns what is left of the content of a file.
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

// Look returns what a file holds at present, without a process; nil where there is
// none.
func (d *Disk) Look(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, err := d.find(name); err == nil && !n.folder {
		return n.data
	}
	return nil
}

// List returns the names in a folder in order, without a process; none where there
// is no folder.
func (d *Disk) List(name string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, err := d.find(name); err == nil && n.folder {
		return slices.Sorted(maps.Keys(n.entries))
	}
	return nil
}

// Plant puts another content into a file that is there, durably, as a bad sector or
// a person does.
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

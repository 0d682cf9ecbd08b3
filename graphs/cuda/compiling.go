//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/kernels"
)

// lockFile is locked by the process that compiles, in the folder of compiled kernels. The system releases
// the lock of a process that dies.
const lockFile = "compiling.lock"

const (
	lockLook = 20 * time.Millisecond // between two looks at a lock that another process has
	// lockPatience is how long another process is waited for: one that is stopped, or hangs, has the lock for
	// ever. Two that compile at once only do it twice.
	lockPatience = 2 * time.Minute
)

// lockCompiler waits until no other process of the machine compiles kernels. Where the folder takes no locks
// it does not wait: files are kept whole all the same.
func lockCompiler(folder string) (unlock func()) {
	if os.MkdirAll(folder, 0o755) != nil {
		return func() {}
	}
	f, err := os.OpenFile(filepath.Join(folder, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return func() {}
	}
	for start := time.Now(); time.Since(start) < lockPatience; time.Sleep(lockLook) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return func() { _ = f.Close() }
}

// loader loads code into a device.
type loader func(image []byte) (driver.Module, error)

// cached loads the code that the cache keeps, and reports whether there was some. A file that is damaged, or
// that the driver refuses, counts as missing.
func (c *compilation) cached(load loader) (loaded driver.Module, found bool) {
	image := readCache(c.file)
	if image == nil {
		return loaded, false
	}
	loaded, err := load(image)
	return loaded, err == nil
}

// alone compiles, loads and keeps code while no other process does, or loads the code that another one
// has kept meanwhile.
func (c *compilation) alone(compile func() ([]byte, error), load loader) (loaded driver.Module, err error) {
	unlock := func() {}
	if c.unwritable == nil {
		unlock = lockCompiler(filepath.Dir(c.file))
	}
	defer unlock()
	if loaded, found := c.cached(load); found {
		return loaded, nil
	}
	image, err := compile()
	if err != nil {
		return loaded, err
	}
	if loaded, err = load(image); err != nil {
		return loaded, err
	}
	unwritable := c.unwritable
	if unwritable == nil {
		unwritable = writeCache(c.file, image)
	}
	noteCache(unwritable)
	return loaded, nil
}

// notice tells the user once in a process that kernels are being compiled, when that has taken a while.
type notice struct {
	mu    sync.Mutex
	say   func(text string)
	spent time.Duration
}

// noticeAfter is how long compilations take in all before there is a notice.
var noticeAfter = time.Second

var compilations notice

// OnCompiling sets the function that gets one line for the user, once, when kernels are compiled for more than
// a second. It may be called from another goroutine.
func OnCompiling(say func(text string)) {
	compilations.mu.Lock()
	defer compilations.mu.Unlock()
	compilations.say = say
}

// begin is the beginning of a compilation, and returns the function that is its end.
func (n *notice) begin(text string) (end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	start := time.Now()
	timer := time.AfterFunc(noticeAfter-n.spent, func() {
		n.mu.Lock()
		say := n.say
		n.say = nil
		n.mu.Unlock()
		if say != nil {
			say(text)
		}
	})
	return func() {
		timer.Stop()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.spent += time.Since(start)
	}
}

// announce begins a compilation, or the wait for that of another process, which is reported if it takes long, and
// returns the function that is its end.
func (g *gpu) announce() (end func()) {
	return compilations.begin(fmt.Sprintf("kernels for %s (compute capability %d.%d) are compiled, by one process at a "+
		"time, and kept for later runs; run doctor has the reason", g.info.Name, g.info.Major, g.info.Minor))
}

// Prepare compiles all kernels of an element type, "float64" or "float32", where those of the test problem had to
// be compiled: once, before several processes need them, which also report errors. The device must be open.
func Prepare(dtype string) {
	shared.Lock()
	g := shared.gpu
	shared.Unlock()
	if g == nil || !g.origins.compiled() {
		return
	}
	p := part{dtype: tensor.Float64}
	if dtype == tensor.Float32.String() {
		p.dtype = tensor.Float32
	}
	_ = g.call(func() error {
		for _, p.unit = range kernels.Units() {
			_, _ = g.module(p)
		}
		return nil
	})
}

// compiled reports whether kernels were compiled.
func (o *origins) compiled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.why != nil
}

// Kernels describes where the kernels of the open device come from; it is empty where none is loaded.
func Kernels() string {
	shared.Lock()
	g := shared.gpu
	shared.Unlock()
	if g == nil {
		return ""
	}
	o := &g.origins
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) == 0 {
		return ""
	}
	var names []string
	for _, t := range slices.Backward(targets) {
		names = append(names, t.String())
	}
	text := fmt.Sprintf("kernels in the program for %s: %s", strings.Join(names, ", "), strings.Join(o.all, ", "))
	if o.why != nil {
		folder, _ := cacheFolder()
		text += fmt.Sprintf(" and kept in %s; %v", folder, o.why)
	}
	return text
}

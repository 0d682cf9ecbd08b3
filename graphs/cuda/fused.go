//go:build linux && (amd64 || arm64)

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// fusionVariable is the environment variable that decides when element-wise operations are fused.
// Results have the same bits in all cases.
const fusionVariable = "PRIVKERN_FUSION"

// Values of the variable.
const (
	fuseWhenItPays = "auto"
	fuseAlways     = "always"
	fuseNever      = "never"
)

// fusionMode reads the variable.
func fusionMode() (string, error) {
	switch set := cmp.Or(os.Getenv(fusionVariable), fuseWhenItPays); set {
	case fuseWhenItPays, fuseAlways, fuseNever:
		return set, nil
	default:
		return "", fmt.Errorf("%s is %q: it must be %s, %s or %s", fusionVariable, set, fuseWhenItPays, fuseAlways, fuseNever)
	}
}

// A fused kernel that the cache does not keep is compiled once the runs without it have lost as
// much time as its compilation takes: the total is then at most twice the optimum for a known
// number of runs. NVRTC 12.0 takes 35 to 40 ms for a chain of two steps and 60 ms for one of
// twelve, on one core, mostly for its start; a launch and the speed of memory are those of NVIDIA's
// data sheets.
const (
	compileSeconds     = 40e-3
	compileStepSeconds = 3e-3
	launchSeconds      = 5e-6
	bytesPerSecond     = 1e12
)

// chainKernel is the kernel of all chains with the same source, for all sizes.
type chainKernel struct {
	mu          sync.Mutex // of all but the compilation
	compilation *compilation
	looked      bool // whether the cache keeps it
	ready       bool
	module      driver.Module
	function    driver.Function
	lost        float64 // seconds that runs without it have lost
	err         error
}

// chainKey identifies a [chainKernel].
type chainKey struct {
	dtype  tensor.Dtype
	source string
}

// fused is a chain of operations of one executor: an [engine.Fused].
type fused struct {
	d      *device
	chain  *kernels.Chain
	dtype  tensor.Dtype
	kernel *chainKernel
	words  []uint64 // the kernel's arguments, with the addresses of the last launch
}

var _ engine.Fuser = (*device)(nil)

// FusedWords implements [engine.Fuser]: it fuses where NVRTC is there.
func (d *device) FusedWords() int {
	if d.gpu.libs.nvrtc == nil || d.gpu.fusion == fuseNever {
		return 0
	}
	return kernels.MaxWords
}

// Fuse implements [engine.Fuser].
func (d *device) Fuse(c *kernels.Chain, dtype tensor.Dtype) (engine.Fused, error) {
	g := d.gpu
	source, err := c.Source()
	if err != nil {
		return nil, err
	}
	g.building.Lock()
	defer g.building.Unlock()
	key := chainKey{dtype, source}
	k := g.chains[key]
	if k == nil {
		k = new(chainKernel)
		if k.compilation, err = g.compilation(source, part{kernels.Elements, dtype}); err != nil {
			return nil, err
		}
		g.chains[key] = k
	}
	return &fused{d: d, chain: c, dtype: dtype, kernel: k, words: c.Words()}, nil
}

// Ready implements [engine.Fused]. While another run compiles the kernel it is not: the
// operations one by one have the same bits.
func (f *fused) Ready() (bool, error) {
	g, k := f.d.gpu, f.kernel
	if !k.mu.TryLock() {
		return false, nil
	}
	defer k.mu.Unlock()
	if k.ready || k.err != nil {
		return k.ready, k.err
	}
	if !k.looked {
		k.looked = true
		err := f.d.on(func(*lane) error {
			if m, found := g.loadCached(k.compilation); found {
				return f.use(m)
			}
			return nil
		})
		if errors.Is(err, engine.ErrOutOfDeviceMemory) {
			k.looked = false
			return false, nil
		}
		if err != nil || k.ready {
			return k.ready, err
		}
	}
	if k.lost += f.saving(); g.fusion == fuseWhenItPays && k.lost < f.compilation() {
		return false, nil
	}
	err := f.d.on(func(*lane) error {
		m, err := g.compile(k.compilation)
		if err != nil {
			return err
		}
		return f.use(m)
	})
	if errors.Is(err, engine.ErrOutOfDeviceMemory) { // the operations one by one may have room
		k.lost = 0
		return false, nil
	}
	if err != nil && g.gone() == nil {
		k.err = fmt.Errorf("%v in one kernel: %w; %s=%s computes without it", f, err, fusionVariable, fuseNever)
		return false, k.err
	}
	return k.ready, err
}

// use takes the kernel from a module.
func (f *fused) use(m driver.Module) (err error) {
	f.kernel.module = m
	if f.kernel.function, err = f.d.gpu.api.Function(m, kernels.ChainKernel); err != nil {
		return f.d.gpu.failed("a fused kernel", err)
	}
	f.kernel.ready = true
	return nil
}

// compilation is the time to compile the kernel, in seconds.
func (f *fused) compilation() float64 {
	return compileSeconds + compileStepSeconds*float64(len(f.chain.Steps))
}

// saving is the time that one run saves with the kernel, in seconds: launches, and copies to memory
// and back.
func (f *fused) saving() float64 {
	moved := -f.chain.Inputs - len(f.chain.Out)
	for _, s := range f.chain.Steps {
		moved += len(s.Operands) + 1
	}
	bytes := float64(max(0, moved)) * float64(f.chain.N) * float64(f.dtype.Size())
	return launchSeconds*float64(len(f.chain.Steps)-1) + bytes/bytesPerSecond
}

// String names the operations.
func (f *fused) String() string {
	names := make([]string, len(f.chain.Steps))
	for i, s := range f.chain.Steps {
		names[i] = s.Function
	}
	return strings.Join(names, ", ")
}

// Launch implements [engine.Fused].
func (f *fused) Launch(out, in []engine.DTensor) error {
	place(f.words, in)
	place(f.words[len(f.words)-1-len(out):], out)
	grid := f.chain.Grid()
	g := f.d.gpu
	return f.d.on(func(l *lane) error {
		if err := g.api.Launch(f.kernel.function, grid.Blocks, 1, grid.X, grid.Y, l.stream, f.words); err != nil {
			return g.failed(fmt.Sprintf("the kernel of %v", f), err)
		}
		return nil
	})
}

// place sets the first words to the addresses of tensors.
func place(words []uint64, tensors []engine.DTensor) {
	for i, t := range tensors {
		words[i] = uint64(t.Buf.(*buffer).block)
	}
}

// Package engine builds programs, which are gorgonia graphs, and runs them.
//
// A [Program] describes a graph from named inputs to named outputs. An [Engine] builds
// it once per shape and element type, keeps it, and runs it on its backend. An
// [Executor] hands the operations of one graph to a [Device], in topological order or, on the
// CPU, several at a time where that pays, and frees every value after its last use.
//
// # Why another executor
//
// Gorgonia's own machines keep every value of a graph, and its build tags decide where they
// compute. A program here is a function of its inputs: outputs belong to the caller, and all
// other values are freed. Package op defines the operations and [Device] the memory, so that
// the executor is independent of both.
//
// # Numbers
//
// A matrix is row-major, n×d with points as rows; a scalar is a value without
// dimensions. All values of a graph have one element type. Where float32 does not resolve
// a result, the caller runs the program in float64 with [Engine.RunAs], and records that with
// [Engine.Warn].
//
// Results do not depend on the number of workers: parallel loops split their work into
// tiles of fixed size, each tile is summed in one order, and the BLAS library runs on
// one thread. Nor do they depend on which steps of a graph run at the same time. They do
// depend on the backend, on the BLAS and on the processor's kernels, in the last digits.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine/counts"
	"privkern/graphs/parallel"
)

// ErrClosed is returned by an engine after Close.
var ErrClosed = errors.New("the engine is closed")

// Engine runs programs on one backend in one element type. It is safe for
// concurrent use: goroutines that run at the same time get graphs of their
// own.
//
// Its caches are bounded: maxIdle executors with their constants, and on the CPU 256 MiB of
// memory for each element type. [Resident] values belong to their owners.
type Engine struct {
	counts.Counter

	backend string
	dtype   tensor.Dtype
	blas    cpublas.Info
	pool    *parallel.Pool
	device  func() Device // a device for one executor
	accel   Accelerator   // nil on the CPU
	// residents are the values that stay in the backend's memory.
	residents *residents

	mu       sync.Mutex
	idle     []idleExecutor // least recently used first
	warnings map[string]bool
	closed   bool
}

// idleExecutor is an executor between runs of programs with its key.
type idleExecutor struct {
	key string
	x   *Executor
}

// maxIdle bounds the executors that an engine keeps for later runs.
const maxIdle = 64

// Open returns an engine for a backend ("cpu", or "cuda" where there is one, see
// [Register]) and an element type ("float64" or "float32"). One call computes on at
// most workers goroutines, its own included, and concurrent calls share the workers
// other than their own; 0 stands for one per processor.
//
// Open fails with [ErrNoCUDA] for "cuda" in a build without it, with the reason where
// CUDA cannot be used, and where the BLAS library that PRIVKERN_BLAS names cannot be
// used.
func Open(backend, dtype string, workers int) (*Engine, error) {
	if backend != "cpu" && backend != "cuda" {
		return nil, fmt.Errorf("unknown backend %q: it must be cpu or cuda", backend)
	}
	e := &Engine{backend: backend, warnings: map[string]bool{}}
	e.residents = newResidents(e.counting)
	switch dtype {
	case "float64":
		e.dtype = tensor.Float64
	case "float32":
		e.dtype = tensor.Float32
	default:
		return nil, fmt.Errorf("unknown element type %q: it must be float64 or float32", dtype)
	}
	switch {
	case workers < 0:
		return nil, fmt.Errorf("%d workers: the number must not be negative", workers)
	case workers == 0:
		workers = runtime.GOMAXPROCS(0)
	}
	if e.blas = cpublas.Setup(); e.blas.Err != "" {
		return nil, errors.New(e.blas.Err)
	}
	e.pool = parallel.NewPool(workers)
	if backend == "cpu" {
		spare := new(spares)
		e.device = func() Device { return newHostDevice(e.pool, spare) }
		return e, nil
	}
	accel, err := openAccelerator(backend)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", backend, err)
	}
	e.accel, e.device = accel, accel.Device
	return e, nil
}

// Opener is [Open] for a runner, which holds engines and does not import graphs.
func Opener(backend, dtype string, workers int) (io.Closer, error) {
	return Open(backend, dtype, workers)
}

// Of returns the engine that [Opener] opened.
func Of(opened io.Closer) *Engine { return opened.(*Engine) }

// Backend is "cpu" or "cuda".
func (e *Engine) Backend() string { return e.backend }

// DType is "float64" or "float32".
func (e *Engine) DType() string { return e.dtype.String() }

// ElementType is DType as package tensor's type.
func (e *Engine) ElementType() tensor.Dtype { return e.dtype }

// BLAS describes the library that computes matrix products on the CPU.
func (e *Engine) BLAS() cpublas.Info { return e.blas }

// Accelerator returns the device and its driver, such as "NVIDIA H100, driver
// 550.54, CUDA 12.4"; it is empty on the CPU.
func (e *Engine) Accelerator() string {
	if e.accel == nil {
		return ""
	}
	return e.accel.String()
}

// Workers returns the bound of the engine's own parallelism.
func (e *Engine) Workers() int { return e.pool.Workers() }

// ParallelFor calls f for the tiles [0,tile), [tile,2·tile), … of [0,n) on at
// most Workers goroutines, which all loops of the engine share. The result does
// not depend on their number as long as the tiles are independent. It returns
// the error of the first tile that fails, or the context's; a panic in f is
// returned as an error.
func (e *Engine) ParallelFor(ctx context.Context, n, tile int, f func(lo, hi int) error) error {
	return e.pool.For(ctx, n, tile, f)
}

// Warnings returns the warnings about results that are computed but suspect, each once, in
// alphabetical order.
func (e *Engine) Warnings() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := make([]string, 0, len(e.warnings))
	for s := range e.warnings {
		w = append(w, s)
	}
	slices.Sort(w)
	return w
}

// Warn records a warning.
func (e *Engine) Warn(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.warnings[fmt.Sprintf(format, args...)] = true
}

// Warned calls f and returns its warnings in alphabetical order, including those that the
// engine had before. Nothing else may use the engine meanwhile. The engine adds them to its
// own.
func (e *Engine) Warned(f func() error) (given []string, err error) {
	swap := func(to map[string]bool) (from map[string]bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		from, e.warnings = e.warnings, to
		return from
	}
	before := swap(map[string]bool{})
	defer func() { // in a panic too
		given = slices.Sorted(maps.Keys(swap(before)))
		for _, text := range given {
			e.Warn("%s", text)
		}
	}()
	return nil, f()
}

// Programs returns the names of the programs that the engine keeps for later runs,
// each once, in alphabetical order.
func (e *Engine) Programs() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for _, i := range e.idle {
		names = append(names, i.x.graph.Program)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Close closes executors, resident values and the accelerator. Runs that have begun may
// finish.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, i := range e.idle {
		i.x.Close()
	}
	closed := e.closed
	e.idle, e.closed = nil, true
	e.residents.close()
	if e.accel != nil && !closed {
		return e.accel.Close()
	}
	return nil
}

// Run runs a program once. The inputs are not written to; in float64 they may be
// shared with the values that are passed, which must not change during the run.
//
// Where an operation fails for some members of a batch, the run goes on for the others:
// the outputs, NaN for those members, come together with an error in which errors.As finds
// an [op.MembersError]. Every other error comes without outputs.
func (e *Engine) Run(ctx context.Context, p Program, inputs Values, options ...RunOption) (Values, error) {
	return e.RunAs(ctx, e.dtype, p, inputs, options...)
}

// RunAs runs a program once in an element type of its own: in float64 where float32 does not
// resolve the result, in float32 where that suffices. The inputs must have that element type.
func (e *Engine) RunAs(ctx context.Context, dtype tensor.Dtype, p Program, inputs Values,
	options ...RunOption) (Values, error) {
	s, err := e.SessionAs(dtype, p)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.x.Run(ctx, inputs, staying(options)...)
}

// Session is a program that one goroutine runs many times. A loop over a parameter is
// a session: the graph is built and its pinned inputs are uploaded once.
type Session struct {
	engine *Engine
	key    string
	x      *Executor
}

// Session prepares a program for many runs from one goroutine. Close returns the graph to
// the engine, for other sessions.
func (e *Engine) Session(p Program) (*Session, error) { return e.SessionAs(e.dtype, p) }

// SessionAs is Session in an element type of its own, as [Engine.RunAs].
func (e *Engine) SessionAs(dtype tensor.Dtype, p Program) (*Session, error) {
	key := dtype.String() + " " + p.Key
	x, err := e.take(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if x == nil {
		g, err := Build(p, dtype)
		if err != nil {
			return nil, err
		}
		if x, err = e.residents.executor(g); err != nil {
			return nil, err
		}
	}
	return &Session{engine: e, key: key, x: x}, nil
}

// Pin keeps an input on the device for all following runs of the session. A resident value
// is not copied; the session keeps its memory, also after the value is closed.
func (s *Session) Pin(name string, v gorgonia.Value) error { return s.x.Pin(name, v) }

// Run runs the session's program. Members of a batch that fail leave the others' outputs,
// as in [Engine.Run].
func (s *Session) Run(ctx context.Context, inputs Values, options ...RunOption) (Values, error) {
	return s.x.Run(ctx, inputs, staying(options)...)
}

// Close returns the program to the engine. The session cannot be used again.
func (s *Session) Close() {
	if s.x != nil {
		s.x.Unpin()
		s.engine.give(s.key, s.x)
		s.x = nil
	}
}

// take returns an idle executor of a program, the one that was used last, or nil.
func (e *Engine) take(key string) (*Executor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	for i := len(e.idle) - 1; i >= 0; i-- {
		if e.idle[i].key == key {
			x := e.idle[i].x
			e.idle = slices.Delete(e.idle, i, i+1)
			return x, nil
		}
	}
	return nil, nil // not an error: there is none yet
}

// give keeps an executor for the next run, at the expense of the one that has waited
// longest.
func (e *Engine) give(key string, x *Executor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		x.Close()
		return
	}
	if len(e.idle) == maxIdle {
		e.idle[0].x.Close()
		e.idle = slices.Delete(e.idle, 0, 1)
	}
	e.idle = append(e.idle, idleExecutor{key, x})
}

// FellBack ends the warning of an operation without a kernel.
const FellBack = "and was computed on the host"

// fellBack warns once for each operation.
func (e *Engine) fellBack(op string) { e.Warn("%s has no kernel on %s %s", op, e.backend, FellBack) }

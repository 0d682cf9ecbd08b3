// Package kernels holds the CUDA kernels, as source in CUDA C and as types of
// Go, one for each kernel, whose fields are its parameters in their order. A
// launch is a value of such a type, so that the compiler of Go checks it, and [Check]
// compares the types with the source. The package needs neither a device nor CUDA.
//
// The kernels of single elements are made from their types and from functions in
// elements.cu: one function each ([Elementwise]), or a [Chain] of them, which gives the
// same bits.
//
// Matrices are row-major. REAL in the source is the element type, float64 or
// float32.
package kernels

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// Kernel is a kernel with its arguments. The type's name is the kernel's, in
// camel case; a field is an [Matrix] (REAL *), [Doubles] (double *), [Flag]
// (int *), [Integers] (Int *), [Truth] (Byte *), int or bool (Int) or float64 (double), and an embedded
// struct stands for its own fields.
type Kernel interface {
	// Grid is the number and the shape of the blocks; see the source.
	Grid() Grid
}

// Matrix is a row-major matrix of the element type in the memory of a device. A
// scalar is 1×1, a vector one row. The zero value stands for no matrix.
type Matrix struct {
	At         uintptr
	Rows, Cols int
}

// MatrixOf returns a tensor as a matrix: a scalar is 1×1, a vector one row, and of more
// dimensions all but the first are columns.
func MatrixOf(at uintptr, shape ...int) Matrix {
	m := Matrix{At: at, Rows: 1, Cols: 1}
	if len(shape) > 1 {
		m.Rows, shape = shape[0], shape[1:]
	}
	for _, n := range shape {
		m.Cols *= n
	}
	return m
}

// Size is the number of elements.
func (m Matrix) Size() int { return m.Rows * m.Cols }

// Doubles is the address of float64 numbers, for either element type.
type Doubles uintptr

// Flag is the address of a 32-bit integer that is zero unless an operation
// failed.
type Flag uintptr

// Integers is the address of integers of 64 bits.
type Integers uintptr

// Truth is the address of truth values, a byte each.
type Truth uintptr

// Grid is the number and the shape of a launch's blocks.
type Grid struct{ Blocks, X, Y int }

// MaxWords is the largest number of a kernel's arguments: with the drivers of CUDA 12.0 they take
// 4 KiB at most (CUDA C++ Programming Guide, function parameters).
const MaxWords = 4096 / 8

const (
	block = 256 // BLOCK of the source
	// Kernels stride over the elements beyond maxBlocks.
	maxBlocks = 8192
)

// Each is a grid of one thread for each of n elements.
func Each(n int) Grid { return Grid{min((n+block-1)/block, maxBlocks), block, 1} }

// Rows is a grid of one block for each row.
func Rows(n int) Grid { return Grid{min(n, maxBlocks), block, 1} }

// one is a single block.
var one = Grid{1, block, 1}

// columns is a grid for kernels that do 32 columns of each of some chunks with 32×8 threads.
func columns(n, chunks int) Grid { return Grid{(n + 31) / 32 * chunks, 32, 8} }

// tiles is a grid of side×side tiles with x×y threads.
func tiles(rows, cols, side, x, y int) Grid {
	return Grid{((rows + side - 1) / side) * ((cols + side - 1) / side), x, y}
}

// Pack returns the name of a kernel in the source, and its arguments in 64 bits
// each, for a launch that is no batch.
func Pack(k Kernel) (name string, words []uint64) {
	return PackBatch(nil, k, func(uintptr) int { return 0 })
}

// PackBatch is Pack for a batch, with one block in y for each member. stride returns the number
// of elements from the memory of a member to that of the next, given the address of the first
// one's; it is 0 for operands that all members share. [Elementwise] kernels compute no batches.
// The arguments are appended to words, which saves an allocation.
func PackBatch(words []uint64, k Kernel, stride func(at uintptr) int) (name string, all []uint64) {
	v := reflect.ValueOf(k)
	var room [16]uint64
	words, addresses := pack(words, room[:0], v)
	if UnitOf(k) != Elements {
		for _, at := range addresses {
			words = append(words, uint64(stride(uintptr(at))))
		}
	}
	return nameOf(v.Type()), words
}

// pack appends the arguments to words, and the addresses among them to addresses.
func pack(words, addresses []uint64, v reflect.Value) (all, at []uint64) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.Struct:
			if f.Type() == matrixType {
				words, addresses = append(words, f.Field(0).Uint()), append(addresses, f.Field(0).Uint())
			} else {
				words, addresses = pack(words, addresses, f)
			}
		case reflect.Uintptr:
			words, addresses = append(words, f.Uint()), append(addresses, f.Uint())
		case reflect.Int:
			if f.Type() != metricType {
				words = append(words, uint64(f.Int()))
			}
		case reflect.Bool:
			word := uint64(0)
			if f.Bool() {
				word = 1
			}
			words = append(words, word)
		case reflect.Float64:
			words = append(words, math.Float64bits(f.Float()))
		default:
			panic(fmt.Sprintf("kernel %v: no kernel takes a %v", v.Type(), f.Type()))
		}
	}
	return words, addresses
}

var (
	matrixType = reflect.TypeFor[Matrix]()
	metricType = reflect.TypeFor[Metric]() // no parameter
)

// names are the kernels' names by type, as they are asked for.
var names sync.Map

// nameOf returns the type's name in snake case.
func nameOf(t reflect.Type) string {
	if name, ok := names.Load(t); ok {
		return name.(string)
	}
	var b strings.Builder
	for i, r := range t.Name() {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	names.Store(t, b.String())
	return b.String()
}

package vector

import (
	"math"
	"sync"

	"privkern/graphs/simd/internal/fma"
)

// Metric is a distance of two points.
type Metric int

// The metrics.
const (
	Manhattan        Metric = iota // Σ |x−y|
	SquaredEuclidean               // Σ (x−y)², fused
)

// A tile is pairRows points of x and a panel of points of y. A block of depth coordinates is
// summed in one register before it is added to the result.
const (
	pairRows   = 4
	panelBytes = 128
	depth      = 64
)

// Distances stores the distances of the n rows of x (n×d) to the rows of y (rows×d) in c
// (n×rows). ldx, ldy and ldc are the distances of rows in elements.
//
// The terms of a pair are summed in the order of coordinates in blocks of 64, and then the blocks
// in order. The error is at most about min(d, 64) + d/64 units of roundoff of the distance, and
// typically the root of that.
func Distances[T Float](m Metric, n, rows, d int, x []T, ldx int, y []T, ldy int, c []T, ldc int) {
	for i := range n {
		clear(c[i*ldc : i*ldc+rows])
	}
	wide := panelBytes / size[T]()
	scratch := borrow[T](wide*depth + pairRows*(wide+depth))
	defer release(scratch)
	panel, cut := (*scratch)[:wide*depth], (*scratch)[wide*depth:wide*(depth+pairRows)]
	few := (*scratch)[wide*(depth+pairRows):]
	for j := 0; j < rows; j += wide {
		cols := min(wide, rows-j)
		for k := 0; k < d; k += depth {
			kc := min(depth, d-k)
			pack(panel, y[j*ldy+k:], ldy, cols, kc)
			for i := 0; i < n; i += pairRows {
				if n-i >= pairRows && cols == wide {
					pairs(m, kc, x[i*ldx+k:], ldx, panel, c[i*ldc+j:], ldc)
					continue
				}
				from, ld := x[i*ldx+k:], ldx
				height := min(pairRows, n-i)
				if height < pairRows {
					clear(few)
					for r := range height {
						copy(few[r*depth:r*depth+kc], from[r*ldx:])
					}
					from, ld = few, depth
				}
				clear(cut)
				for r := range height {
					copy(cut[r*wide:r*wide+cols], c[(i+r)*ldc+j:])
				}
				pairs(m, kc, from, ld, panel, cut, wide)
				for r := range height {
					copy(c[(i+r)*ldc+j:(i+r)*ldc+j+cols], cut[r*wide:])
				}
			}
		}
	}
}

// pack stores coordinate k of point j at panel[k·wide+j], and zeros for missing points.
func pack[T Float](panel, y []T, ldy, cols, kc int) {
	wide := panelBytes / size[T]()
	if cols < wide {
		clear(panel)
	}
	for j := range cols {
		to := panel[j:]
		for k, v := range y[j*ldy : j*ldy+kc] {
			to[k*wide] = v
		}
	}
}

// pairs adds a block of pairRows rows of distances to c.
func pairs[T Float](m Metric, kc int, x []T, ldx int, panel, c []T, ldc int) {
	// Bounds that the assembly does not check.
	wide := panelBytes / size[T]()
	x, panel, c = x[:(pairRows-1)*ldx+kc], panel[:kc*wide], c[:(pairRows-1)*ldc+wide]
	done := false
	switch x := any(x).(type) {
	case []float64:
		done = vectorPairs64(m, kc, &x[0], ldx, &any(panel).([]float64)[0], &any(c).([]float64)[0], ldc)
	case []float32:
		done = vectorPairs32(m, kc, &x[0], ldx, &any(panel).([]float32)[0], &any(c).([]float32)[0], ldc)
	}
	if !done {
		portablePairs(m, kc, x, ldx, panel, c, ldc)
	}
}

// portablePairs defines the sums of a block.
func portablePairs[T Float](m Metric, kc int, x []T, ldx int, panel, c []T, ldc int) {
	wide := panelBytes / size[T]()
	var sums [panelBytes / 4]T
	for r := range pairRows {
		s := sums[:wide]
		clear(s)
		for k := range kc {
			v := x[r*ldx+k]
			for j, w := range panel[k*wide : (k+1)*wide] {
				d := w - v
				if m == Manhattan {
					s[j] += T(math.Abs(float64(d)))
				} else {
					s[j] = fma.FMA(d, d, s[j])
				}
			}
		}
		for j, v := range s {
			c[r*ldc+j] += v
		}
	}
}

// Pools of panels.
var pool64, pool32 sync.Pool

func pool[T Float]() *sync.Pool {
	if size[T]() == 8 {
		return &pool64
	}
	return &pool32
}

// borrow returns a slice of n elements of any values.
func borrow[T Float](n int) *[]T {
	if s, ok := pool[T]().Get().(*[]T); ok && cap(*s) >= n {
		*s = (*s)[:n]
		return s
	}
	s := make([]T, n)
	return &s
}

// release returns a slice to the pool; it must not be used afterwards.
func release[T Float](s *[]T) { pool[T]().Put(s) }

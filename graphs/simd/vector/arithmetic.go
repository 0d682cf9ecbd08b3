package vector

// operator is an operation on matching elements.
type operator int

const (
	plus operator = iota
	minus
	times
)

// Add stores x[i] + y[i] in dst[i] for each element of dst, which may be x or y.
func Add[T Float](dst, x, y []T) { combine(plus, dst, x, y) }

// Sub stores x[i] − y[i] in dst[i] for each element of dst, which may be x or y.
func Sub[T Float](dst, x, y []T) { combine(minus, dst, x, y) }

// Mul stores x[i]·y[i] in dst[i] for each element of dst, which may be x or y.
func Mul[T Float](dst, x, y []T) { combine(times, dst, x, y) }

// combine runs the level's kernel, if there is one, on whole blocks, and a loop on the remaining
// elements.
func combine[T Float](o operator, dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	n := len(dst) &^ (block[T]() - 1)
	done := n == 0
	if n > 0 {
		switch dst := any(dst).(type) {
		case []float64:
			done = vectorCombine64(o, dst[:n], any(x).([]float64)[:n], any(y).([]float64)[:n])
		case []float32:
			done = vectorCombine32(o, dst[:n], any(x).([]float32)[:n], any(y).([]float32)[:n])
		}
	}
	if !done {
		n = 0
	}
	dst, x, y = dst[n:], x[n:], y[n:]
	switch o {
	case plus:
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	case minus:
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	case times:
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	}
}

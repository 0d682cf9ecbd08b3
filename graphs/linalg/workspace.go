package linalg

// WithWorkspace calls a routine of LAPACK with the workspace that it asks for: first with a size of −1, for which it
// writes the best size to work.
func WithWorkspace(routine func(work []float64, size int)) {
	work := make([]float64, 1)
	routine(work, -1)
	work = make([]float64, int(work[0]))
	routine(work, len(work))
}

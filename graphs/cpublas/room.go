package cpublas

// turns bounds the calls of a library that run at the same time; nil for no bound.
//
// OpenBLAS takes a buffer of 32 to 256 MiB for each, keeps it, and tries for ever where it
// finds no room. Where memory has a limit, one call at a time uses the buffer that the first
// one takes while there is room.
var turns chan struct{}

// takeTurns lets the calls of a library take turns where memory has a limit.
func takeTurns(lib *library) {
	turns = nil
	if lib == nil || !limited() {
		return
	}
	turns = make(chan struct{}, 1)
	const n = 64
	a, c := make([]float64, n*n), make([]float64, n*n)
	callGemm(lib.float64.gemm, 'N', 'N', n, n, n, 1, a, n, a, n, 0, c, n)
}

// enter waits for the call's turn, leave ends it.
func enter() {
	if turns != nil {
		turns <- struct{}{}
	}
}

func leave() {
	if turns != nil {
		<-turns
	}
}

package cpublas

// turns limits the concurrent calls of a library; nil for no limit.
//
// OpenBLAS allocates a buffer of 32 to 256 MiB for each concurrent call, keeps it, and retries
// forever if there is no room. Where memory is limited, calls follow one another and use the
// buffer of the first.
var turns chan struct{}

// takeTurns makes the calls of a library follow one another if memory is limited.
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

// enter waits for the turn of a call, and leave ends it.
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

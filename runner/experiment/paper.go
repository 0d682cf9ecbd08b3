package experiment

// Paper is what a paper's package offers to the runner. Title and citation of the
// paper are in its ledger.
type Paper struct {
	Name        string // the first part of its experiments' and tables' names
	Experiments []*Experiment
	Figures     []Figure
	// Ledger is the YAML text of the paper's claims: every printed value that
	// is reproduced, and which trials reproduce it (package runner/claims/ledger).
	Ledger []byte
	// Benchmarks measure what the paper's package computes with.
	Benchmarks []Benchmark
}

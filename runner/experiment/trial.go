package experiment

import (
	"io"
	"math/rand/v2"
	"sync"
)

// The element types that trials compute in. Float64 is that of a sweep file that
// names none.
const (
	Float64 = "float64"
	Float32 = "float32"
)

// DTypes returns the names of the element types.
func DTypes() []string { return []string{Float64, Float32} }

// Identity is everything that determines a trial's result. Its JSON is that of the
// key (package record).
type Identity struct {
	Experiment    string            `json:"experiment"`
	ResultVersion int               `json:"result_version"`
	Params        Params            `json:"params"` // every setting, with defaults filled in
	Seed          int64             `json:"seed"`
	Backend       string            `json:"backend"`  // "cpu" or "cuda"
	DType         string            `json:"dtype"`    // "float64" or "float32"
	Datasets      map[string]string `json:"datasets"` // name to SHA-256
	// RNG is "secure" and a text of its own where randomness comes from the operating
	// system instead of Seed: such a trial cannot be repeated. It is empty
	// for a seeded trial.
	RNG string `json:"rng,omitempty"`
}

// Trial is the input of one run of an experiment.
type Trial struct {
	Identity

	// Engine computes on the trial's backend and in its element type. The runner
	// opens it, by the opener of the program that runs the plan, and closes it; it is nil
	// without an opener.
	Engine io.Closer
	// Workers bounds the trial's own parallelism (goroutines that compute at
	// the same time). It never changes a result.
	Workers int
	// Dataset returns the folder of a data set that Datasets names, or the path
	// of the file for "csv:PATH". It never fails for those: the runner skips a
	// trial whose data are not there.
	Dataset func(name string) string
	// Folder is where a program of the user's runs; empty for other experiments.
	Folder string
	// Spent takes the cost of processes that the trial started. It is never nil.
	Spent *Usage
	// Progress reports how much of a long trial is done. It may be called
	// often, from one goroutine at a time; it is never nil.
	Progress func(done, total int, what string)
	// Stream returns the random stream of one purpose, such as "noise" or
	// "k-means". Streams of different purposes, seeds or experiments are
	// independent of each other and of scheduling. It is never nil.
	Stream func(purpose string) *rand.Rand
	// Keeper keeps shared work between the trials of a sweep, by way of [Trial.Memo]; it
	// is nil where nothing is kept.
	Keeper Keeper
	// Secure is true when the streams come from the operating system's
	// entropy source instead of the seed.
	Secure bool
	// Book takes the spending of a release from the budgets of its data, durably,
	// or returns the reason of a refusal. A release calls it once, after every step that can
	// fail for reasons other than noise and before any noise is drawn. It is
	// nil outside of a release.
	Book func(Spending) error
	// Entropy is where the noise of a release comes from, the operating system's
	// source but in audits and tests; nil outside of a release.
	Entropy io.Reader
	// Exports is the register of exports; it is nil outside of an export, and for one that is
	// not registered.
	Exports Exports
}

// ForOthers reports whether the trial makes a release or an export. Its messages, errors
// included, then name no private value.
func (t *Trial) ForOthers() bool { return t.Book != nil || t.Entropy != nil }

// Outcome is the result of a trial, with metrics of type M.
type Outcome[M any] struct {
	// Metrics must be finite: the runner turns a NaN or an infinity into a
	// failed trial.
	Metrics M
	// Series holds named groups of columns of equal length, by convention one
	// column "x" and the curves over it. NaN marks a gap.
	Series map[string]Series
	// Privacy states what the mechanism protects, with an empty guarantee where none
	// holds; nil where the experiment has no privacy mechanism.
	Privacy *Privacy
	// Warnings name results that are computed but suspect.
	Warnings []string
}

// Result is an outcome with its metrics by name.
type Result = Outcome[map[string]float64]

// Series is a group of columns of equal length.
type Series map[string][]float64

// Counter reports the steps of a trial as they are done, in any order and by several
// goroutines.
type Counter struct {
	report func(done, total int, what string)
	total  int
	what   string

	mu   sync.Mutex
	done int
}

// NewCounter returns a counter of total steps, named by a word in the plural. The
// report is called for one step at a time; it is [Trial.Progress], as a rule.
func NewCounter(report func(done, total int, what string), total int, what string) *Counter {
	return &Counter{report: report, total: total, what: what}
}

// Step reports that one more step is done.
func (c *Counter) Step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.report(c.done, c.total, c.what)
}

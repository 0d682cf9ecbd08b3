// Package model is the envelope of released and exported models: it reads and checks their
// files, and predicts from them. A file is a JSON object with a member "format" (in files of
// dpgp/regression: "model"), by convention the first, that names method and version, such as
// "privkern/kahm-model/1". All formats share the members of an [Envelope]; the others are a
// [Payload], defined in a package beneath that of the method's paper.
package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Payload is the content of a file of one format: a pointer to a struct of numbers, texts,
// lists and structs with json tags.
type Payload interface {
	// Envelope returns the members that every format has.
	Envelope() Envelope
	// Check checks the other members. Those of the envelope are correct.
	Check(c *Checker)
	// Predict computes at the rows of q.X. Columns, Rows and, for classifiers, Labels of the
	// result are set, and Warnings.
	Predict(ctx context.Context, q *Query) (*Prediction, error)
}

// Uniter is a [Payload] that predicts together with those of other files.
type Uniter interface {
	// Unite refuses files that do not belong together; the first is that of the payload.
	Unite(files []File) error
}

// Sizer is a [Payload] that may need much more memory than its file.
type Sizer interface {
	// Memory estimates the bytes that Predict takes for files at that many rows.
	Memory(files []File, rows int) int64
}

// Envelope holds the members that every format has.
type Envelope struct {
	Inputs   []string // names of the columns to predict from
	Reserved []string // names that no input can have: those of columns of predictions
	Output   string   // name of the predicted column; may be empty
	Classes  []string // of a classifier, in the order of its columns
	// Middle is that of the public range of a regression's output, or the mean of a process before it has data.
	Middle  float64
	Privacy *experiment.Privacy
	// Withheld reports that inputs are never written next to predictions, because the method
	// keeps them back.
	Withheld bool
}

// File is the content of the file at a path.
type File struct {
	Path string
	Payload
}

// Model is the content of one file or of several that predict together.
type Model struct {
	Format string // of the first file
	Files  []File
}

// Envelope returns that of the first file.
func (m *Model) Envelope() Envelope { return m.Files[0].Envelope() }

// Query asks a [Payload] for predictions.
type Query struct {
	Engine *engine.Engine // for cpu, in float64
	Files  []File         // the first is that of the payload
	X      *mat.Dense     // P×len(Inputs)
}

// Chunk is the largest number of rows of a chunk of a [Query].
const Chunk = 4096

// Chunks yields copies of successive rows of X.
func (q *Query) Chunks() iter.Seq[*mat.Dense] {
	return func(yield func(*mat.Dense) bool) {
		n, d := q.X.Dims()
		for low := 0; low < n; low += Chunk {
			if !yield(mat.DenseCopyOf(q.X.Slice(low, min(low+Chunk, n), 0, d))) {
				return
			}
		}
	}
}

// Scorer is a [Payload] of a classifier whose predictions tell nothing of the classes that lose.
type Scorer interface {
	// Scores are those of the classes at the rows of q.X (C×P): the largest decides.
	Scores(ctx context.Context, q *Query) ([][]float64, error)
}

// Holder is a [Payload] that holds rows, or what was made of them.
type Holder interface{ Held() Held }

// Held are rows that a file holds.
type Held struct {
	Points  [][]float64 // in the units of the inputs
	Outputs []float64   // or numbers of classes
	Scale   []float64   // of each input, with which distances are measured
}

// Counter is a [Payload] with something of each row that it was made from.
type Counter interface {
	// Rows is their number.
	Rows() int
}

// Scores are those of a [Scorer] at the rows of x (P×len(Inputs)), in float64 on the CPU.
func (m *Model) Scores(ctx context.Context, s Scorer, x *mat.Dense) (scores [][]float64, err error) {
	return scores, m.ask(x, func(q *Query) error {
		scores, err = s.Scores(ctx, q)
		return err
	})
}

// ask calls f with a query at the rows of x.
func (m *Model) ask(x *mat.Dense, f func(*Query) error) (err error) {
	e, err := engine.Open("cpu", experiment.Float64, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return f(&Query{Engine: e, Files: m.Files, X: x})
}

// Predict predicts at the rows of x (P×len(Inputs)) in float64 on the CPU. A number that
// overflows is an error that names its row.
func (m *Model) Predict(ctx context.Context, x *mat.Dense) (p *Prediction, err error) {
	if err := m.ask(x, func(q *Query) error {
		p, err = m.Files[0].Predict(ctx, q)
		return err
	}); err != nil {
		return nil, err
	}
	if err := p.checkFinite(); err != nil {
		return nil, err
	}
	p.Format, p.Output = m.Format, m.Envelope().Output
	var guarantees []string
	for _, f := range m.Files {
		if g := f.Envelope().Privacy.Guarantee; !slices.Contains(guarantees, g) {
			guarantees = append(guarantees, g)
		}
	}
	p.Guarantee = strings.Join(guarantees, ", ")
	return p, nil
}

// Dense returns the matrix with these rows, at least one.
func Dense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

// Rows returns copies of the rows of x.
func Rows(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Row(nil, i, x)
	}
	return out
}

// checkFinite refuses infinities and NaN.
func (p *Prediction) checkFinite() error {
	for i, row := range p.Rows {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d of the inputs (counted from 1): %s overflows (%g): the model's numbers are too large "+
					"for floating point; its maker needs another unit of the output", i+1, p.Columns[j], v)
			}
		}
	}
	return nil
}

// Package model is what run predict does with the files that trials publish: it finds
// out which method wrote a file, and writes what the method computes at a user's rows.
// A file is a JSON object with a member "format", by convention the first, that names
// method and version, such as "kahm/classifier-model/1".
package model

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Model is what was read of a file.
type Model interface {
	// Inputs are the columns that are needed of the data, in their order.
	Inputs() []string
	// Predict computes at the rows of x (P×len(Inputs)).
	Predict(ctx context.Context, x *mat.Dense) (*Prediction, error)
}

// Describer is a [Model] that can say what it predicts.
type Describer interface {
	// Describe returns the name of what is predicted and what the file guarantees; either
	// may be empty.
	Describe() (output, guarantee string)
}

// Uniter is a [Model] that is used together with others: those of several parties.
type Uniter interface {
	// Unite returns the model of this file and of others. The error names the path of the
	// first that does not fit.
	Unite(others []File) (Model, error)
}

// File is a model with the path that it was read from.
type File struct {
	Path string
	Model
}

// Sizer is a [Model] that may need much more memory than its file.
type Sizer interface {
	// Memory estimates what Predict takes at that many rows, in bytes.
	Memory(rows int) int64
}

// Prediction is what a model computes at P rows.
type Prediction struct {
	Columns  []string    // names of what is written beside the inputs
	Rows     [][]float64 // P, each as long as Columns
	Labels   []string    // P, the column "class"; or nil
	Warnings []string    // what is computed but suspect
	// Alone says that the inputs are never written beside: they are what is to be kept back.
	Alone bool
}

// LabelColumn is the name of the column of [Prediction.Labels].
const LabelColumn = "class"

// Format is a kind of file.
type Format struct {
	Name string // with its version, such as "kahm/classifier-model/1"
	Read func(path string, raw []byte) (Model, error)
}

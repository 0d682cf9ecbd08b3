package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// ClassValues returns a number for each class, by which rows of a data set have the same
// [Canonical] form whatever the method that reads them: the number that the class is, or one
// of its text alone (52 bits of its SHA-256). It depends neither on the other classes nor on
// the order in which a setting names them.
func ClassValues(classes []string) []float64 {
	out := make([]float64, len(classes))
	for i, name := range classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil {
			digest := sha256.Sum256([]byte(name))
			v = float64(binary.BigEndian.Uint64(digest[:]) >> 12)
		}
		out[i] = v
	}
	return out
}

// LabelValues are the [ClassValues] of labels, which are places among classes.
func LabelValues(labels []int, classes []string) []float64 {
	values := ClassValues(classes)
	out := make([]float64, len(labels))
	for i, l := range labels {
		out[i] = values[l]
	}
	return out
}

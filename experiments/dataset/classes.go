package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// ClassValues returns a number for each class, by which the rows of a data set have the same
// [Canonical] form for every method that reads them: the class itself where it is a number,
// otherwise the first 52 bits of the SHA-256 of its name. It depends neither on the other classes
// nor on their order in a setting.
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

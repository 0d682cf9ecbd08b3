package har

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"privkern/experiments/dataset/readers"
)

// LoadMeans reads the published means of groups from comma-separated values, compressed
// by gzip: under a line of names the activity (from 1), its name, the subject, the
// number of windows, and the 561 means.
func LoadMeans(path string) (map[Group][]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out, err := readMeans(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// before is the number of columns before the means.
const before = 4

func readMeans(r io.Reader) (map[Group][]float64, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = before + readers.HARFeatures
	if _, err := in.Read(); err != nil {
		return nil, err
	}
	out := map[Group][]float64{}
	for line := 2; ; line++ {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		activity, err1 := strconv.Atoi(fields[0])
		subject, err2 := strconv.Atoi(fields[2])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		means := make([]float64, readers.HARFeatures)
		for i, field := range fields[before:] {
			if means[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
		out[Group{activity - 1, subject}] = means
	}
}

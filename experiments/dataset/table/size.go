package table

import (
	"errors"
	"io"
	"os"
)

// sampled is how much of a text is read to estimate how many rows it has, in bytes.
const sampled = 1 << 16

// Size estimates how many rows the data have and how many inputs they make, of which a
// category without levels counts as one: from headers, and of a text also from its size and
// its first rows. It reads no more, so that plans can ask for each of their trials.
func (s Spec) Size() (rows, inputs int, err error) {
	path := shown(s.Dataset)
	r, err := open(s.Dataset, path)
	if err != nil {
		return 0, 0, err
	}
	defer r.close()
	if inputs = s.Width(); inputs == 0 { // the others are no inputs
		header, _ := r.header()
		inputs = max(1, len(header)-len(s.others()))
	}
	switch r := r.(type) {
	case *parquetReader:
		return int(r.rows), inputs, nil
	case *npyReader:
		return r.x.rows, inputs, nil
	case *imageReader:
		return len(r.pictures), inputs, nil
	case *csvReader:
		rows, err = r.estimate(path)
		return rows, inputs, err
	}
	return 0, 0, errorf(path, "the number of its rows is not known before they are read")
}

// estimate is the number of rows after the header, exact where the text is short.
func (r *csvReader) estimate(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, &Error{Path: r.path, Err: pathless(err)}
	}
	start, rows := r.csv.InputOffset(), 0
	for ; r.csv.InputOffset()-start < sampled; rows++ {
		switch err := r.next(); {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return 0, err
		}
	}
	read := float64(r.csv.InputOffset() - start)
	return int(float64(rows) * float64(info.Size()-start) / read), nil
}

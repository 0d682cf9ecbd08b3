package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// LoadPoints is [ReadPoints] for a data set of a trial. Points are public, and leave with a release
// or an export; but because the file may be that of the private rows by mistake, no error of such a
// trial contains a value, as in [Spec.Load].
func LoadPoints(t *experiment.Trial, name string, reading Reading, columnNames []string) (*mat.Dense, error) {
	return readPoints(name, t.Dataset(name), reading, columnNames, t.ForOthers())
}

// ReadPoints reads the rows at which something is asked for, of the data of a name that
// lie at a path: one column for each of the names. Every row must have a value in each.
// Names are those of [Data]: where there is no column "colour=red", the column colour is
// compared with red. Errors about a place are *[Error].
func ReadPoints(name, path string, reading Reading, columnNames []string) (*mat.Dense, error) {
	return readPoints(name, path, reading, columnNames, false)
}

func readPoints(name, path string, reading Reading, columnNames []string, hidden bool) (*mat.Dense, error) {
	wanted, err := pointItems(name, path, reading, columnNames)
	if err != nil {
		return nil, err
	}
	in, _, err := columns(name, path, reading, wanted, nil, false, hidden, Refused)
	if err != nil {
		return nil, err
	}
	rows := in[0].rows
	if missing := missingPlace(in, rows); missing >= 0 {
		return nil, missingError(name, path, reading, wanted, hidden)
	}
	if len(columnNames) > MaxValues/rows {
		return nil, errorf(shown(name), "%d rows with %d inputs: at most %d numbers are taken", rows, len(columnNames),
			MaxValues)
	}
	x := mat.NewDense(rows, len(columnNames), nil)
	for j, column := range columnNames {
		if err := writePoint(x, j, column, in, shown(name)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// ReadRows reads the inputs of those names, as [ReadPoints] does, with other columns besides: those and the person are
// settings, as in a [Spec]. Rows without a value are left out. Errors about a place are *[Error].
func (s Spec) ReadRows(path string, columnNames []string) (*Data, error) {
	wanted, err := pointItems(s.Dataset, path, s.Reading, columnNames)
	if err != nil {
		return nil, err
	}
	others := s.others()
	for _, it := range others {
		if contains(wanted, it.name) {
			return nil, fmt.Errorf("the column %q is one of the inputs, too", it.name)
		}
	}
	if s.Person != "" {
		s.PerPerson = math.MaxInt32 // all rows
	}
	in, out, err := columns(s.Dataset, path, s.Reading, wanted, others, false, false, Refused)
	if err != nil {
		return nil, err
	}
	d, err := s.newData(&experiment.Trial{Stream: func(string) *rand.Rand { return nil }}, shown(s.Dataset), in, out)
	if err == nil && !slices.Equal(d.Names, columnNames) {
		err = errorf(shown(s.Dataset), "its columns make the inputs %s, and %s are needed", strings.Join(d.Names, ", "),
			strings.Join(columnNames, ", "))
	}
	return d, err
}

// CheckPoints refuses data without the columns that [ReadPoints] needs. It reads the header
// alone.
func CheckPoints(name, path string, reading Reading, columnNames []string) error {
	_, err := pointItems(name, path, reading, columnNames)
	return err
}

// pointItems are the columns from which the named inputs are made.
func pointItems(name, path string, reading Reading, columnNames []string) ([]item, error) {
	r, err := open(name, path, reading)
	if err != nil {
		return nil, err
	}
	defer r.close()
	header, _ := r.header()
	var wanted []item
	for _, column := range columnNames {
		if base, level, ok := strings.Cut(column, "="); ok && !slices.Contains(header, column) {
			if i := slices.IndexFunc(wanted, func(it item) bool { return it.name == base && it.levels != nil }); i >= 0 {
				wanted[i].levels = append(wanted[i].levels, level)
				continue
			}
			wanted = append(wanted, item{written: column, name: base, levels: []string{level}})
			continue
		}
		wanted = append(wanted, item{written: column, name: column})
	}
	_, err = find(r, shown(name), wanted)
	return wanted, err
}

func missingPlace(in []*column, rows int) int {
	for row := range rows {
		if slices.ContainsFunc(in, func(c *column) bool { return c.lacks(row) }) {
			return row
		}
	}
	return -1
}

// missingError reads the file again to find the place of a missing value and its text, unless that
// is hidden.
func missingError(name, path string, reading Reading, wanted []item, hidden bool) error {
	r, err := open(name, path, reading)
	if err != nil {
		return err
	}
	defer r.close()
	at, err := find(r, shown(name), wanted)
	if err != nil {
		return err
	}
	if err := r.want(at, make([]bool, len(at))); err != nil {
		return err
	}
	for {
		if err := r.next(); err != nil {
			return err
		}
		for i, it := range wanted {
			if c := r.cell(i); c.kind == missing {
				written := fmt.Sprintf(" (%q)", c.text)
				if hidden {
					written = ""
				}
				return r.place(i).errorf(shown(name), "column %q has no value%s; a row of inputs needs all of them", it.name,
					written)
			}
		}
	}
}

func writePoint(x *mat.Dense, j int, column string, in []*column, path string) error {
	for _, c := range in {
		if c.item.levels != nil {
			for code, level := range c.levels {
				if levelName(c.item.name, level) != column {
					continue
				}
				for i, at := range c.codes {
					if int(at) == code {
						x.Set(i, j, 1)
					}
				}
				return nil
			}
			continue
		}
		if c.item.name == column {
			if c.final == Category {
				return c.first.errorf(path, "column %q %s, expected a number%s", column, c.has(c.text), c.alike(c.text))
			}
			c.write(x, j)
			return nil
		}
	}
	return errorf(path, "the column %q was not read", column)
}

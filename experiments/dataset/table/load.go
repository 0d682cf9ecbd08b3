package table

import (
	"errors"
	"io"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// MaxValues is how many numbers are read, the rows times the columns that they are read
// from, and how many inputs may be made of them: beyond it a wrong file would cost all
// memory, and no kernel method could use it.
const MaxValues = 1 << 24

// columns reads the wanted columns, with missing values. Every takes all columns that are
// not named for inputs. Of hidden columns no message has a value.
func columns(
	name, path string, reading Reading, inputs, others []item, every, hidden bool, invalid Tolerance,
) (in, out []*column, err error) {
	r, err := open(name, path, reading)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	wanted := append(slices.Clone(inputs), others...)
	at, err := find(r, shown(name), wanted)
	if err != nil {
		return nil, nil, err
	}
	var all []*column
	for i, it := range wanted {
		most := MaxLevels
		if i >= len(inputs) {
			most = MaxClasses
		}
		all = append(all, newColumn(it, most, false))
	}
	in, out = all[:len(inputs):len(inputs)], all[len(inputs):]
	if every {
		if in, at, err = everyOther(r, shown(name), at); err != nil {
			return nil, nil, err
		}
		all = append(slices.Clone(out), in...)
	}
	for _, c := range all {
		c.hidden = hidden
		isInput := !slices.Contains(out, c)
		c.input = isInput
		c.tolerant = !c.item.person && (invalid == LeftOut || invalid == Kept || invalid == KeptInputs && isInput ||
			invalid == KeptOthers && !isInput)
		c.kept = c.tolerant && invalid != LeftOut
		c.infinite = invalid == Kept && isInput
	}
	if err := fill(r, shown(name), at, all); err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		c.finish()
		if err := c.checkLevels(shown(name)); err != nil {
			return nil, nil, err
		}
	}
	return in, out, nil
}

// everyOther are the columns that are not at the positions; those are added to them.
func everyOther(r reader, path string, at []int) ([]*column, []int, error) {
	header, where := r.header()
	named := make(map[int]bool, len(at))
	for _, i := range at {
		named[i] = true
	}
	seen := make(map[string]bool, len(header))
	var in []*column
	for i, name := range header {
		if seen[name] {
			return nil, nil, where(i).errorf(path, "a second column is named %q: rename one of them", name)
		}
		if seen[name] = name != ""; named[i] || name == "" || unusable(r, i) != nil {
			continue
		}
		in = append(in, newColumn(item{written: name, name: name}, MaxLevels, true))
		at = append(at, i)
	}
	return in, at, nil
}

// unusable returns the reason why a column cannot be read; nil where it can.
func unusable(r reader, column int) error {
	if p, ok := r.(*parquetReader); ok {
		return p.usable(column)
	}
	return nil
}

// fill reads all rows.
func fill(r reader, path string, at []int, all []*column) error {
	texts := make([]bool, len(all))
	for i, c := range all {
		texts[i] = c.item.levels != nil
	}
	if err := r.want(at, texts); err != nil {
		return err
	}
	current := 0
	where := func() place { return r.place(current) }
	for rows := 0; ; rows++ {
		switch err := r.next(); {
		case errors.Is(err, io.EOF) && rows == 0:
			return errorf(path, "there are no rows after the header")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if (rows+1)*len(all) > MaxValues {
			current = 0
			return where().errorf(path, "the columns that are read hold more than %d values up to here; take a part of the rows",
				MaxValues)
		}
		for i, c := range all {
			current = i
			if err := c.add(path, r.cell(i), where); err != nil {
				return err
			}
		}
	}
}

// Load reads the data of a trial, whose declaration has [Spec.Files]. Errors have the path as the
// user wrote it; those about a place are *[Error].
//
// Where the trial makes a release or an export, the data are private, and no error contains one of
// their values: it has the place of the value and the expected form.
func (s Spec) Load(t *experiment.Trial) (*Data, error) { return s.LoadFrom(t, t.Dataset(s.Dataset)) }

// LoadFrom is [Spec.Load] of data that lie at a path.
func (s Spec) LoadFrom(t *experiment.Trial, file string) (*Data, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	path := shown(s.Dataset)
	inputs, every := s.inputs()
	in, out, err := columns(s.Dataset, file, s.Reading, inputs, s.others(), every, t.ForOthers(), s.Invalid)
	if err != nil {
		return nil, err
	}
	if every {
		in = slices.DeleteFunc(in, func(c *column) bool {
			return c.final != Number && c.final != Boolean
		})
		if len(in) == 0 {
			return nil, errorf(path, "no column beside %s is numeric; name the inputs", strings.Join(names(out), ", "))
		}
	}
	d, err := s.newData(t, path, in, out)
	if err == nil && s.Person == "" && Is(s.Dataset) && !t.ForOthers() {
		d.identifiers = Identifiers(s.Dataset, file, s.Reading)
	}
	return d, err
}

// Size estimates how many rows the data have and how many inputs they make, of which a
// category without levels counts as one: from headers, and of a text also from its size and
// its first rows. It reads no more, so that plans can ask for each of their trials.
func (s Spec) Size() (rows, inputs int, err error) {
	r, err := open(s.Dataset, shown(s.Dataset), s.Reading)
	if err != nil {
		return 0, 0, err
	}
	defer r.close()
	if inputs = Width(s.Asked()); inputs == 0 { // the others are no inputs
		header, _ := r.header()
		inputs = max(1, len(header)-len(s.others()))
	}
	rows, err = r.estimate()
	return rows, inputs, err
}

func names(columns []*column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.item.name
	}
	return out
}

package released

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

// fewest is the least number of members, and of others.
const fewest = 10

// data are the rows that the adversary is judged by: members first, and then others.
type data struct {
	*method.Rows
	members int // rows

	people   *table.People // members; nil for rows
	units    [][]int       // the rows of each row or person
	member   []bool        // of each unit
	warnings []string
}

// read reads the tables of an attack; pathOf finds the data of a name.
func (f *File) read(s *Settings, pathOf func(name string) (string, error)) (*data, error) {
	output := cmp.Or(s.Output, table.QuoteName(f.of.Output))
	if output == "" {
		return nil, fmt.Errorf("output is not given, and %s does not name it: output=COLUMN", f.Files[0].Path)
	}
	spec := table.Spec{Reading: s.Reading, Person: s.Person, Others: []string{output}}
	if levels := f.levels(); levels != "" {
		spec.Others[0] = table.QuoteName(table.NameOf(output)) + levels
	}
	d := &data{Rows: &method.Rows{Inputs: f.of.Inputs, Output: table.NameOf(output), Classes: f.of.Classes, Scale: 1}}
	for _, name := range []string{s.Dataset, s.Others} {
		if name == "" {
			continue
		}
		spec.Dataset = name
		path, err := pathOf(name)
		if err != nil {
			return nil, err
		}
		t, err := spec.ReadRows(path, f.of.Inputs)
		if err == nil {
			err = d.add(t, spec)
		}
		if err != nil {
			return nil, err
		}
	}
	d.warn(f)
	return d, nil
}

// levels are the classes of the file as a setting names them; empty for numbers, and for classes that are: of these
// the data may have other digits.
func (f *File) levels() string {
	numbers := !slices.ContainsFunc(f.of.Classes, func(c string) bool {
		v, err := strconv.ParseFloat(c, 64)
		return err != nil || experiment.FormatNumber(v) != c
	})
	if numbers {
		return ""
	}
	text := ""
	for i, c := range f.of.Classes {
		text += map[bool]string{true: "[", false: "|"}[i == 0] + c
	}
	return text + "]"
}

// add appends the rows of a table: the first one has the members.
func (d *data) add(t *table.Data, spec table.Spec) error {
	n, inputs := t.X.Dims()
	if n < fewest {
		return fmt.Errorf("%s: %d rows have all values; an attack is judged by %d members and as many others at least",
			spec.Dataset, n, fewest)
	}
	if t.Dropped > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %d of %d rows have no value in a column that is used and are left "+
			"out", spec.Dataset, t.Dropped, t.Rows))
	}
	first, member := 0, d.X == nil
	if member {
		d.X, d.Asked, d.members = t.X, t.Asked, n
	} else {
		first = d.Len()
		all := mat.NewDense(first+n, inputs, nil)
		all.Stack(d.X, t.X)
		d.X = all
	}
	if err := d.addOutputs(t, spec); err != nil {
		return err
	}
	var groups [][]int
	if t.People != nil {
		groups = t.People.Groups()
		d.addPeople(t.People, spec)
	} else {
		for row := range n {
			groups = append(groups, []int{row})
		}
	}
	if len(groups) < fewest {
		return fmt.Errorf("%s: there are %d persons; an attack is judged by %d members and as many others at least",
			spec.Dataset, len(groups), fewest)
	}
	for _, rows := range groups {
		for i := range rows {
			rows[i] += first
		}
		d.units, d.member = append(d.units, rows), append(d.member, member)
	}
	return nil
}

// addPeople keeps the persons of members, and warns of those who are among others, too.
func (d *data) addPeople(people *table.People, spec table.Spec) {
	if d.people == nil {
		d.people = people
	} else if n := d.people.Shared(people); n > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %d of %d persons are members, too, by their names in %s: they "+
			"are found or not as both, and an attack seems weaker than it is", spec.Dataset, n, people.Count, people.Column))
	}
}

// addOutputs appends the outputs of a table, with the classes of the file.
func (d *data) addOutputs(t *table.Data, spec table.Spec) error {
	if d.Classes == nil {
		values, err := t.Numbers(spec.Others[0])
		d.Values = append(d.Values, values...)
		return err
	}
	labels, classes, err := t.Labels(spec.Others[0])
	if err != nil {
		return err
	}
	to := make([]int, len(classes))
	for i, c := range classes {
		if to[i] = slices.Index(d.Classes, c); to[i] < 0 {
			return fmt.Errorf("%s: column %q: %w", spec.Dataset, d.Output, experiment.Unknown("class", c, d.Classes))
		}
	}
	for _, l := range labels {
		d.Labels = append(d.Labels, to[l])
	}
	return nil
}

// others is the number of rows that are no members.
func (d *data) others() int { return d.Len() - d.members }

// outputs are the outputs as columns of a learner (N×1, or N×C with a one for each class).
func (d *data) outputs() *mat.Dense {
	if d.Labels == nil {
		return mat.NewDense(d.Len(), 1, slices.Clone(d.Values))
	}
	out := mat.NewDense(d.Len(), len(d.Classes), nil)
	for i, l := range d.Labels {
		out.Set(i, l, 1)
	}
	return out
}

// unequal is the ratio of numbers of members and others beyond which a warning notes it.
const unequal = 1.1

// warn notes tables that are of different sizes, or share rows.
func (d *data) warn(f *File) {
	if o, ok := f.Files[0].Payload.(model.Counter); ok && o.Rows() != d.members {
		d.warnings = append(d.warnings, fmt.Sprintf("the file has %d rows, and dataset %d: it was made from others "+
			"than these", o.Rows(), d.members))
	}
	if d.others() == 0 {
		return
	}
	members, others := 0, 0
	numbers := make([]float64, len(d.member))
	for i, m := range d.member {
		if m {
			members, numbers[i] = members+1, 1
		} else {
			others++
		}
	}
	if r := float64(members) / float64(others); math.Max(r, 1/r) > unequal {
		d.warnings = append(d.warnings, fmt.Sprintf("there are %d members and %d others: shares are those of each; a guess "+
			"is right more often than the area under the curve has it where one kind is more frequent", members, others))
	}
	if twins := d.Twins(d.units, numbers); twins != "" {
		d.warnings = append(d.warnings, twins)
	}
}

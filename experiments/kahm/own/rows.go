package own

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Rows are the user's rows, as they were read: N rows of p inputs.
type Rows struct {
	*table.Data

	Labels  []int    // N, numbers of classes
	Classes []string // in their order
	Output  string   // the column that has them
	Parties []int    // N, numbers of parties; nil where there is one
	Holders []string // names of parties
	Unnamed int      // classes and parties that count as the first one

	pictures bool // a row is one
}

// load reads the rows of a data set. party is the column with the holder of a row, "" for none.
func (d *Table) load(t *experiment.Trial, dataset, party string) (*Rows, error) {
	read, err := d.Spec(dataset, party).Load(t)
	if err != nil {
		return nil, err
	}
	r := &Rows{Data: read, Output: read.Column(d.Output), pictures: arePictures(dataset)}
	if r.Labels, r.Classes, err = r.named(d.Output); err != nil {
		return nil, err
	}
	if party != "" {
		r.Parties, r.Holders, err = r.named(party)
	}
	return r, err
}

// named returns the classes of a column, or its parties. A row with none of those that are named counts as one of the
// first.
func (r *Rows) named(column string) (labels []int, names []string, err error) {
	if labels, names, err = r.Data.Labels(column); err != nil {
		return nil, nil, err
	}
	none := 0
	for i, l := range labels {
		if l < 0 {
			labels[i] = 0
			none++
		}
	}
	r.Unnamed += none
	if none > 0 && !r.Public(column) {
		return nil, nil, fmt.Errorf("%d of %d rows have no value of %q: name its values, %[3]s[A|B|C], and such a row "+
			"counts as one of the first; or leave it out, invalid=refuse", none, len(labels), column)
	}
	return labels, names, nil
}

// checkDirections refuses more directions than the rows have inputs.
func (r *Rows) checkDirections(p *wide.Pipeline) error {
	if p.N > len(r.Names) {
		inputs := "inputs"
		if len(r.Names) == 1 {
			inputs = "input"
		}
		return fmt.Errorf("n = %d: the data have only %d %s; use n=%[2]d or less, and no more layers", p.N, len(r.Names),
			inputs)
	}
	return p.Check()
}

// rangesOf returns the public ranges of the inputs or, where none are given, the ranges of the
// training rows.
func (d *Table) rangesOf(dataset string, r *Rows, train []int) (*wide.Ranges, error) {
	p := len(r.Names)
	switch {
	case !d.Low.Is(method.Absent):
		return d.publicRanges(r)
	case arePictures(dataset):
		return &wide.Ranges{Low: make([]float64, p), High: slices.Repeat([]float64{1}, p)}, nil
	}
	low, high := table.Ranges(learn.SelectRows(r.X, train))
	return &wide.Ranges{Low: low, High: high, Observed: true}, nil
}

// publicRanges returns the given ranges ([method.ForInputs]). A level of a category is 0 or 1, and has
// the range [0, 1].
func (d *Table) publicRanges(r *Rows) (*wide.Ranges, error) {
	low, err := method.ForInputs("low", d.Low.Numbers, r.Asked)
	if err != nil {
		return nil, err
	}
	high, err := method.ForInputs("high", d.High.Numbers, r.Asked)
	if err != nil {
		return nil, err
	}
	j := 0
	for _, in := range r.Asked {
		for i := range in.Levels {
			low[j+i], high[j+i] = 0, 1
		}
		j += max(1, in.Levels)
	}
	return &wide.Ranges{Low: low, High: high}, nil
}

// classesOf returns how many classes have rows, and the one that has most.
func classesOf(rows [][]int) (number, most int) {
	for c, of := range rows {
		if len(of) > 0 {
			number++
		}
		if len(of) > len(rows[most]) {
			most = c
		}
	}
	return number, most
}

// split divides the rows of each class: the share holdout is for testing, and at least one row for
// either. Both lists are in increasing order. Rows of a person stay together.
func (r *Rows) split(holdout float64, rng *rand.Rand) (train, test []int, err error) {
	all := groups(r.all(), r.Labels, len(r.Classes))
	if few, most := classesOf(all); few < 2 {
		return nil, nil, fmt.Errorf("all %d rows are of one class, %q: there is nothing to tell apart", len(r.Labels),
			r.Classes[most])
	}
	tests := make([]int, len(all))
	for c, rows := range all {
		if len(rows) == 0 {
			return nil, nil, fmt.Errorf("class %q has no row: leave it out of the levels of the output", r.Classes[c])
		}
		if len(rows) < 2 {
			return nil, nil, fmt.Errorf("class %q has one row, which cannot be both trained on and tested: leave the class "+
				"out, or give more rows of it", r.Classes[c])
		}
		tests[c] = max(1, min(len(rows)-1, int(math.Round(holdout*float64(len(rows))))))
	}
	if r.People != nil {
		return r.splitPeople(tests, rng)
	}
	for c, rows := range all {
		for k, at := range rng.Perm(len(rows)) {
			if k < tests[c] {
				test = append(test, rows[at])
			} else {
				train = append(train, rows[at])
			}
		}
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test, nil
}

// divide splits the rows for judging: by classes, or, where other methods have the same rows, by the seed and their
// number alone. Then a class may have none to train on, which is an error.
func (d *Table) divide(t *experiment.Trial, r *Rows) (train, test []int, err error) {
	if d.SplitSource != method.CommonSplits {
		return r.split(d.Holdout, t.Stream("split"))
	}
	common := method.Splits{Holdout: d.Holdout, CommonRows: d.CommonRows}
	if train, test, err = common.Split(t, 0, len(r.Labels), r.People); err != nil {
		return nil, nil, err
	}
	slices.Sort(train)
	slices.Sort(test)
	for c, rows := range groups(train, r.Labels, len(r.Classes)) {
		if len(rows) == 0 {
			return nil, nil, fmt.Errorf("class %q has no row to train on in this split", r.Classes[c])
		}
	}
	return train, test, nil
}

// Judged are rows in [0, 1], split for judging.
type Judged struct {
	*Rows
	table   *Table
	Budget  *wide.Budget
	Ranges  *wide.Ranges
	Train   []wide.Source // one for each class
	Shares  []wide.Source // for each party and class that has rows; nil without parties
	Test    *mat.Dense
	Tested  []int // classes of the test rows
	Trained int   // number of training rows
	// Majority is the class with the most training rows.
	Majority int
	// Clipped is the share of values beyond their range.
	Clipped float64
	trained []int // rows that are trained on, those of a class in the order of Train
}

// Judge reads the rows of a data set for machines of a pipeline, and splits them.
func (d *Table) Judge(t *experiment.Trial, dataset, party string, p *wide.Pipeline) (*Judged, error) {
	return d.judge(t, dataset, party, p, func(r *Rows) (train, test []int, err error) { return d.divide(t, r) })
}

// Attack reads the rows of a data set, as Judge does, and splits each class by fair coins. Classes and their sizes are
// public, and so both rows of a pair are of one class.
func (d *Table) Attack(t *experiment.Trial, dataset string, p *wide.Pipeline) (*Judged, *method.Coins, error) {
	var coins *method.Coins
	out, err := d.judge(t, dataset, "", p, func(r *Rows) (train, test []int, err error) {
		classes := groups(r.all(), r.Labels, len(r.Classes))
		for c, rows := range classes {
			if len(rows) < 2 {
				return nil, nil, fmt.Errorf("class %q has %d of the rows, and membership needs pairs of one class: leave the "+
					"class out, or give more rows of it", r.Classes[c], len(rows))
			}
		}
		if len(classes) < 2 {
			return nil, nil, fmt.Errorf("all %d rows are of one class, %q: there is nothing to tell apart", len(r.Labels),
				r.Classes[0])
		}
		coins = method.CoinsWithin(t.Seed, classes)
		train, test = coins.Split()
		return train, test, nil
	})
	return out, coins, err
}

// judge reads the rows of a data set, and divides them.
func (d *Table) judge(t *experiment.Trial, dataset, party string, p *wide.Pipeline,
	divide func(*Rows) (train, test []int, err error)) (*Judged, error) {
	r, err := d.load(t, dataset, party)
	if err != nil {
		return nil, err
	}
	if err := r.checkDirections(p); err != nil {
		return nil, err
	}
	train, test, err := divide(r)
	if err != nil {
		return nil, err
	}
	ranges, err := d.rangesOf(dataset, r, train)
	if err != nil {
		return nil, err
	}
	x, outside := scaled(r.X, ranges)
	out := &Judged{Rows: r, table: d, Budget: &p.Budget, Ranges: ranges, Train: r.sources(x, train, 0),
		Trained: len(train), trained: train, Test: learn.SelectRows(x, test),
		Clipped: float64(outside) / float64(len(r.Labels)) / float64(len(r.Names))}
	out.Tested = learn.Select(r.Labels, test)
	out.Majority = slices.MaxFunc(out.Train, func(a, b wide.Source) int {
		return a.Samples.RawMatrix().Rows - b.Samples.RawMatrix().Rows
	}).Class
	if r.Parties != nil {
		out.Shares = r.shares(x, train, r.Parties, len(r.Holders))
	}
	return out, r.checkConstant()
}

// Scaled returns all rows in [0, 1], N×p.
func (j *Judged) Scaled() *mat.Dense {
	x, _ := scaled(j.X, j.Ranges)
	return x
}

// all returns the numbers of all rows.
func (r *Rows) all() []int {
	return learn.AllRows(len(r.Labels))
}

// groups divides rows by their labels, which are below count. Each group has the order of rows.
func groups(rows, labels []int, count int) [][]int {
	out := make([][]int, count)
	for _, i := range rows {
		out[labels[i]] = append(out[labels[i]], i)
	}
	return out
}

// sources returns the samples of each class that has some, from the given rows of x (N×p) in
// their order. party is that of [wide.Source].
func (r *Rows) sources(x *mat.Dense, rows []int, party int) (out []wide.Source) {
	for c, of := range groups(rows, r.Labels, len(r.Classes)) {
		if of != nil {
			out = append(out, wide.Source{Class: c, Party: party, Samples: learn.SelectRows(x, of), Table: !r.pictures})
		}
	}
	return out
}

// shares returns the samples of each party and class that has some, from the given rows of x (N×p). parties has
// the party of each row of x, below count.
func (r *Rows) shares(x *mat.Dense, rows, parties []int, count int) (out []wide.Source) {
	for k, held := range groups(rows, parties, count) {
		out = append(out, r.sources(x, held, 1+k)...)
	}
	return out
}

// Incomplete returns the number of rows with an input that has no value.
func (r *Rows) Incomplete() (n int) {
	for i := range r.X.RawMatrix().Rows {
		if slices.ContainsFunc(r.X.RawRowView(i), math.IsNaN) {
			n++
		}
	}
	return n
}

// scaled returns rows in [0, 1], and the number of values beyond their range.
func scaled(rows *mat.Dense, ranges *wide.Ranges) (x *mat.Dense, outside int) {
	x = mat.DenseCopyOf(rows)
	for i := range x.RawMatrix().Rows {
		outside += ranges.Scale(x.RawRowView(i))
	}
	return x, outside
}

// checkConstant refuses rows that have the same inputs.
func (r *Rows) checkConstant() error {
	if len(r.Constant) == len(r.Names) {
		return errors.New("every input has the same value in all rows: there is nothing to tell classes apart by")
	}
	return nil
}

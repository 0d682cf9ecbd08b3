package tradeoff

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/multikernel/kernellist"
	"privkern/experiments/multikernel/recognise"
	"privkern/runner/experiment"
)

// column is a column of classes.
type column struct {
	name    string // as in the setting, perhaps with levels
	column  string // without levels; metrics are named by it
	labels  []int  // N, from 0
	classes []string
}

// data are the rows of a trial.
type data struct {
	x          *mat.Dense // N×d
	names      []string   // d
	utilities  []column
	privacy    column
	groups     []int // N, from 0; nil for none
	landmarks  *mat.Dense
	warnings   []string
	joint      []int // combinations of utility classes, N, from 0
	jointCount int
	hidden     bool // errors of an export show no class and no number of its rows
}

// formulaName is the data set that has no file.
const formulaName = "formula"

// own reports whether the data are the user's.
func (s *Settings) own() bool { return s.Dataset != formulaName }

// utilityNames returns the columns of the setting utility.
func (s *Settings) utilityNames() []string {
	names := table.SplitNames(s.Utility, "+")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// spec returns the columns that are read of the user's data.
func (s *Settings) spec() table.Spec {
	return table.Spec{Dataset: s.Dataset, Inputs: s.Inputs, Others: append(s.utilityNames(), s.Privacy, s.Group),
		Reading: s.Reading}
}

// datasets returns the names of the files.
func (s *Settings) datasets() []string {
	if !s.own() {
		return nil
	}
	names := s.spec().Files()
	if s.Landmarks != "" && s.Landmarks != s.Dataset {
		names = append(names, s.Landmarks)
	}
	return names
}

// checkData refuses errors that show without the file.
func (s *Settings) checkData() error {
	if !s.own() {
		return nil
	}
	switch {
	case !table.Is(s.Dataset):
		return fmt.Errorf("dataset = %q: it is %s or your own data, such as csv:PATH", s.Dataset, formulaName)
	case slices.Contains(s.utilityNames(), ""):
		return fmt.Errorf("utility = %q: write the name of a column, or several joined by +", s.Utility)
	case s.Privacy == "":
		return errors.New("privacy is not given: name the column whose classes are to be hidden")
	case slices.Contains(s.utilityNames(), s.Privacy):
		return fmt.Errorf("privacy = %s: it is the utility, too; what the features are to tell cannot be hidden", s.Privacy)
	case s.Group != "" && s.Group == s.Privacy:
		return fmt.Errorf("group = %s: it is the privacy column, too; no class would be on both sides, and an adversary "+
			"could learn none", s.Group)
	case s.Landmarks != "" && !table.Is(s.Landmarks):
		return fmt.Errorf("landmarks = %q: write csv:PATH, a file of public rows", s.Landmarks)
	case s.Landmarks != "" && s.Nystrom > 0:
		return fmt.Errorf("nystrom = %d: landmarks are given, with which kernels compare; give one of both", s.Nystrom)
	case s.Landmarks != "" && s.Landmarks == s.Dataset:
		return errors.New("landmarks: they are the data; landmarks are public rows, and leave with an export")
	}
	return s.spec().Check()
}

// complete requires the names of the columns of the user's data.
func (s *Settings) complete(given func(field any) bool) error {
	if !s.own() {
		return nil
	}
	if !given(&s.Utility) || !given(&s.Privacy) {
		return errors.New("utility and privacy must be given for your own data: the columns whose classes are to be told, " +
			"and to be hidden")
	}
	return nil
}

// fewestRows is the least number of rows of a class: three to train on, which cross-validation
// divides, and one to test on.
const (
	fewestTrained = 3
	fewestRows    = fewestTrained + 1
)

// mostRows bounds the training rows of kernels between all of them: a matrix takes 8N² bytes, and there are several at
// a time. mostStreamed bounds those of other kernels, on which three adversaries learn.
const (
	mostRows     = 10_000
	mostStreamed = 100_000
)

// streamed reports whether no matrix of all training rows is made.
func (s *Settings) streamed() bool {
	kernels, err := kernellist.Parse(s.Kernels)
	return s.Landmarks != "" || s.Nystrom > 0 ||
		err == nil && !slices.ContainsFunc(kernels, func(k kernellist.Kernel) bool { return k.Family != "linear" })
}

// machineRows is the most of the given number of training rows that support vector machines learn from, whose time
// grows with the square of the rows or more: 0, all, where kernels compare with all rows.
func (s *Settings) machineRows(rows int) int {
	const most = 5_500
	if s.Landmarks != "" || s.Nystrom > 0 || rows > mostRows {
		return most
	}
	return 0
}

// checkRows refuses a number of rows to train on.
func (s *Settings) checkRows(rows int) error {
	switch {
	case rows > mostRows && !s.streamed():
		return fmt.Errorf("%d rows to train on: at most %d are taken, since kernels between all of them take memory that "+
			"grows with their square; take nystrom=1000, landmarks, kernels=linear or a part of the rows", rows, mostRows)
	case rows > mostStreamed:
		return fmt.Errorf("%d rows to train on: at most %d are taken; take a part of the rows", rows, mostStreamed)
	case s.Nystrom > rows:
		return fmt.Errorf("nystrom = %d: there are %d rows to train on; take at most %[2]d, or nystrom=0, which takes all",
			s.Nystrom, rows)
	}
	return nil
}

// load reads the data of a trial.
func (s *Settings) load(t *experiment.Trial) (*data, error) {
	if !s.own() {
		return formula(), nil
	}
	read, err := s.spec().Load(t)
	if err != nil {
		return nil, err
	}
	d := &data{x: read.X, names: read.Names, hidden: t.ForOthers()}
	if d.privacy, err = d.classesOf(read, s.Privacy, "privacy"); err != nil {
		return nil, err
	}
	for _, name := range s.utilityNames() {
		c, err := d.classesOf(read, name, "utility")
		if err != nil {
			return nil, err
		}
		d.utilities = append(d.utilities, c)
	}
	if s.Group != "" {
		if d.groups, _, err = read.Labels(s.Group); err != nil {
			return nil, err
		}
	}
	if len(read.Constant) == len(read.Names) {
		return nil, fmt.Errorf("%s: every input has the same value in all rows; there is nothing to compress", s.Dataset)
	}
	d.warn(read)
	if s.Landmarks != "" {
		if err := d.loadLandmarks(t, s); err != nil {
			return nil, err
		}
	}
	d.joint, d.jointCount = combinations(d.utilities)
	return d, nil
}

func (d *data) warn(read *table.Data) {
	if read.Dropped > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("%d rows without a value in one of the columns are left out",
			read.Dropped))
	}
	if len(read.Constant) > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("computed but suspect: %s: the same value in all rows, and no "+
			"information", strings.Join(read.Constant, ", ")))
	}
}

// namedByJudging ends an error without the name of the class, because names are values of the data.
const namedByJudging = "; a trial without --export names it"

// classesOf reads a column of classes; setting is the one that names it.
func (d *data) classesOf(read *table.Data, name, setting string) (column, error) {
	c := column{name: name, column: read.Column(name)}
	var err error
	if c.labels, c.classes, err = read.Labels(name); err != nil {
		return c, err
	}
	counts := make([]int, len(c.classes))
	for _, l := range c.labels {
		counts[l]++
	}
	seen := 0
	for l, n := range counts {
		switch {
		case n == 0: // a named level without rows
			continue
		case n < fewestRows:
			few, more := fmt.Sprintf("only %d of the rows are of the class %q", n, c.classes[l]), ""
			if d.hidden {
				few, more = "too few of the rows are of one of the classes", namedByJudging
			}
			return c, fmt.Errorf("%s = %s: %s, and at least %d are needed: %d to train on and one to test on; leave its rows "+
				"out, or join it with another class%s", setting, name, few, fewestRows, fewestTrained, more)
		}
		seen++
	}
	if seen < 2 {
		return c, fmt.Errorf("%s = %s: all %d rows are of one class; at least two are needed", setting, name, len(c.labels))
	}
	return c, nil
}

// combinations numbers the combinations of classes that rows have, from 0.
func combinations(columns []column) (joint []int, count int) {
	joint = make([]int, len(columns[0].labels))
	for _, c := range columns {
		for i := range joint {
			joint[i] = joint[i]*len(c.classes) + c.labels[i]
		}
		all := recognise.Distinct(joint) // their product could overflow
		count = len(all)
		for i := range joint {
			joint[i], _ = slices.BinarySearch(all, joint[i])
		}
	}
	return joint, count
}

// samples returns rows with the labels for compression and weights.
func (d *data) samples(rows []int) recognise.Samples {
	return recognise.Samples{X: learn.SelectRows(d.x, rows), Utility: learn.Select(d.joint, rows),
		Privacy: learn.Select(d.privacy.labels, rows)}
}

// Sizes of the simulated rows.
const (
	formulaRows     = 240
	formulaFeatures = 8
)

// formula returns the rows of multikernel/reference in another number, which are simulated: three
// kinds and four persons.
func formula() *data {
	d := &data{x: mat.NewDense(formulaRows, formulaFeatures, nil),
		privacy: column{name: "person", column: "person", classes: []string{"0", "1", "2", "3"}}}
	kind := column{name: "kind", column: "kind", classes: []string{"0", "1", "2"}}
	for j := range formulaFeatures {
		d.names = append(d.names, fmt.Sprintf("x%d", j+1))
	}
	for i := range formulaRows {
		k, p := i%len(kind.classes), i%len(d.privacy.classes)
		kind.labels, d.privacy.labels = append(kind.labels, k), append(d.privacy.labels, p)
		for j := range formulaFeatures {
			a, b := float64(i), float64(j)
			d.x.Set(i, j, math.Sin(.7*a+1.3*b)+.1*math.Cos(a*b)+.6*math.Sin(2*float64(k)+b)+.4*math.Cos(3*float64(p)+2*b))
		}
	}
	d.utilities = []column{kind}
	d.joint, d.jointCount = combinations(d.utilities)
	return d
}

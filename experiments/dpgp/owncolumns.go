package dpgp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

// isOwn says whether the data are the user's own.
func (o *ownColumns) isOwn() bool { return o.Dataset != own.Simulated }

// withoutFile is the word of inducing_file where there is none.
const withoutFile = "none"

func (o *ownColumns) spec() table.Spec {
	return table.Spec{Dataset: o.Dataset, Inputs: o.Inputs, Others: []string{o.Output}}
}

func (o *ownColumns) datasets() []string {
	if !o.isOwn() {
		return nil
	}
	out := o.spec().Files()
	if o.InducingFile != withoutFile && o.InducingFile != o.Dataset {
		out = append(out, o.InducingFile)
	}
	return out
}

func (o *ownColumns) tables() []experiment.InputTable {
	if !o.isOwn() {
		return nil
	}
	return o.spec().Tables()
}

// checkSimulated refuses a name that is neither the simulated data nor the user's.
func (o *ownColumns) checkSimulated() error {
	if o.InducingFile != withoutFile {
		return fmt.Errorf("inducing_file = %s: it is for data of your own", o.InducingFile)
	}
	return nil
}

// checkDataset refuses data that are neither simulated nor the user's.
func (o *ownColumns) checkDataset() error {
	if table.Is(o.Dataset) {
		return nil
	}
	return fmt.Errorf("dataset = %q: it is %s, or data of your own, such as csv:PATH%s", o.Dataset, own.Simulated,
		own.Like(o.Dataset))
}

// check refuses what no data can be asked for.
func (o *ownColumns) check(inducing experiment.Points) error {
	if err := o.checkDataset(); err != nil {
		return err
	}
	if err := o.spec().Check(); err != nil {
		return err
	}
	fromFile := o.InducingFile != withoutFile
	if fromFile && !table.Is(o.InducingFile) {
		return fmt.Errorf("inducing_file = %q: it is none, or csv:PATH, a file of inducing inputs%s", o.InducingFile,
			own.Like(o.InducingFile))
	}
	if err := (own.Range{Low: o.InputLow, High: o.InputHigh}).CheckGiven(!fromFile && inducing.Values == nil); err != nil {
		return err
	}
	if v := slices.Sorted(slices.Values(inducing.Values)); !fromFile && len(slices.Compact(slices.Clone(v))) < len(v) {
		return fmt.Errorf("inducing = %s: two inducing inputs are equal, which makes their covariance singular",
			experiment.FormatValue(inducing.Values))
	}
	// What is given one for each input is looked at when the data are read: * stands for
	// any number of columns, and a category is several inputs.
	names := o.spec().Names()
	if names == nil {
		return nil
	}
	if inducing.Values != nil && len(names) > 1 && !fromFile {
		return fmt.Errorf("inducing is a list, which is for one input, and there are %d; use inducing_file=csv:PATH",
			len(names))
	}
	if !fromFile && inducing.Values == nil {
		return own.CheckGrid(inducing.Count, len(names))
	}
	return nil
}

// ownRows are the rows of a user's data.
type ownRows struct {
	*table.Data
	z       *mat.Dense // inducing inputs, in the units of the inputs
	grid    bool       // they are a grid over the public range
	suspect []string   // what is suspect about the inputs, for judging alone
}

// load reads the data and the inducing inputs, which are public.
func (o *ownColumns) load(
	t *experiment.Trial, inducing experiment.Points, lengthscale experiment.Several,
) (*ownRows, error) {
	data, err := o.spec().Load(t)
	if err != nil {
		return nil, err
	}
	if t.ForOthers() {
		if err := own.CheckLevels(o.Inputs, data.Private); err != nil {
			return nil, err
		}
	}
	inputs := len(data.Names)
	if _, err := own.ForInputs("lengthscale", lengthscale, inputs); err != nil {
		return nil, err
	}
	grid := o.InducingFile == withoutFile && inducing.Values == nil
	public := own.Range{Low: o.InputLow, High: o.InputHigh}
	out := &ownRows{Data: data, grid: grid, suspect: public.Warnings(data, grid)}
	switch {
	case o.InducingFile != withoutFile:
		out.z, err = own.InducingFile(t, o.InducingFile, data.Names)
	case inducing.Values != nil:
		if inputs > 1 {
			return nil, fmt.Errorf("inducing is a list, which is for one input, and there are %d", inputs)
		}
		out.z = sparse.Column(inducing.Values)
	default:
		if err = own.CheckGrid(inducing.Count, inputs); err != nil {
			return nil, err
		}
		var low, high []float64
		if low, high, err = public.Of(inputs, 1); err != nil {
			return nil, err
		}
		out.z = own.Grid(inducing.Count, low, high)
	}
	if err != nil {
		return nil, err
	}
	rows, _ := data.X.Dims()
	if number, _ := out.z.Dims(); number > sparse.MaxInducing {
		return nil, fmt.Errorf("%d inducing inputs; at most %d are possible", number, sparse.MaxInducing)
	} else if rows*number > sparse.MaxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use "+
			"fewer of either", rows, number, sparse.MaxKernel)
	}
	if _, _, least := sparse.Nearest(out.z); least == 0 {
		return nil, errors.New("two inducing inputs are equal, which makes their covariance singular")
	}
	if !grid {
		if w := own.AmongWarning(out.z, data.X); w != "" {
			out.suspect = append(out.suspect, w)
		}
	}
	return out, nil
}

// split are the rows for training and for testing of one repeat.
func (o *ownColumns) split(rows int, rng *rand.Rand) (train, test []int, err error) {
	tests := int(math.Round(o.Holdout * float64(rows)))
	if tests < 1 || tests >= rows {
		return nil, nil, fmt.Errorf("holdout = %g leaves %d of %d rows for testing: at least one is needed for testing, and "+
			"one for training", o.Holdout, tests, rows)
	}
	order := rng.Perm(rows)
	return order[tests:], order[:tests], nil
}

// warnings say what is suspect about the data that were read.
func (r *ownRows) warnings() []string {
	var out []string
	rows, _ := r.X.Dims()
	if r.Dropped > 0 {
		out = append(out, fmt.Sprintf("%d of %d rows have no value in a column that is used and were left out", r.Dropped,
			r.Dropped+rows))
	}
	return append(out, r.suspect...)
}

// checkApart refuses, in a release, inducing inputs of a file or a list that are the private
// rows.
func (o *ownColumns) checkApart(t *experiment.Trial, rows *ownRows) error {
	file := o.InducingFile
	switch {
	case rows.grid:
		return nil
	case file == withoutFile:
		file = "" // a list
	}
	return own.CheckApart(t, o.Dataset, file, rows.z, rows.X)
}

// memory estimates what a trial takes, in bytes; see [own.Memory].
func (o *ownColumns) memory(inducing experiment.Points, kernels float64) int64 {
	file := o.InducingFile != withoutFile
	points := own.Points(inducing.Count, file, o.InducingFile, o.Inputs)
	if !file && inducing.Values != nil {
		points = func(int) int { return len(inducing.Values) }
	}
	return own.Memory(o.spec(), points, kernels)
}

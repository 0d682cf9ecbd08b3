package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Inducing describes the inducing inputs of a model: those of a file, a list for one input, or a
// number of them over the public range of the inputs. All of them are public.
type Inducing struct {
	File   string    // a data set, such as csv:PATH; empty for none
	Values []float64 // a list; nil for none
	// Reading is how the file is read.
	Reading table.Reading
	// Count is the number of a grid in every input or, where the grid would be too large, of all
	// points ([Inducing.layout]).
	Count int
	// Auto lays them by the rule of [design] in place of Count.
	Auto bool
	// Centred puts one of them in the middle, as classes and whitened features need it.
	Centred bool
	// Whitened lays them for whitened features of a number ([star]), with longer lengthscales.
	Whitened bool
	Range    method.InputRange
	// Centres is how many centres of the rows of File are taken; 0 for the rows.
	Centres int
	// Lengthscale are the units of distances between the rows of File; nil for one.
	Lengthscale *method.Lengthscale
}

// Computed reports whether the inducing inputs follow from public numbers alone.
func (i Inducing) Computed() bool { return i.File == "" && i.Values == nil }

const (
	// DefaultCount is the number of points of a grid in every input that is taken where none is given.
	DefaultCount = 9
	// defaultScattered is how many points there are in all, where DefaultCount in every input is too
	// many: on rows of eleven inputs, with ε from 1 to 3, 25 had the least error for 4,000 rows, and 100
	// for 20,000; this had one within 7 % of it for both.
	defaultScattered = 50
	// fewestScattered is the least number that means all points in several inputs: as many in every
	// input are more than [sparse.MaxInducing].
	fewestScattered = 23
)

// layout returns how many inducing inputs there are over the range of so many columns, and whether
// they are a grid. Count is the number in every column where that gives at most [sparse.MaxInducing];
// from fewestScattered on, which no grid in two columns can have, it is the number of all points, so
// that no number means both. DefaultCount stands for defaultScattered where its grid is too large; ok
// is false for other numbers.
func (i Inducing) layout(columns int) (points int, grid, ok bool) {
	all := math.Pow(float64(i.Count), float64(columns))
	switch {
	case all <= sparse.MaxInducing:
		return int(all), true, true
	case columns > 1 && i.Count >= fewestScattered && i.Count <= sparse.MaxInducing:
		return i.Count, false, true
	case columns > 1 && i.Count == DefaultCount:
		return defaultScattered, false, true
	}
	return 0, false, false
}

// Public names the public things that the inducing inputs follow from, for the description of a release.
func (i Inducing) Public(inputs []table.Input) string {
	points, grid, _ := i.layout(table.Width(inputs))
	switch {
	case i.Auto && i.Computed():
		return "the range of the inducing inputs, which are laid by their number and levels"
	case i.Centres > 0:
		return fmt.Sprintf("the points of which the inducing inputs are %d centres, by k-means", i.Centres)
	case !i.Computed():
		return "the inducing inputs"
	case grid:
		return "the range of the inducing inputs, which are a grid"
	}
	return fmt.Sprintf("the range of the inducing inputs, which are laid by %d points of a Halton sequence", points)
}

// Check refuses numbers of points that the inputs cannot have.
func (i Inducing) Check(inputs []table.Input) error {
	columns := table.Width(inputs)
	if _, _, ok := i.layout(columns); ok || i.Auto || !i.Computed() {
		return nil
	}
	noun, way := counted(len(inputs)), "use fewer"
	if columns > len(inputs) {
		noun += fmt.Sprintf(", with %d columns for the levels of categories,", columns)
	}
	if columns > 1 {
		way += fmt.Sprintf(", or the number of all points, %d to %d, such as inducing=100", fewestScattered,
			sparse.MaxInducing)
	}
	return fmt.Errorf("inducing = %d: a grid in %s has %.4g points; at most %d are possible: %s", i.Count, noun,
		math.Pow(float64(i.Count), float64(columns)), sparse.MaxInducing, way)
}

// counted is so many inputs.
func counted(inputs int) string {
	if inputs == 1 {
		return "one input"
	}
	return fmt.Sprintf("%d inputs", inputs)
}

// Place returns the inducing inputs (M×d) for rows, and adds to [method.Rows.Suspect].
func (i Inducing) Place(ctx context.Context, t *experiment.Trial, rows *method.Rows) (z *mat.Dense, err error) {
	var points *mat.Dense // of a file
	switch {
	case i.File != "":
		z, points, err = i.load(ctx, t, rows)
	case i.Values != nil && len(rows.Inputs) > 1:
		err = fmt.Errorf("inducing is a list, which is for one input, and there are %d", len(rows.Inputs))
	case i.Values != nil:
		z = sparse.Column(i.Values)
	default:
		z, err = i.overRange(rows.Asked)
	}
	if err != nil {
		return nil, err
	}
	number, _ := z.Dims()
	if n := rows.Slots; number > sparse.MaxInducing {
		return nil, fmt.Errorf("%d inducing inputs; at most %d are possible", number, sparse.MaxInducing)
	} else if n*number > sparse.MaxKernel {
		return nil, fmt.Errorf("%d rows with %d inducing inputs: their kernel matrix has more than %.0e elements; use fewer "+
			"of either", n, number, sparse.MaxKernel)
	}
	if _, _, least := sparse.Nearest(z); number > 1 && least == 0 {
		return nil, errors.New("two inducing inputs are equal, which makes their covariance singular")
	}
	if i.Computed() {
		rows.Suspect = append(rows.Suspect, i.Range.Warnings(rows)...)
	} else if warning := i.amongWarning(cmp.Or(points, z), rows.X); warning != "" {
		rows.Suspect = append(rows.Suspect, warning)
	}
	return z, nil
}

// overRange returns the points of a grid, or scattered ones.
func (i Inducing) overRange(inputs []table.Input) (*mat.Dense, error) {
	if err := i.Check(inputs); err != nil {
		return nil, err
	}
	low, high, err := i.Range.Of(inputs, simulatedEnd)
	if err != nil {
		return nil, err
	}
	points, grid, _ := i.layout(table.Width(inputs))
	switch {
	case i.Auto:
		return design(inputs, low, high, arrangement{centred: i.Centred, star: i.Whitened})
	case grid:
		return Regular(i.Count, low, high), nil
	}
	return scattered(points, inputs, low, high)
}

// simulatedEnd is the end of the grid for simulated data.
const simulatedEnd = 3.5

// load reads the points of the file, and returns them or their centres as the inducing inputs.
func (i Inducing) load(ctx context.Context, t *experiment.Trial, rows *method.Rows) (z, points *mat.Dense, err error) {
	points, err = table.LoadPoints(t, i.File, i.Reading, rows.Inputs)
	if err != nil {
		return nil, nil, err
	}
	n, _ := points.Dims()
	written, _ := dataset.FilePath(i.File)
	if i.Centres > 0 {
		z, err = i.centres(ctx, t, points, rows.Asked, written)
		return z, points, err
	}
	if n > sparse.MaxInducing {
		return nil, nil, fmt.Errorf("%s: %d inducing inputs; at most %d are possible: inducing_centres=100 takes the "+
			"centres of so many clusters of them", written, n, sparse.MaxInducing)
	}
	if n > 1 {
		if i, j, distance := sparse.Nearest(points); distance == 0 {
			return nil, nil, fmt.Errorf("%s: the inducing inputs %d and %d are equal, which makes their covariance singular",
				written, min(i, j)+1, max(i, j)+1)
		}
	}
	return points, points, nil
}

// centres returns the centres of clusters of public points (n×d), by k-means in units of the
// lengthscales, with a fixed stream: they are a function of the file and of public numbers.
func (i Inducing) centres(
	ctx context.Context, t *experiment.Trial, z *mat.Dense, inputs []table.Input, written string,
) (*mat.Dense, error) {
	units := experiment.Several{1}
	if i.Lengthscale != nil {
		var err error
		if units, err = i.Lengthscales(*i.Lengthscale, inputs, z); err != nil {
			return nil, err
		}
	}
	scales, err := method.ForInputs("lengthscale", units, inputs)
	if err != nil {
		return nil, err
	}
	var scaled mat.Dense
	scaled.Apply(func(_, j int, v float64) float64 { return v / scales[j] }, z)
	clusters, err := learn.KMeans(ctx, engine.Of(t.Engine), &scaled, i.Centres, fixed(), learn.KMeansOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: inducing_centres = %d: %w", written, i.Centres, err)
	}
	out := clusters.Centres
	out.Apply(func(_, j int, v float64) float64 { return v * scales[j] }, out)
	return out, nil
}

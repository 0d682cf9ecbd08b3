package stats

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// problem is a trial of which all that is public is computed.
type problem struct {
	*settings
	names     []string  // d
	low, high []float64 // public ends, where they are known
	binary    []bool    // columns of zeros and ones: levels and truth values
	most      int       // m, the rows of a unit
	units     int       // the public number of rows or persons
	slots     int       // N, the rows of the private matrix
	epsilon   float64   // ε₀
	losses    []experiment.Loss
	pure      bool // the composition is of ε alone
	data      release.Data
	suspect   []string // for judging alone
}

// narrowest is the least width of a public range over the magnitudes of its ends. The error of a rounded
// value is then far below the sensitivity of a sum, as [problem.mean] has it.
const narrowest = 0x1p-40

func newProblem(t *experiment.Trial, s *settings) (*problem, error) {
	p, inputs := &problem{settings: s, most: 1, names: []string{"x"}}, []table.Input{{Name: "x"}}
	var extremes *mat.Dense
	if s.isOwn() {
		read, err := s.spec().Load(t)
		if err != nil {
			return nil, err
		}
		if t.ForOthers() && len(read.Private) > 0 {
			return nil, fmt.Errorf("columns = %s: the levels of %q are read off the data, which a release protects; write "+
				"them, such as columns=colour[red|green]", s.Columns, read.Private[0])
		}
		p.names, p.data.Inputs, p.data.People, inputs = read.Names, read.X, read.People, read.Asked
		extremes, p.binary = read.Extremes, read.Binary()
		p.suspect = read.ColumnWarnings()
	} else {
		p.data.Inputs, p.binary = simulate(t), []bool{false}
	}
	p.units = p.data.Inputs.RawMatrix().Rows
	p.slots = p.units
	if people := p.data.People; people != nil {
		var err error
		if p.slots, err = people.Slots(len(p.names) + 1); err != nil {
			return nil, err
		}
		p.units, p.most, p.data.Slots = people.Count, people.PerPerson, p.slots
		p.suspect = append(p.suspect, people.Warnings(s.Person.Column())...)
	}
	// A row has 1 after its values, and an empty place NaN.
	p.data.Output = slices.Repeat([]float64{1}, p.data.Inputs.RawMatrix().Rows)
	p.low, p.high = make([]float64, len(p.names)), make([]float64, len(p.names))
	if s.given() {
		var err error
		if p.low, p.high, err = (method.InputRange{Low: s.Low, High: s.High}).Ends("low", "high", inputs); err != nil {
			return nil, err
		}
		for j := range p.low {
			if p.high[j]-p.low[j] < narrowest*(math.Abs(p.low[j])+math.Abs(p.high[j])) {
				return nil, fmt.Errorf("low = %g and high = %g are too near each other for double precision: subtract a constant "+
					"from %s", p.low[j], p.high[j], p.names[j])
			}
		}
		if warning := table.ReadOffWarning(cmp.Or(extremes, p.data.Inputs), p.names, p.low, p.high); warning != "" {
			p.suspect = append(p.suspect, warning)
		}
	}
	for j, binary := range p.binary {
		if binary {
			p.low[j], p.high[j] = 0, 1
		}
	}
	return p, p.compose()
}

// known reports whether the range of a column is public.
func (p *problem) known(j int) bool { return p.given() || p.binary[j] }

// plan returns the release of the rows.
func (p *problem) plan() *release.Plan {
	spending := experiment.Spending{Dataset: p.Dataset, Epsilon: p.Epsilon, Losses: p.losses, Size: p.sizeOf(p.names)}
	if !p.pure {
		spending.Delta = p.Delta
	}
	return p.data.Plan(experiment.UnitRow, spending, p.publish)
}

// plan plans a release.
func plan(_ context.Context, t *experiment.Trial, s *settings) (*release.Plan, error) {
	if err := s.checkRelease(); err != nil {
		return nil, err
	}
	p, err := newProblem(t, s)
	if err != nil {
		return nil, err
	}
	return p.plan(), nil
}

// metrics returns the metrics that follow from public numbers.
func (p *problem) metrics() publicMetrics {
	m := publicMetrics{EpsilonEach: p.epsilon, Units: float64(p.units)}
	if len(p.Quantiles) > 0 {
		// Smith 2011: a utility farther than (2m/ε₀)(ln G + t) below the largest has a probability of e^−t.
		m.RankError95 = 2 * float64(p.most) / p.epsilon * (math.Log(gridPoints) + math.Log(20))
	}
	return m
}

// privacy states the protection by a release.
func (p *problem) privacy() *experiment.Privacy {
	number := experiment.FormatNumber
	delta := p.Delta
	if p.pure {
		delta = 0
	}
	notes := []string{
		"the statistics, one after another, have Laplace noise or are chosen by the exponential mechanism, each with " +
			"epsilon = " + number(p.epsilon) + "; ranges that are not given follow from earlier ones of them",
		"the number of rows and that the columns are of numbers or of truth values are taken as public",
	}
	if p.data.People != nil {
		notes[1] = "the number of persons and that the columns are of numbers or of truth values are taken as public; the " +
			"number of rows is not"
	}
	person := p.Person
	if !p.isOwn() {
		person = method.Person{} // simulated data have none
	}
	out := &experiment.Privacy{
		Unit: person.Unit("columns " + strings.Join(p.names, ", ")),
		Mechanism: "Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006) for counts and sums; exponential mechanism " +
			"(McSherry and Talwar 2007) for quantiles, by ranks (Smith 2011)",
		Notes: notes,
	}
	return out.State(p.Epsilon, delta)
}

// publish computes the statistics of rows (N×(d+1)), whose last column is NaN in an empty place.
func (p *problem) publish(
	_ context.Context, private *mat.Dense, source *release.Source,
) (*experiment.Release, error) {
	out := &experiment.Release{Columns: p.columns(), ClassColumn: classColumn, Classes: p.names,
		Metrics: experiment.MetricValues(p.metrics())}
	rows := float64(p.slots)
	if p.data.People != nil {
		present := 0
		for _, v := range mat.Col(nil, len(p.names), private) {
			if !math.IsNaN(v) {
				present++
			}
		}
		var err error
		if rows, err = p.count(source, "number of rows", present, rows); err != nil {
			return nil, err
		}
	}
	for j := range p.names {
		row, warnings, err := p.column(private, j, rows, source)
		if err != nil {
			return nil, err
		}
		out.Rows, out.Warnings = append(out.Rows, row), append(out.Warnings, warnings...)
	}
	out.Privacy = p.privacy()
	out.Privacy.Publish()
	out.Privacy.Notes = append(out.Privacy.Notes, release.ExactNoise)
	return out, nil
}

// column returns the statistics of a column, in the order of their names. rows is the number of rows,
// which may be noisy.
func (p *problem) column(
	private *mat.Dense, j int, rows float64, source *release.Source,
) (out []float64, warnings []string, err error) {
	values := p.values(private, j)
	count, err := p.count(source, p.nameOf("number of values", j), len(values), rows)
	if err != nil {
		return nil, nil, err
	}
	out = []float64{count, rows - count}
	low, high := p.low[j], p.high[j]
	if !p.known(j) {
		var warning string
		if low, high, warning, err = p.scale(private, j, count, source); err != nil {
			return nil, nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	grid := []float64{0, 1}
	if !p.binary[j] {
		grid = gridOf(low, high, !p.given())
	}
	clamped := slices.Clone(values)
	for i, v := range clamped {
		clamped[i] = min(max(v, low), high)
	}
	chosen := make([]float64, len(p.Quantiles))
	for i, q := range p.Quantiles {
		utilities := make([]float64, len(grid))
		for k := range grid {
			from, to := cellOf(grid, k)
			utilities[k] = utility(clamped, from, to, q)
		}
		k, err := source.Choose(release.Choice{What: p.nameOf("quantile "+experiment.FormatNumber(q), j),
			Epsilon: p.epsilon, Change: float64(p.most), Error: float64(p.slots) * 0x1p-50}, utilities)
		if err != nil {
			return nil, nil, err
		}
		from, to := cellOf(grid, k)
		chosen[i] = shortest(grid[k], max(from, low), min(to, high))
	}
	slices.Sort(chosen) // quantiles do not fall
	out = append(out, chosen...)
	last, ranged := p.outer()
	if !p.known(j) && ranged {
		if low, high = widened(chosen[0], chosen[last]); chosen[0] == chosen[last] {
			warnings = append(warnings, fmt.Sprintf("most values of %s are %.6g, and its mean and range leave out any others; "+
				"give low and high", p.names[j], chosen[0]))
		}
	}
	if p.Mean {
		mean, sd, err := p.mean(source, j, values, low, high, count)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, mean, sd)
	}
	if ranged || p.given() {
		out = append(out, low, high)
	}
	return out, warnings, nil
}

// values returns the values of a column, sorted.
func (p *problem) values(private *mat.Dense, j int) []float64 {
	values := slices.DeleteFunc(mat.Col(nil, j, private), func(v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0)
	})
	slices.Sort(values)
	return values
}

// count adds noise to a number of rows, and brings it to a whole one that there can be.
func (p *problem) count(source *release.Source, what string, n int, most float64) (float64, error) {
	noise, err := release.Laplace(release.Query{What: what, Coordinates: 1, Change: float64(p.most),
		Size: float64(p.slots)}, p.epsilon)
	if err != nil {
		return 0, err
	}
	noisy, err := source.Add(noise, []float64{float64(n)})
	if err != nil {
		return 0, err
	}
	return min(max(math.RoundToEven(noisy[0]), 0), most), nil
}

// mean returns the mean of values between low and high, and the standard deviation that the mechanism
// gives it. count is the noisy number of values.
func (p *problem) mean(
	source *release.Source, j int, values []float64, low, high, count float64,
) (mean, sd float64, err error) {
	half := (high - low) / 2
	middle := low + half
	largest := release.Up(half)
	change := release.Up(2 * largest * float64(p.most))
	// A contribution is rounded when the middle is subtracted, and to the grid of the sum; its noise has
	// at most the doubled scale of change alone.
	each := (math.Abs(low)+math.Abs(high))*0x1p-51 + release.ContributionError(2*change/p.epsilon)
	noise, err := release.Laplace(release.Query{What: p.nameOf("sum", j), Coordinates: 1, Change: change,
		Error: release.Up(float64(p.most) * each), Size: release.Up(float64(p.slots) * largest)}, p.epsilon)
	if err != nil {
		return 0, 0, err
	}
	sums, err := release.NewSums(noise, p.slots, largest)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range values {
		sums.Add([]float64{min(max(v, low), high) - middle})
	}
	n := max(count, 1)
	off := sums.Noisy(source)[0] / n
	counted := math.Sqrt2 * float64(p.most) / p.epsilon
	sd = math.Hypot(math.Sqrt2*noise.Scale(), off*counted) / n
	return min(max(middle+off, low), high), min(sd, high-low), nil
}

// ranks returns how many of the sorted values are below c.
func ranks(values []float64, c float64) int {
	n, _ := slices.BinarySearch(values, c)
	return n
}

// utility is minus the number of ranks between the numbers of [from, to) and the q-quantile of sorted values.
func utility(values []float64, from, to, q float64) float64 {
	target := q * float64(len(values))
	return -max(0, float64(ranks(values, from))-target, target-float64(ranks(values, to)))
}

// widened returns the range for data with these outer quantiles: a quarter farther apart at either end,
// in whole steps of a hundredth to a tenth of the distance, and not beyond zero where neither is.
func widened(low, high float64) (from, to float64) {
	width := high - low
	if width == 0 {
		width = max(math.Abs(low), 0x1p-20) / 10
	}
	step := math.Pow(10, math.Floor(math.Log10(width))-1)
	from, to = step*math.Floor((low-width/4)/step), step*math.Ceil((high+width/4)/step)
	switch {
	case low >= 0 && high > 0:
		from = max(from, 0)
	case low < 0 && high <= 0:
		to = min(to, 0)
	}
	if !(from < to) { // a number so large that the step is lost
		from, to = math.Nextafter(low, math.Inf(-1)), math.Nextafter(high, math.Inf(1))
	}
	return from, to
}

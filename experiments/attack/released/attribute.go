package released

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/runner/experiment"
)

const (
	// mostLevels is the number of different values up to which a column of numbers is one of levels.
	mostLevels = 10
	// grid is the number of candidates for other numbers: quantiles of the others.
	grid = 32
)

// hidden is an input that is restored: some columns of a category, or one of numbers.
type hidden struct {
	*data
	f      *File
	name   string
	column int // the first one
	width  int
	levels []string // of a category; nil for numbers
	// values are those of levels that are numbers.
	values []float64
	truth  []float64 // of each row: the number of its level, or its number
	rest   *mat.Dense
}

// hide finds the input that is restored.
func (d *data) hide(f *File, name string) (*hidden, error) {
	h := &hidden{data: d, f: f, name: name}
	var names []string
	for _, in := range d.Asked {
		if names = append(names, in.Name); in.Name == name {
			h.width = max(1, in.Levels)
			for k := range in.Levels {
				h.levels = append(h.levels, f.of.Inputs[h.column+k][len(name)+1:])
			}
			break
		}
		h.column += max(1, in.Levels)
	}
	if h.width == 0 {
		return nil, fmt.Errorf("hidden = %s: %w", name, experiment.Unknown("input", name, names))
	}
	h.truth = make([]float64, d.Len())
	for i := range h.truth {
		h.truth[i] = h.value(d.X.RawRowView(i))
	}
	h.level()
	return h, h.drop()
}

// level makes levels of a few numbers; a member may have another one, which nobody guesses.
func (h *hidden) level() {
	values := slices.Compact(slices.Sorted(slices.Values(h.truth[h.members:])))
	if h.levels != nil || len(values) > mostLevels {
		return
	}
	h.values = values
	for _, v := range values {
		h.levels = append(h.levels, experiment.FormatNumber(v))
	}
	for i, v := range h.truth {
		h.truth[i] = float64(slices.Index(values, v))
	}
}

// drop makes the columns that the adversary knows: other inputs, and outputs.
func (h *hidden) drop() error {
	counts := map[float64]bool{}
	for _, v := range h.truth[h.members:] {
		counts[v] = true
	}
	if len(counts) < 2 {
		return fmt.Errorf("hidden = %s: all others have one value, and there is nothing to guess", h.name)
	}
	_, d := h.X.Dims()
	h.rest = h.outputs()
	if d == h.width {
		return nil
	}
	other := mat.NewDense(h.Len(), d-h.width, nil)
	for i := range h.Len() {
		row := h.X.RawRowView(i)
		copy(other.RawRowView(i), row[:h.column])
		copy(other.RawRowView(i)[h.column:], row[h.column+h.width:])
	}
	h.rest = beside(other, h.rest)
	return nil
}

// attribute restores an input of all rows.
func (f *File) attribute(ctx context.Context, d *data, name string, out *Results) error {
	h, err := d.hide(f, name)
	if err != nil {
		return err
	}
	p, err := f.predict(ctx, d.X)
	if err != nil {
		return err
	}
	var guesses [3][]float64 // by prior, without the file, with the file
	for i := range guesses {
		guesses[i] = make([]float64, d.Len())
	}
	part := d.rowParts()
	for k := range parts {
		train := among(part, k, false, func(row int) bool { return row >= d.members })
		test := among(part, k, true, nil)
		own, err := h.guess(ctx, p, train, test)
		if err != nil {
			return err
		}
		for g := range own {
			for i, row := range test {
				guesses[g][row] = own[g][i]
			}
		}
	}
	out.measure(h.levels != nil, fmt.Sprintf("%s of a row", name))
	member, prior := d.rowMembers(), frequent
	if h.levels == nil {
		prior = mean
	}
	for g, who := range []string{prior, without, with} {
		out.add(who, guesses[g], h.truth, member)
	}
	if holder, ok := f.Files[0].Payload.(model.Holder); ok {
		guess, err := h.read(ctx, holder.Held())
		if err != nil {
			return err
		}
		out.add(held, guess, h.truth, member)
	}
	out.conclude(name, member)
	return nil
}

// read reads the input off the row of the file that is nearest by the other inputs, among those of the output: of a
// number, all.
func (h *hidden) read(ctx context.Context, rows model.Held) ([]float64, error) {
	rows.Scale = slices.Clone(rows.Scale)
	clear(rows.Scale[h.column : h.column+h.width])
	guess := make([]float64, h.Len())
	for c := range max(1, len(h.Classes)) {
		own, some := rows, []int{}
		if h.Labels != nil {
			own.Points = nil
		}
		for k, output := range rows.Outputs {
			if h.Labels != nil && int(output) == c {
				own.Points = append(own.Points, rows.Points[k])
			}
		}
		for i := range guess {
			if h.Labels == nil || h.Labels[i] == c {
				some = append(some, i)
			}
		}
		if len(some) == 0 {
			continue
		}
		at, _, err := nearest(ctx, own, learn.SelectRows(h.X, some))
		if err != nil {
			return nil, err
		}
		for i, row := range some {
			guess[row] = h.value(own.Points[at[i]])
		}
	}
	return guess, nil
}

// value is the hidden input of a row: its number, or that of the nearest level.
func (h *hidden) value(row []float64) float64 {
	switch own := row[h.column : h.column+h.width]; {
	case h.values != nil:
		return float64(floats.NearestIdx(h.values, own[0]))
	case h.levels != nil:
		return float64(floats.MaxIdx(own))
	default:
		return own[0]
	}
}

// rowMembers tells which rows are members.
func (d *data) rowMembers() []bool {
	out := make([]bool, d.Len())
	for i := range d.members {
		out[i] = true
	}
	return out
}

// rowParts are the folds of rows.
func (d *data) rowParts() []int { return partsOf(d.rowMembers()) }

// guess restores the input of rows by what others tell that are not among them.
func (h *hidden) guess(ctx context.Context, p *method.Prediction, train, test []int) (out [3][]float64, err error) {
	c := h.candidates(learn.Select(h.truth, train))
	out[0] = slices.Repeat([]float64{c.best(c.logPrior)}, len(test))
	rest, at := learn.SelectRows(h.rest, train), learn.SelectRows(h.rest, test)
	if h.levels == nil {
		out[1], err = regress(rest, learn.Select(h.truth, train), at)
	} else {
		labels := make([]int, len(train))
		for i, row := range train {
			labels[i] = int(h.truth[row])
		}
		var scores [][]float64
		scores, err = classify(rest, labels, len(h.levels), at)
		for i := range test {
			out[1] = append(out[1], float64(largest(scores, i)))
		}
	}
	if err != nil {
		return out, err
	}
	likelihoods := h.likelihoods(p, train)
	posterior := make([][]float64, len(test))
	for i := range posterior {
		posterior[i] = slices.Clone(c.logPrior)
	}
	x := learn.SelectRows(h.X, slices.Concat(slices.Repeat([][]int{test}, len(c.logPrior))...))
	for at := range x.RawMatrix().Rows {
		h.put(x.RawRowView(at), at/len(test), c.values)
	}
	q, err := h.f.predict(ctx, x)
	if err != nil {
		return out, err
	}
	for k := range c.logPrior {
		for i, row := range test {
			posterior[i][k] += likelihoods(q, k*len(test)+i, row)
		}
	}
	for _, l := range posterior {
		out[2] = append(out[2], c.best(l))
	}
	return out, nil
}

// candidates are the values that a hidden input may have, by others.
type candidates struct {
	values   []float64 // of numbers; nil for levels
	logPrior []float64
}

// candidates are the levels with their shares, one added to each count, or quantiles of numbers.
func (h *hidden) candidates(truth []float64) *candidates {
	c := &candidates{}
	if h.levels == nil {
		sorted := slices.Sorted(slices.Values(truth))
		for k := range grid {
			c.values = append(c.values, stat.Quantile((float64(k)+.5)/grid, stat.Empirical, sorted, nil))
			c.logPrior = append(c.logPrior, -math.Log(grid))
		}
		return c
	}
	counts := make([]float64, len(h.levels))
	for _, v := range truth {
		counts[int(v)]++
	}
	for _, n := range counts {
		c.logPrior = append(c.logPrior, math.Log((n+1)/float64(len(truth)+len(counts))))
	}
	return c
}

// best is the level with the largest logarithm, or the mean of numbers by their weights.
func (c *candidates) best(logs []float64) float64 {
	if c.values == nil {
		return float64(floats.MaxIdx(logs))
	}
	all, mean := floats.LogSumExp(logs), 0.0
	for k, l := range logs {
		mean += math.Exp(l-all) * c.values[k]
	}
	return mean
}

// put gives a row the candidate k.
func (h *hidden) put(row []float64, k int, values []float64) {
	switch {
	case values != nil:
		row[h.column] = values[k]
	case h.values != nil:
		row[h.column] = h.values[k]
	default:
		clear(row[h.column : h.column+h.width])
		row[h.column+k] = 1
	}
}

// likelihoods returns the function that gives the logarithm of the likelihood of the output of a row by prediction i:
// normal, with the error that the file has in others; the probability of the class; or, of a file without
// probabilities, the share of others of the predicted class that are of it, one added to each count (Fredrikson et al.
// 2014, Section 4).
func (h *hidden) likelihoods(p *method.Prediction, train []int) func(q *method.Prediction, i, row int) float64 {
	if h.Labels == nil {
		variance := 0.0
		for _, row := range train {
			miss := h.Values[row] - p.Mean[row]
			variance += miss * miss / float64(len(train))
		}
		variance = max(variance, 1e-300)
		return func(q *method.Prediction, i, row int) float64 {
			miss := h.Values[row] - q.Mean[i]
			return -miss * miss / (2 * variance)
		}
	}
	if p.Probabilities != nil {
		return func(q *method.Prediction, i, row int) float64 {
			return math.Log(max(q.Probabilities[h.Labels[row]][i], 1e-300))
		}
	}
	counts := mat.NewDense(len(h.Classes), len(h.Classes), nil)
	counts.Apply(func(int, int, float64) float64 { return 1 }, counts)
	for _, row := range train {
		named := largest(p.Scores, row)
		counts.Set(named, h.Labels[row], counts.At(named, h.Labels[row])+1)
	}
	return func(q *method.Prediction, i, row int) float64 {
		of := counts.RawRowView(largest(q.Scores, i))
		return math.Log(of[h.Labels[row]] / floats.Sum(of))
	}
}

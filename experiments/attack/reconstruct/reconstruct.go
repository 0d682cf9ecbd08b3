package reconstruct

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
)

// Problem is to restore inputs.
type Problem struct {
	Map           *Map
	Known         *mat.Dense // N×d, rows that the adversary has
	KnownFeatures *mat.Dense // N×Q
	Persons       []int      // N, of the known rows; nil where they are not told apart
	Published     *mat.Dense // M×Q, features of the rows that she attacks
	Truth         *mat.Dense // M×d, their inputs, by which errors are measured
	Workers       int
	Rand          *rand.Rand
	Step          func(what string) // is called as each of [Guesses] is done
}

// The guesses.
const (
	Mean     = "mean of known rows"
	Linear   = "linear guess"
	Preimage = "pre-image"
	Near     = "pre-image near the linear guess"
)

// Guesses are the names of all, in their order.
var Guesses = []string{Mean, Linear, Preimage, Near}

// Finding are the errors of a guess.
type Finding struct {
	Guess     string
	Validated float64    // root of the mean squared error of known rows that were held out, in sd
	Weight    float64    // of the linear guess's distance, or of the ridge; 0 for none
	Errors    *mat.Dense // M×d, restored less true inputs, in sd; NaN of columns that are constant in the known rows
	Held      *mat.Dense // the same of known rows that were held out
}

// Findings are those of all guesses.
type Findings struct {
	All    []*Finding
	Chosen *Finding // with the least validated error
}

// Fewest is the least number of known rows.
const Fewest = 6

const (
	// held is the share of known rows by which guesses are compared, of which at most mostHeld are restored, and half of
	// that where fewer rows are attacked.
	held, mostHeld = 1. / 3, 24
	// widening is the share of its width by which a range of known rows is widened at both ends.
	widening = .25
	// nearestStarts is the number of known rows from which a search starts.
	nearestStarts = 3
)

// ridges and weights are ladders of which the best is taken. Both have an end at which there is next to nothing of the
// term, and one at which there is nothing else.
var (
	ridges  = []float64{1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, .1, 1, 10, 100}
	weights = []float64{1e-6, 1e-3, 1e-2, .1, 1}
)

// Run restores the rows.
func Run(ctx context.Context, p *Problem) (*Findings, error) {
	n, _ := p.Known.Dims()
	if n < Fewest {
		return nil, fmt.Errorf("reconstruction: there are %d known rows; at least %d are needed", n, Fewest)
	}
	out, rest := p.parts(n)
	tried := newAttacker(p, rest)
	if tried == nil {
		return nil, errors.New("reconstruction: every input has one value in the known rows; there is nothing to restore")
	}
	tried.chooseRidge(p.some(out))
	attacked, _ := p.Truth.Dims()
	held := p.some(out[:min(len(out), max(mostHeld/2, min(mostHeld, attacked)))])
	all := learn.AllRows(n)
	a := newAttacker(p, all)
	a.regression = a.ridge(tried.lambda)
	found := &Findings{}
	for _, name := range Guesses {
		f, err := a.finding(ctx, name, tried, held, rows{p.Truth, p.Published})
		if err != nil {
			return nil, err
		}
		found.All = append(found.All, f)
		if found.Chosen == nil || f.Validated < found.Chosen.Validated {
			found.Chosen = f
		}
		p.Step(name)
	}
	return found, nil
}

// parts divides n known rows at random into those that are held out, and others: by persons, since those attacked are
// others, too, where three or more are known.
func (p *Problem) parts(n int) (out, rest []int) {
	units := learn.AllRows(n)
	persons := infer.GroupsOf(units)
	if p.Persons != nil {
		if own := infer.GroupsOf(p.Persons); len(own) > 2 {
			persons = own
		}
	}
	cut := max(2, int(held*float64(n)))
	for k, i := range p.Rand.Perm(len(persons)) {
		if len(out) < cut && k < len(persons)-1 {
			out = append(out, persons[i]...)
		} else {
			rest = append(rest, persons[i]...)
		}
	}
	if len(rest) < len(out) { // one of them has most rows
		out, rest = rest, out
	}
	if len(persons) < n {
		p.Rand.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	}
	return out, rest
}

// rows have inputs (n×d) and features (n×Q).
type rows struct{ x, z *mat.Dense }

// some are known rows.
func (p *Problem) some(at []int) rows {
	return rows{learn.SelectRows(p.Known, at), learn.SelectRows(p.KnownFeatures, at)}
}

// attacker knows rows.
type attacker struct {
	view
	workers    int
	known      *mat.Dense // v of known rows, N×d
	features   *mat.Dense // of known rows in their units, N×Q
	lambda     float64    // of the ridge
	regression *mat.Dense // (Q+1)×d
}

// newAttacker returns nil where every input is constant.
func newAttacker(p *Problem, at []int) *attacker {
	known := p.some(at)
	_, d := known.x.Dims()
	a := &attacker{workers: max(1, p.Workers), known: known.x, features: known.z}
	s := learn.ScalingOf(known.x)
	s.Apply(a.known)
	a.view = view{of: p.Map, mean: s.Mean, sd: make([]float64, d), low: make([]float64, d), high: make([]float64, d)}
	varies := false
	for j, scale := range s.Scale {
		if scale == 0 {
			continue
		}
		varies = true
		column := mat.Col(nil, j, a.known)
		width := floats.Max(column) - floats.Min(column)
		a.sd[j], a.low[j], a.high[j] = 1/scale, floats.Min(column)-widening*width, floats.Max(column)+widening*width
	}
	if !varies {
		return nil
	}
	of := learn.ScalingOf(a.features)
	of.Apply(a.features)
	a.featureMean, a.featureScale = of.Mean, of.Scale
	return a
}

// scaled returns features in units of the known rows.
func (a *attacker) scaled(z *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(z)
	(&learn.Scaling{Mean: a.featureMean, Scale: a.featureScale}).Apply(out)
	return out
}

// ridge returns the regression of the inputs on the features, whose squared coefficients have the weight λN.
func (a *attacker) ridge(lambda float64) *mat.Dense {
	n, q := a.features.Dims()
	gram := mat.NewSymDense(q, nil)
	gram.SymOuterK(1, a.features.T())
	for i := range q {
		gram.SetSym(i, i, gram.At(i, i)+lambda*float64(n))
	}
	var right, out mat.Dense
	right.Mul(a.features.T(), a.known)
	var factor mat.Cholesky
	if !factor.Factorize(gram) {
		return nil // the next weight is larger
	}
	if err := factor.SolveTo(&out, &right); err != nil {
		return nil
	}
	return &out
}

// chooseRidge chooses the weight of the ridge by rows that are held out.
func (a *attacker) chooseRidge(validate rows) {
	least := math.Inf(1)
	for _, lambda := range ridges {
		r := a.ridge(lambda)
		if r == nil {
			continue
		}
		before := a.regression
		a.regression = r
		if e := rms(a.errors(a.linear(a.scaled(validate.z)), validate.x)); e < least {
			least, a.lambda = e, lambda
		} else {
			a.regression = before
		}
	}
}

// linear are the linear guesses about rows with these features.
func (a *attacker) linear(features *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(features, a.regression)
	return &out
}

// errors are guesses v (M×d) less the true inputs, in sd; NaN of constant columns.
func (a *attacker) errors(guesses, truth *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(guesses)
	out.Apply(func(i, j int, v float64) float64 {
		if a.sd[j] == 0 {
			return math.NaN()
		}
		return v - (truth.At(i, j)-a.mean[j])/a.sd[j]
	}, out)
	return out
}

// finding judges a guess with the settings that tried has tried, by known rows that are held out, and has it restore.
func (a *attacker) finding(ctx context.Context, name string, tried *attacker, validate, attacked rows) (*Finding,
	error) {
	f := &Finding{Guess: name, Validated: math.Inf(1)}
	candidates := []float64{0}
	switch name {
	case Linear:
		candidates[0] = tried.lambda
	case Near:
		candidates = weights
	}
	for _, weight := range candidates {
		guesses, err := tried.restore(ctx, name, tried.scaled(validate.z), weight)
		if err != nil {
			return nil, err
		}
		errors := tried.errors(guesses, validate.x)
		if e := rms(errors); e < f.Validated {
			f.Validated, f.Weight, f.Held = e, weight, errors
		}
	}
	guesses, err := a.restore(ctx, name, a.scaled(attacked.z), f.Weight)
	if err != nil {
		return nil, err
	}
	f.Errors = a.errors(guesses, attacked.x)
	return f, nil
}

// restore guesses the inputs (M×d) of rows with these features.
func (a *attacker) restore(ctx context.Context, name string, features *mat.Dense, weight float64) (*mat.Dense, error) {
	m, _ := features.Dims()
	d := len(a.mean)
	centres := mat.NewDense(m, d, nil)
	switch name {
	case Mean:
		return centres, nil
	case Linear:
		return a.linear(features), nil
	case Near:
		centres = a.linear(features)
	}
	out := mat.NewDense(m, d, nil)
	next := make(chan int, m)
	for i := range m {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range min(a.workers, m) {
		workers.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				s := &search{view: &a.view, target: features.RawRowView(i), centre: centres.RawRowView(i), lambda: weight,
					jacobian: mat.NewDense(a.of.features, d, nil)}
				starts := [][]float64{s.centre}
				if name == Preimage {
					starts = append(starts, a.nearest(s.target)...)
				}
				least := math.Inf(1)
				for _, start := range starts {
					if v, loss := s.from(start); loss < least {
						least = loss
						out.SetRow(i, v)
					}
				}
			}
		})
	}
	workers.Wait()
	return out, ctx.Err()
}

// nearest are the known rows whose features are nearest.
func (a *attacker) nearest(target []float64) (rows [][]float64) {
	n, _ := a.features.Dims()
	distances, order := make([]float64, n), make([]int, n)
	for i := range order {
		order[i], distances[i] = i, floats.Distance(a.features.RawRowView(i), target, 2)
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Or(cmp.Compare(distances[i], distances[k]), i-k) })
	for _, i := range order[:min(nearestStarts, n)] {
		rows = append(rows, a.known.RawRowView(i))
	}
	return rows
}

// rms is the root of the mean square of numbers.
func rms(errors *mat.Dense) float64 {
	sum, n := 0.0, 0
	for _, v := range errors.RawMatrix().Data {
		if !math.IsNaN(v) {
			sum, n = sum+v*v, n+1
		}
	}
	return math.Sqrt(sum / float64(n))
}

// Error is a root mean squared error in sd with its interval of 95 %.
type Error struct {
	RMS   float64 `json:"rms"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Units int     `json:"units"`
}

// ErrorOf returns the error of some columns of errors (M×d), of those that are not constant, over all rows. The mean of
// squares has Student's interval, with the variance of units as clusters.
func ErrorOf(errors *mat.Dense, columns []int, units []int) Error {
	m, _ := errors.Dims()
	var squares []float64
	var of []int // units of squares
	for i := range m {
		for _, j := range columns {
			v := errors.At(i, j)
			if math.IsNaN(v) {
				continue
			}
			unit := i
			if units != nil {
				unit = units[i]
			}
			squares, of = append(squares, v*v), append(of, unit)
		}
	}
	mean, variance, clusters := infer.Clustered(squares, of)
	out := Error{RMS: math.Sqrt(mean), High: math.Inf(1), Units: clusters}
	if clusters > 1 {
		half := infer.Quantile(float64(clusters-1)) * math.Sqrt(variance)
		out.Low, out.High = math.Sqrt(max(0, mean-half)), math.Sqrt(mean+half)
	}
	return out
}

// String is the error with its interval.
func (e Error) String() string { return fmt.Sprintf("%.2f [%.2f, %.2f]", e.RMS, e.Low, e.High) }

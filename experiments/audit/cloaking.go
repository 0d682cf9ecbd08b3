package audit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking"
	"privkern/experiments/cloaking/choose"
	"privkern/experiments/cloaking/classify"
	"privkern/experiments/cloaking/regress"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Where a release takes longer than 20 µs, fewer are drawn: eventDraws, with which
// noise ×.85 is still found by events, or boundDraws, with which it is found by the
// Gaussian bound and the tests of the noise, each with a probability above .99, see
// TestPower.
const (
	eventDraws = 250_000
	boundDraws = 30_000
)

// with returns a copy of settings with others laid over it.
func with(settings map[string]any, over ...any) map[string]any {
	out := make(map[string]any, len(settings)+len(over)/2)
	maps.Copy(out, settings)
	for i := 0; i < len(over); i += 2 {
		out[over[i].(string)] = over[i+1]
	}
	return out
}

// The noisy numbers of the files of releases.
var (
	nothing = regexp.MustCompile(`x^`) // matches no text
	// The third column, after two inputs; the noise's deviation in the last one is
	// public.
	regressionColumns     = regexp.MustCompile(`(?m)^[^,\n]*,[^,\n]*,[^,\n]*,|,[^,\n]*,[^,\n]*$`)
	regressionRecord      = regexp.MustCompile(`"(prediction|low95|high95)":\s*\[[^\]]*\]`)
	classificationColumns = regexp.MustCompile(`(?m),[^,\n]*,[^,\n]*$`)
	classificationRecord  = regexp.MustCompile(`"(probability|class)":\s*\[[^\]]*\]`)
	modelNumbers          = regexp.MustCompile(`"mean":\s*\[[^\]]*\]|"covariance":\s*\[(\s*\[[^\]]*\],?)*\s*\]`)
	chosenSettings        = regexp.MustCompile(`"settings":\s*\{[^}]*\}`)
)

var regressionSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "dose+age", "output": "response", "low": 0, "high": 100,
	"epsilon": 1, "delta": 0.01, "lengthscale": 2,
}

// regressionData are six rows with two public inputs, their outputs in the middle
// of the range.
const regressionData = "dose,age,response\n0,0,50\n1,1,50\n2,0,50\n3,1,50\n4,3,50\n1,4,50\n"

// beyond are the ends of the range [0, 100] and values beyond them, which clipping
// before the fit makes equal to the ends.
var beyond = []float64{-60, 0, 100, 160}

// cloakingRegression releases predictions at six points. Of one output, the one
// with the worst pair of values is changed.
func cloakingRegression(ctx context.Context, calibration mechanism.Calibration) (Subject, error) {
	p, err := newPlanned(cloaking.Paper(), "cloaking/regression", "data.csv", regressionData,
		with(regressionSettings, "calibration", calibration.String()), regress.Plan)
	if err != nil {
		return Subject{}, err
	}
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	n, _ := rows.Dims()
	pairs := len(beyond) * len(beyond)
	at := func(i int) (output int, from, to float64) {
		return i / pairs, beyond[i%pairs/len(beyond)], beyond[i%len(beyond)]
	}
	neighbours := func(i int) (first, second *mat.Dense) {
		output, from, to := at(i)
		if from >= to {
			return nil, nil
		}
		return replaced(rows, output, from), replaced(rows, output, to)
	}
	worst, err := p.worst(ctx, n*pairs, neighbours)
	if err != nil {
		return Subject{}, err
	}
	output, from, to := at(worst)
	first, second := neighbours(worst)
	pair, err := p.pair(ctx, fmt.Sprintf("output %d is %g, and %g", output+1, from, to), first, second, false)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request("note,response,dose,age\n"+
		"a,50,0,0\nb,50.000000,1,1\nc,-7e1,2,0\nd,50,3,1\nlonger,50,4,3\nf,50.00,1,4\n",
		regressionColumns, regressionRecord)
	return p.gaussian("one output of [0, 100] replaced by any other", spending, pair), nil
}

// personResponses are seven rows of three persons, of whom at most two each are used; those of the last are at
// one input.
const personResponses = "dose,age,response,id\n0,0,50,7\n1,1,50,7\n2,0,50,8\n3,1,50,8\n4,3,50,9\n4,3,50,9\n4,3,50,9\n"

// cloakingPerson releases predictions that protect all outputs of a person.
func cloakingPerson(ctx context.Context) (Subject, error) {
	p, err := newPlanned(cloaking.Paper(), "cloaking/regression", "data.csv", personResponses,
		with(regressionSettings, "calibration", mechanism.Analytic.String(), "person", "id", "rows_per_person", 2),
		regress.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstPerson(ctx, -60, 160)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request("note,id,response,dose,age\n"+
		"a,7,50,0,0\nb,7.0,50.000000,1,1\nc,8,-7e1,2,0\nd,8,500,3,1\nlonger,9,50,4,3\nf,9,50.00,4,3\ng,9,50,4,3\n",
		regressionColumns, regressionRecord)
	return p.gaussian("all outputs of one person replaced by any others", spending, pair), nil
}

// personClasses are eight rows of four persons, at four inputs.
const personClasses = "x,ill,id\n0,0,a\n0.5,1,a\n2,0,b\n2,1,b\n4,0,c\n0.5,1,c\n4,0,d\n2,1,d\n"

// cloakingClassPerson releases classes after one Newton step, and flips all labels of a person.
func cloakingClassPerson(ctx context.Context) (Subject, error) {
	p, err := newPlanned(cloaking.Paper(), "cloaking/classification", "data.csv", personClasses, map[string]any{
		"dataset": "csv:data.csv", "inputs": "x", "output": "ill", "low": 0, "high": 1, "epsilon": 1, "delta": 0.01,
		"lengthscale": 1, "person": "id", "rows_per_person": 2,
	}, classify.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstPerson(ctx, -1, 1)
	if err != nil {
		return Subject{}, err
	}
	other := strings.NewReplacer("0,0,a\n0.5,1,a\n", "0,1.0,a\n0.5,0,a\n").Replace(personClasses)
	pair.Release = p.request(other, classificationColumns, classificationRecord)
	return p.gaussian("all labels of one person flipped", spending, pair), nil
}

// worstPerson replaces all private numbers of one person, each by the other of two ends, where that moves the
// queries the most.
func (p *planned) worstPerson(ctx context.Context, low, high float64) (Pair, experiment.Spending, error) {
	plan, err := p.take(ctx)
	if err != nil {
		return Pair{}, experiment.Spending{}, err
	}
	rows, persons := plan.Private, plan.People.Groups()
	p.give(plan)
	const patterns = 4 // the ends of two rows
	neighbours := func(i int) (first, second *mat.Dense) {
		first, second = rows, rows
		ends := [2]float64{low, high}
		for at, row := range persons[i/patterns] {
			end := i % patterns >> at & 1
			first, second = replaced(first, row, ends[end]), replaced(second, row, ends[1-end])
		}
		return first, second
	}
	worst, err := p.worst(ctx, patterns*len(persons), neighbours)
	if err != nil {
		return Pair{}, experiment.Spending{}, err
	}
	first, second := neighbours(worst)
	name := fmt.Sprintf("person %d with other ends of [%g, %g]", worst/patterns+1, low, high)
	pair, err := p.pair(ctx, name, first, second, false)
	return pair, plan.Spending, err
}

// cloakingClassification releases probabilities after one Newton step or more, of
// rows whose inputs are given, and flips the label that moves the release the most.
// In a single step the likelihood ratio is known; so it is in several steps with a
// single input, where every step releases the sum of the labels.
func cloakingClassification(ctx context.Context, steps int, inputs [][]float64) (Subject, error) {
	var all []Pair
	var out Subject
	for _, x := range inputs {
		var data strings.Builder
		data.WriteString("x,ill\n")
		for i, v := range x {
			fmt.Fprintf(&data, "%g,%d\n", v, i%2)
		}
		p, err := newPlanned(cloaking.Paper(), "cloaking/classification", "data.csv", data.String(), map[string]any{
			"dataset": "csv:data.csv", "inputs": "x", "output": "ill", "low": 0, "high": 1, "epsilon": 1, "delta": 0.01,
			"lengthscale": 1, "iterations": steps,
		}, classify.Plan)
		if err != nil {
			return out, err
		}
		rows, spending, err := p.rows(ctx)
		if err != nil {
			return out, err
		}
		flip := func(i int) (first, second *mat.Dense) { return rows, replaced(rows, i, -rows.At(i, 0)) }
		worst, err := p.worst(ctx, len(x), flip)
		if err != nil {
			return out, err
		}
		first, second := flip(worst)
		distinct := len(slices.Compact(slices.Sorted(slices.Values(x))))
		pair, err := p.pair(ctx, fmt.Sprintf("inputs %s, the label of row %d flipped", list(x), worst+1), first, second,
			steps > 1 && distinct > 1)
		if err != nil {
			return out, err
		}
		if len(all) == 0 {
			other := strings.NewReplacer(fmt.Sprintf("%g,%d\n", x[worst], worst%2), fmt.Sprintf("%g.000,%d.0\n", x[worst],
				1-worst%2))
			pair.Release = p.request(other.Replace(p.content), classificationColumns, classificationRecord)
		}
		all = append(all, pair)
		out = p.gaussian("one label flipped", spending, all...)
	}
	out.Draws = eventDraws
	if steps > 1 {
		out.Draws = boundDraws // each draw has a design of its own
	}
	return out, nil
}

// classInputs are eight rows at four inputs.
var classInputs = []float64{0, 1, 2, 4, 0, 1, 2, 4}

// oneInput are six rows at one.
var oneInput = slices.Repeat([]float64{1}, 6)

// censusData is the census by formulas, in the form of the file that is read.
func censusData(digits int) string {
	var b strings.Builder
	b.WriteString(`"height";"weight";"age";"male"` + "\n")
	for i := range 287 {
		x := float64(i)
		age := math.Floor(88 * math.Pow(float64(i*i*7%287)/287, 1.5))
		fmt.Fprintf(&b, "%.*f;%.3f;%g;0\n", digits, 110+40*math.Sin(1.7*x), 4+50*(1-math.Exp(-age/12)), age)
	}
	for range 257 {
		b.WriteString("170;60;30;1\n")
	}
	return b.String()
}

// selectionSettings choose among three configurations that are far from each
// other.
var selectionSettings = map[string]any{
	"lengthscales": "1,5,125", "noise_variances": "1", "kernel_variances": "5", "selection_epsilon": 1.0, "epsilon": "inf",
	"folds": 2, "sensitivity": "exact", "normalisation": "public", "public_low_cm": 60, "sensitivity_cm": 100,
}

// cloakingSelection releases a choice of hyper-parameters for a census by
// formulas. One height changes from an end of its interval to the other, and the
// others lie where that moves the utilities of two configurations apart the most.
func cloakingSelection(ctx context.Context) (Subject, error) {
	p, err := newPlanned(cloaking.Paper(), "cloaking/selection", "Howell1.csv", censusData(3), selectionSettings,
		choose.Plan)
	if err != nil {
		return Subject{}, err
	}
	first, second, name, err := worstHeights(ctx, p)
	if err != nil {
		return Subject{}, err
	}
	_, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	return Subject{
		Unit: "one height replaced by any other", Claim: mechanism.Guarantee{Epsilon: spending.Epsilon},
		Pairs: []Pair{{
			Name: name,
			Draw: func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
				out, _, err := p.release(ctx, either(useSecond, first, second), release.Unbooked(entropy))
				if err != nil {
					return Output{}, err
				}
				return Output{Published: []float64{out.Model.(*release.Configuration).Settings["lengthscale"]}}, nil
			},
			Release: &Request{
				Experiment: "cloaking/selection", Given: p.given, Set: "kung", File: p.file,
				Contents: [2]string{censusData(3), censusData(12)},
				Table:    chosenSettings, Record: chosenSettings, Described: chosenSettings,
			},
		}},
	}, nil
}

// selected is the number of heights that have a part in the choice.
const selected = 144

// worstHeights returns two sets of heights, in which one differs. The utilities are
// quadratic, −zᵀHz: with D = H_a − H_b for two configurations, moving height j
// across its interval changes the difference of their utilities the most where the
// others lie at the ends that the signs of D_ji give. D comes from second
// differences of the utilities.
func worstHeights(ctx context.Context, p *planned) (first, second *mat.Dense, name string, err error) {
	const low, middle, high = 60.0, 110.0, 160.0
	rows, _, err := p.rows(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	for i := range rows.RawMatrix().Rows {
		rows.Set(i, 0, middle)
	}
	var none []float64
	sensitivity := 0.0
	utilities := func(rows *mat.Dense) []float64 {
		out, draws, failed := p.release(ctx, rows, release.Unbooked(rand.NewChaCha8([32]byte{3})))
		if failed != nil {
			err = failed
			return slices.Clone(none)
		}
		sensitivity = choose.Selection().Values(out.Metrics).Sensitivity
		return draws[0].Query
	}
	moved := func(places ...int) []float64 {
		for _, i := range places {
			rows.Set(i, 0, high)
		}
		u := utilities(rows)
		for _, i := range places {
			rows.Set(i, 0, middle)
		}
		return u
	}
	none = moved()
	single := make([][]float64, selected)
	for i := range single {
		single[i] = moved(i)
	}
	largest := -1.0
	for j := 5; j < selected; j += selected / 3 {
		both := make([][]float64, selected)
		for i := range both {
			if i != j {
				both[i] = moved(i, j)
			}
		}
		if err != nil {
			return nil, nil, "", err
		}
		for b := range none {
			for a := range b {
				difference := func(u []float64) float64 { return u[a] - u[b] }
				// Nearer to the middle the utilities differ less, and so do the
				// probabilities: choices that are never made show nothing.
				for share := 0.1; share < 1.05; share += 0.1 {
					corner := mat.DenseCopyOf(rows)
					for i := range both {
						if i == j {
							continue
						}
						end := low
						if difference(both[i])-difference(single[i])-difference(single[j])+difference(none) > 0 {
							end = high
						}
						corner.Set(i, 0, middle+share*(end-middle))
					}
					from, to := replaced(corner, j, low), replaced(corner, j, high)
					if v := oddsMoved(utilities(from), utilities(to), 1/(2*sensitivity)); v > largest {
						largest, first, second = v, from, to
						name = fmt.Sprintf("height %d is %g cm, and %g cm", j+1, low, high)
					}
				}
			}
		}
	}
	return first, second, name, err
}

// oddsMoved is the largest logarithm of the ratio of the probabilities with which a
// candidate is chosen of two data sets, among candidates that are chosen now and then.
func oddsMoved(u, v []float64, rate float64) float64 {
	const now = 0.005
	p, q := probabilities(u, rate), probabilities(v, rate)
	largest := 0.0
	for c := range p {
		if min(p[c], q[c]) > now {
			largest = max(largest, math.Abs(math.Log(p[c]/q[c])))
		}
	}
	return largest
}

// probabilities returns the probabilities of the exponential mechanism, proportional to exp(rate·u).
func probabilities(u []float64, rate float64) []float64 {
	best, sum := slices.Max(u), 0.0
	out := make([]float64, len(u))
	for c, v := range u {
		out[c] = math.Exp(rate * (v - best))
		sum += out[c]
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}

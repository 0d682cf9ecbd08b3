package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"

	"privkern/experiments/baseline"
	"privkern/experiments/baseline/largest"
	"privkern/experiments/baseline/means"
	"privkern/experiments/dpgp"
	"privkern/experiments/dpgp/regression"
	"privkern/experiments/kahm"
	"privkern/experiments/kahm/nearest"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// modelSettings have a λ that the noise does not exceed: one that is raised, and the warning of it, follow from noisy
// numbers and differ between releases.
var modelSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "x", "output": "y", "low": -1, "high": 1, "epsilon": 1, "delta": 0.01,
	"inducing": "3", "input_low": -1.5, "input_high": 1.5, "lengthscale": 1, "rho": 1e-9,
}

const modelData = "x,y\n0.5,0.25\n-1,0\n0.75,-0.5\n"

// sparseGP releases a model with three inducing inputs and replaces a row by the
// worst of all, inputs and outputs searched, outputs beyond their range, too.
func sparseGP(ctx context.Context) (Subject, error) {
	p, err := newPlanned(dpgp.Paper(), "dpgp/regression", "data.csv", modelData, modelSettings, regression.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstRow(ctx, []float64{-6, -2}, []float64{6, 2}, nil)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request("y,name,x\n7,someone,-123.456789\n0,someone else,-1\n-0.5,c,0.7500\n", modelNumbers, nothing)
	s := p.gaussian("one row, input and output, replaced by any other", spending, pair)
	s.Draws = eventDraws
	return s, nil
}

var inputsSettings = with(modelSettings, "inputs", "x,z", "inducing", "2", "input_low", "-1,-10", "input_high", "1,10",
	"lengthscale", "1,9", "features", "kernel")

const inputsData = "x,z,y\n0.5,3,0.25\n-1,0,0\n0.75,-5,-0.5\n"

// sparseGPInputs releases a model of two inputs with a lengthscale each, whose sensitivity
// is the exact maximum over the inputs.
func sparseGPInputs(ctx context.Context) (Subject, error) {
	p, err := newPlanned(dpgp.Paper(), "dpgp/regression", "data.csv", inputsData, inputsSettings, regression.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstRow(ctx, []float64{-6, -60, -2}, []float64{6, 60, 2}, nil)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request("y,name,x,z\n7,someone,-123.456789,1\n0,someone else,-1,0\n-0.5,c,0.7500,-5.0\n",
		modelNumbers, nothing)
	s := p.gaussian("one row, inputs and output, replaced by any other", spending, pair)
	s.Draws = eventDraws
	return s, nil
}

var classifierSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "x", "output": "kind[a|b|c]", "epsilon": 1, "delta": 0.01, "alpha": 0.1,
	"inducing": 2, "input_low": -1, "input_high": 1, "lengthscale": 1, "rho": 1e-9, // as above
}

const classifierData = "x,kind\n0.5,a\n-1,b\n0.75,c\n"

// classNumbers are the noisy numbers of the file of a classifier.
var classNumbers = regexp.MustCompile(`"means":\s*\[(\s*\[[^\]]*\],?)*\s*\]|` +
	`"covariances":\s*\[(\s*\[(\s*\[[^\]]*\],?)*\s*\],?)*\s*\]`)

// sparseClassifier releases a classifier of three classes and replaces a row by the worst of
// all, inputs and classes searched.
func sparseClassifier(ctx context.Context) (Subject, error) {
	p, err := newPlanned(dpgp.Paper(), "dpgp/classification", "data.csv", classifierData, classifierSettings,
		dpgp.PlanClasses)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstRow(ctx, []float64{-6, -0.49}, []float64{6, 2.49}, func(row []float64) []float64 {
		return []float64{row[0], math.Abs(math.Round(row[1]))}
	})
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request("kind,name,x\nb,someone,-123.456789\nb,someone else,-1\nc,third,0.7500\n", classNumbers,
		nothing)
	s := p.gaussian("one row, input and class, replaced by any other", spending, pair)
	s.Draws = boundDraws
	return s, nil
}

// personData are rows of three persons, of whom at most two each are used.
const personData = "x,y,kind,id\n0.5,0.25,a,8\n-1,0,b,7\n0.75,-0.5,c,9\n0.5,1,a,8\n0.5,0.25,a,8\n0,0,c,9\n"

// otherPersons are rows of three persons, of whom each but one has another number of them.
const otherPersons = "y,kind,name,id,x\n7,b,someone,P-1,-123.456789\n0,b,someone else,P-2,-1\n-0.5,c,third,P-3,0.7500\n"

// sparseGPPerson releases a model that protects persons with at most two rows, and replaces one with
// all of theirs.
func sparseGPPerson(ctx context.Context) (Subject, error) {
	return person(ctx, "dpgp/regression", modelSettings, regression.Plan, []float64{-6, -2}, []float64{6, 2}, nil,
		modelNumbers)
}

// sparseClassifierPerson is the same of a classifier.
func sparseClassifierPerson(ctx context.Context) (Subject, error) {
	return person(ctx, "dpgp/classification", classifierSettings, dpgp.PlanClasses, []float64{-6, -0.49},
		[]float64{6, 2.49}, func(row []float64) []float64 {
			return []float64{row[0], math.Abs(math.Round(row[1]))}
		}, classNumbers)
}

// person releases whole rows of which a person has at most two, see [planned.worstRows].
func person(ctx context.Context, name string, given map[string]any,
	plan func(context.Context, *experiment.Trial) (*release.Plan, error), low, high []float64,
	round func([]float64) []float64, numbers *regexp.Regexp) (Subject, error) {
	p, err := newPlanned(dpgp.Paper(), name, "data.csv", personData, with(given, "person", "id", "rows_per_person", 2),
		plan)
	if err != nil {
		return Subject{}, err
	}
	pairs, spending, err := p.worstRows(ctx, 2, low, high, round)
	if err != nil {
		return Subject{}, err
	}
	pairs[0].Release = p.request(otherPersons, numbers, nothing)
	s := p.gaussian("one person with at most 2 rows, all of them replaced by any others or none", spending, pairs...)
	s.Draws = boundDraws
	return s, nil
}

var choiceSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "x", "output": "y", "output_low": -1, "output_high": 1, "epsilon": 1,
	"inducing": 2, "input_low": -1, "input_high": 1, "lengthscales": "0.3,30", "sigmas": "0.03", "score_range": 0.01,
}

// sparseChoice releases a choice between two lengthscales by blocks of four rows. They lie in
// the middle between the inducing inputs: for the short lengthscale nothing is known there,
// and the long one is the better one while all outputs are alike. One that is far from the
// others, wherever the order puts it, is worth more to the short one: the scores of its block
// are exchanged.
func sparseChoice(ctx context.Context, blocks int) (Subject, error) {
	content := "x,y\n" + strings.Repeat("0,0\n", 4*blocks)
	p, err := newPlanned(dpgp.Paper(), "dpgp/hyperparameters", "data.csv", content, with(choiceSettings, "blocks", blocks),
		dpgp.PlanSearch)
	if err != nil {
		return Subject{}, err
	}
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	other := replaced(rows, 0, 0, -1)
	request := p.request("y,name,x\n-33,a,0\n"+strings.Repeat("0.00,someone else,0.0\n", 4*blocks-1), chosenSettings,
		chosenSettings)
	request.Described = chosenSettings
	return Subject{
		Unit: "one row, input and output, replaced by any other", Claim: mechanism.Guarantee{Epsilon: spending.Epsilon},
		Draws: boundDraws,
		Pairs: []Pair{{
			Name: "output -1 in place of 0",
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
				out, _, err := p.release(ctx, either(second, rows, other), release.Unbooked(entropy))
				if err != nil {
					return Output{}, err
				}
				return Output{Published: []float64{out.Model.(*release.Configuration).Settings["lengthscale"]}}, nil
			},
			Release: request,
		}},
	}, nil
}

// hullSettings release noisy rows of two inputs: 1/2 for an entry, and so 1 for a row.
var hullSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "dose+age", "output": "group", "low": "0,20", "high": "10,80",
	"data": "noisy", "n": 1, "layers": 1, "branches": 1, "epsilon": 0.5,
}

// hullData are rows of two classes, in the middle of their ranges.
const hullData = "dose,age,group\n5,50,a\n4,55,a\n6,45,b\n3,50,b\n"

// hullRows matches the noisy numbers of a table of rows, in the columns before the class.
var hullRows = regexp.MustCompile(`(?m)^[^,\n]*,[^,\n]*,`)

// hullPersons are rows of three persons, of whom at most two each are used. One has a row of each class.
const hullPersons = "dose,age,group,id\n5,50,a,1\n4,55,b,1\n6,45,b,2\n3,50,a,3\n3,50,a,3\n3,50,a,3\n"

// hullRelease releases the rows behind a classifier of affine hull machines.
func hullRelease(ctx context.Context) (Subject, error) {
	return hull(ctx, "one row of two inputs, replaced by any other", hullData,
		"note,group,age,dose\nof,b,20,3.000\nb,a,-7e1,5\nof-a-longer-name,a,50,14\nd,b,80.5,-1\n", hullSettings)
}

// hullPerson does so with a fourth of the loss for an entry, so that all rows of a person have the same loss.
func hullPerson(ctx context.Context) (Subject, error) {
	return hull(ctx, "all inputs of one person with at most 2 rows, replaced by any others", hullPersons,
		"note,id,group,age,dose\nof,1,b,20,3.000\nb,1.0,a,-7e1,5\nof-a-longer-name,3,a,50,14\nd,2,b,80.5,-1\n"+
			"e,3,a,7,7.00\nf,3,a,1,1\n", with(hullSettings, "person", "id", "rows_per_person", 2, "epsilon", 0.25))
}

// hull releases rows with Laplace noise. Both inputs of the first row, or of all rows of the first person, move from
// beyond one end of their ranges to beyond the other, which clipping makes equal to the ends: the largest effect of a
// row, or of a person's rows.
func hull(ctx context.Context, unit, content, other string, given map[string]any) (Subject, error) {
	p, err := newPlanned(kahm.Paper(), "kahm/classifier", "data.csv", content, given, nearest.Plan)
	if err != nil {
		return Subject{}, err
	}
	plan, err := p.take(ctx)
	if err != nil {
		return Subject{}, err
	}
	first, second, spending, moved := plan.Private, plan.Private, plan.Spending, []int{0}
	if plan.People != nil {
		moved = plan.People.Groups()[0]
	}
	p.give(plan)
	for _, row := range moved {
		first, second = replaced(first, row, -4, -10), replaced(second, row, 14, 110)
	}
	pair, err := p.laplace(ctx, fmt.Sprintf("%d rows are below the ranges, and above", len(moved)), first, second)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request(other, hullRows, nothing)
	pair.Release.Name, pair.Release.Given = "release.csv", with(p.given, "data", "fabricated", "smoothing", 1)
	return Subject{
		Unit: unit, Claim: mechanism.Guarantee{Epsilon: spending.Epsilon},
		Law: Laplace, Pairs: []Pair{pair}, Draws: eventDraws,
	}, nil
}

var baselineSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "x", "output": "kind[a|b|c]", "epsilon": 1, "delta": 0.01, "input_low": -1,
	"input_high": 1,
}

// otherClasses are as many rows as [classifierData] has, which differ in all that is not public.
const otherClasses = "kind,name,x\nb,someone,-123.456789\nb,someone else,-1\nc,third,0.7500\n"

// meansNumbers are the noisy numbers of the file of class means, sharesNumbers those of the shares of classes.
var (
	meansNumbers = regexp.MustCompile(`"means":\s*\[(\s*\[[^\]]*\],?)*\s*\]|` + sharesNumbers.String() +
		`|"variance":\s*[^,}\s]*`)
	sharesNumbers = regexp.MustCompile(`"shares":\s*\[[^\]]*\]`)
)

// classMeans releases the means of classes, and replaces a row by the worst of all, inputs and classes searched.
func classMeans(ctx context.Context) (Subject, error) {
	p, err := newPlanned(baseline.Experiments(), "baseline/class-means", "data.csv", classifierData, baselineSettings,
		means.Definition.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.worstRow(ctx, []float64{-3, -0.49}, []float64{3, 2.49}, func(row []float64) []float64 {
		return []float64{row[0], math.Abs(math.Round(row[1]))}
	})
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request(otherClasses, meansNumbers, nothing)
	s := p.gaussian("one row, input and class, replaced by any other", spending, pair)
	s.Draws = boundDraws
	return s, nil
}

// largestClass releases the counts of classes with Laplace noise, and replaces a row by one of another class.
func largestClass(ctx context.Context) (Subject, error) {
	p, err := newPlanned(baseline.Experiments(), "baseline/largest-class", "data.csv", classifierData, baselineSettings,
		largest.Definition.Plan)
	if err != nil {
		return Subject{}, err
	}
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	pair, err := p.laplace(ctx, "a row of class a, and of class b", replaced(rows, 0, 0, 0), replaced(rows, 0, 0, 1))
	if err != nil {
		return Subject{}, err
	}
	pair.Release = p.request(otherClasses, sharesNumbers, nothing)
	return Subject{Unit: "one row, input and class, replaced by any other",
		Claim: mechanism.Guarantee{Epsilon: spending.Epsilon}, Law: Laplace, Pairs: []Pair{pair}, Draws: eventDraws}, nil
}

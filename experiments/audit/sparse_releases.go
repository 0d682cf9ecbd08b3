package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"

	"privkern/experiments/dpgp"
	"privkern/experiments/dpgp/regression"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// rowOf searches for the worst substitution of the first row between the corners low and
// high, where round, if not nil, brings a row to one that there can be.
func (p *planned) rowOf(
	ctx context.Context, low, high []float64, round func([]float64) []float64,
) (pair Pair, spending experiment.Spending, err error) {
	p.mayFail = true // where the noise is larger than the regularisation allows for
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return pair, spending, err
	}
	if round == nil {
		round = func(row []float64) []float64 { return row }
	}
	var failed error
	query := func(row []float64) (q, scale []float64) {
		q, scale, err := p.queries(ctx, replaced(rows, 0, round(row)...))
		if err != nil {
			failed = err
		}
		return q, scale
	}
	// The far input, where a row moves nothing, is part of the box.
	a, b, _, err := Worst(low, high, func(a, b []float64) float64 {
		if failed != nil {
			return math.NaN()
		}
		q, scale := query(a)
		r, _ := query(b)
		return distance(q, r, scale)
	}, 2, 1)
	if failed != nil {
		return pair, spending, failed
	}
	if err != nil {
		return pair, spending, err
	}
	a, b = round(a), round(b)
	pair, err = p.pair(ctx, fmt.Sprintf("(%s) in place of (%s)", inputsOf(b), inputsOf(a)), replaced(rows, 0, a...),
		replaced(rows, 0, b...), false)
	return pair, spending, err
}

var inputsSettings = with(modelSettings, "inputs", "x,z", "inducing", "2", "input_low", "-1,-10", "input_high", "1,10",
	"lengthscale", "1,9")

const inputsData = "x,z,y\n0.5,3,0.25\n-1,0,0\n0.75,-5,-0.5\n"

// sparseGPInputs releases a model of two inputs with a lengthscale each, whose sensitivity
// is the exact maximum over the inputs.
func sparseGPInputs(ctx context.Context) (Subject, error) {
	p, err := newPlanned(dpgp.Paper(), "dpgp/regression", "data.csv", inputsData, inputsSettings, regression.Plan)
	if err != nil {
		return Subject{}, err
	}
	pair, spending, err := p.rowOf(ctx, []float64{-6, -60, -2}, []float64{6, 60, 2}, nil)
	if err != nil {
		return Subject{}, err
	}
	pair.Release = &Request{
		Experiment: "dpgp/regression", Given: p.given, File: p.file,
		Contents: [2]string{inputsData, "y,name,x,z\n7,someone,-123.456789,1\n0,someone else,-1,0\n-0.5,c,0.7500,-5.0\n"},
		Table:    modelNumbers, Record: nothing,
	}
	s := p.gaussian("one row, inputs and output, replaced by any other", spending, pair)
	s.Draws = eventDraws
	return s, nil
}

var classifierSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "x", "output": "kind[a|b|c]", "epsilon": 1, "delta": 0.01, "alpha": 0.1,
	"inducing": 2, "input_low": -1, "input_high": 1, "lengthscale": 1,
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
	pair, spending, err := p.rowOf(ctx, []float64{-6, -0.49}, []float64{6, 2.49}, func(row []float64) []float64 {
		return []float64{row[0], math.Abs(math.Round(row[1]))}
	})
	if err != nil {
		return Subject{}, err
	}
	pair.Release = &Request{
		Experiment: "dpgp/classification", Given: p.given, File: p.file,
		Contents: [2]string{classifierData, "kind,name,x\nb,someone,-123.456789\nb,someone else,-1\nc,third,0.7500\n"},
		Table:    classNumbers, Record: nothing,
	}
	s := p.gaussian("one row, input and class, replaced by any other", spending, pair)
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
	return Subject{
		Unit: "one row, input and output, replaced by any other", Claim: mechanism.Guarantee{Epsilon: spending.Epsilon},
		Draws: boundDraws,
		Pairs: []Pair{{
			Name: "output -1 in place of 0",
			Draw: func(second bool, entropy *rand.ChaCha8) (Output, error) {
				from := rows
				if second {
					from = other
				}
				out, _, err := p.release(ctx, from, release.Unbooked(entropy))
				if err != nil {
					return Output{}, err
				}
				return Output{Published: []float64{out.Model.(*release.Configuration).Settings["lengthscale"]}}, nil
			},
			Release: &Request{
				Experiment: "dpgp/hyperparameters", Given: p.given, File: p.file,
				Contents: [2]string{content, "y,name,x\n-33,a,0\n" + strings.Repeat("0.00,someone else,0.0\n", 4*blocks-1)},
				Table:    chosenSettings, Record: chosenSettings, Described: chosenSettings,
			},
		}},
	}, nil
}

package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"

	"privkern/experiments/kahm"
	"privkern/experiments/kahm/nearest"
	"privkern/experiments/mechanism"
)

// hullSettings release noisy rows of two inputs: 1/2 for an entry, and so 1 for a row.
var hullSettings = map[string]any{
	"dataset": "csv:data.csv", "inputs": "dose+age", "output": "group", "low": "0,20", "high": "10,80",
	"data": "noisy", "n": 1, "layers": 1, "branches": 1, "epsilon": 0.5,
}

// hullData are rows of two classes, in the middle of their ranges.
const hullData = "dose,age,group\n5,50,a\n4,55,a\n6,45,b\n3,50,b\n"

// hullRows matches the noisy numbers of a table of rows, in the columns before the class.
var hullRows = regexp.MustCompile(`(?m)^[^,\n]*,[^,\n]*,`)

// hullRelease releases the rows behind a classifier of affine hull machines. Both inputs of
// one row move from beyond one end of their ranges to beyond the other, which clipping makes
// equal to the ends: the whole of what a row can do.
func hullRelease(ctx context.Context) (Subject, error) {
	p, err := newPlanned(kahm.Paper(), "kahm/classifier", "data.csv", hullData, hullSettings, nearest.Plan)
	if err != nil {
		return Subject{}, err
	}
	rows, spending, err := p.rows(ctx)
	if err != nil {
		return Subject{}, err
	}
	first, second := replaced(rows, 0, -4, -10), replaced(rows, 0, 14, 110)
	pair, err := p.pair(ctx, "a row is below the ranges, and above", first, second, true)
	if err != nil {
		return Subject{}, err
	}
	from, scale, err := p.queries(ctx, first)
	if err != nil {
		return Subject{}, err
	}
	to, _, err := p.queries(ctx, second)
	if err != nil {
		return Subject{}, err
	}
	draw := pair.Draw
	pair.Draw = func(useSecond bool, entropy *rand.ChaCha8) (Output, error) {
		out, err := draw(useSecond, entropy)
		if err != nil || len(out.Published) != len(from) {
			return out, err
		}
		// The logarithm of the likelihood ratio of Laplace noise.
		out.HasStatistic = true
		for i, v := range out.Published {
			out.Statistic += (math.Abs(v-from[i]) - math.Abs(v-to[i])) / scale[i]
		}
		return out, nil
	}
	pair.Release = &Request{
		Experiment: "kahm/classifier", File: p.file, Name: "release.csv",
		Given: with(p.given, "data", "fabricated", "smoothing", 1),
		Contents: [2]string{hullData,
			"note,group,age,dose\nof,b,20,3.000\nb,a,-7e1,5\nof-a-longer-name,a,50,14\nd,b,80.5,-1\n"},
		Table: hullRows, Record: nothing,
	}
	return Subject{
		Unit: "one row of two inputs, replaced by any other", Claim: mechanism.Guarantee{Epsilon: spending.Epsilon},
		Law: Laplace, Pairs: []Pair{pair}, Draws: eventDraws,
	}, nil
}

package method

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Scores are means over the splits of predictions at rows that were held out.
type Scores struct {
	Regression     RegressionScores
	Classification ClassificationScores
	Clipping
	// Spread reports that predictions of a regression have variances; without, no region covers an output.
	Spread bool
}

// Advice completes warnings: each text tells the reader which settings to change.
type Advice struct {
	Noise string // against noise, such as "use a larger epsilon or more rows"
	// Settings is against a poor fit without noise. It is empty for the rule itself that fits are compared with.
	Settings string
	// Narrow and Wide are against regions of 95 % that hold too few or too many outputs.
	Narrow, Wide string
}

// judging is a trial that judges a learner by rows that it holds out.
type judging struct {
	Splits
	t       *experiment.Trial
	learner Learner
	rows    *Rows
	budget  *mechanism.Budget
	advice  Advice

	largestOfRows bool // see [Method]

	series map[string]experiment.Series // of a trial with the setting membership
	twins  string                       // its warning
}

// regressionSplit is the result of a split, in the unit of the output.
type regressionSplit struct {
	rmse, exact, centre, coverage, sd float64

	mean   float64 // error of the mean of the test outputs
	spread bool
	RegressionMeasures
}

// regressionOnce fits some rows, and compares its predictions of the others with those without
// noise and with the middle of the public range.
func (j *judging) regressionOnce(ctx context.Context, repeat int) (out regressionSplit, err error) {
	noisy, exact, _, test, err := j.predict(ctx, repeat)
	if err != nil {
		return out, err
	}
	scale, k := j.rows.Scale, float64(len(test))
	outputs, mae, maeCentre := make([]float64, len(test)), 0.0, 0.0
	for i, row := range test {
		truth := j.rows.Scaled(j.rows.Values[row])
		miss := truth - noisy.Mean[i]
		out.rmse += miss * miss / k
		out.exact += (truth - exact.Mean[i]) * (truth - exact.Mean[i]) / k
		out.centre += truth * truth / k
		outputs[i], mae, maeCentre = truth, mae+scale*math.Abs(miss)/k, maeCentre+scale*math.Abs(truth)/k
		if noisy.Variance == nil {
			continue
		}
		out.spread = true
		out.sd += scale * math.Sqrt(noisy.Variance[i]) / k
		if math.Abs(miss) <= table.Central95*math.Sqrt(noisy.Variance[i]+noisy.Noise) {
			out.coverage += 1 / k
		}
	}
	out.RegressionMeasures = RegressionMeasures{R2: Explained(out.rmse*k, outputs),
		R2Centre: Explained(out.centre*k, outputs), MAE: &mae, MAECentre: &maeCentre}
	out.mean = scale * stat.PopStdDev(outputs, nil)
	out.rmse, out.exact, out.centre = scale*math.Sqrt(out.rmse), scale*math.Sqrt(out.exact), scale*math.Sqrt(out.centre)
	return out, nil
}

// predict fits the training rows of a split with noise and without, and predicts the others.
func (j *judging) predict(ctx context.Context, repeat int) (noisy, exact *Prediction, train, test []int, err error) {
	if j.rows.canaries > 0 {
		train, test = j.splitCanaries()
	} else if train, test, err = j.Split(j.t, repeat, j.rows.Len(), j.rows.People); err != nil {
		return nil, nil, nil, nil, err
	}
	fit, err := j.learner.Fit(ctx, j.rows.of(train), Stream(j.t, "mechanism", repeat), nil)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if j.Membership {
		if j.series, j.twins, err = j.membership(ctx, fit); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	p, err := fit.Predict(ctx, learn.SelectRows(j.rows.X, test))
	if err != nil {
		return nil, nil, nil, nil, err
	}
	return &p[0], &p[1], train, test, nil
}

// regression returns the scores of all splits, with warnings.
func (j *judging) regression(ctx context.Context) (*Scores, []string, error) {
	splits, err := Repeat(ctx, j.t, j.Repeats, j.regressionOnce)
	if err != nil {
		return nil, nil, err
	}
	k := float64(len(splits))
	clipped := j.rows.clipped()
	out := &Scores{Clipping: Clipping{float64(clipped.Outside) / float64(clipped.Of)}}
	m := &out.Regression
	m.RowCounts = j.rows.counts()
	coverage, measures := make([]float64, len(splits)), make([]*RegressionMeasures, len(splits))
	constants := table.Constants{Tests: j.tests(j.rows.Len())}
	for i, o := range splits {
		coverage[i], measures[i] = o.coverage, &splits[i].RegressionMeasures
		out.Spread = o.spread
		m.RMSE += o.rmse / k
		m.RMSEWithoutNoise += o.exact / k
		m.RMSECentre += o.centre / k
		constants.Mean += o.mean / k
		m.Coverage95 += o.coverage / k
		m.MeanSD += o.sd / k
	}
	m.RegressionMeasures = *MeanOf(measures)
	if j.rows.simulated {
		return out, nil, nil
	}
	constants.Middle = m.RMSECentre
	warnings := []string{table.FitWarning(m.RMSE, constants, j.poor(m.RMSEWithoutNoise, "less"))}
	if tests := constants.Tests; out.Spread {
		warnings = append(warnings, table.CoverageWarning(m.Coverage95, table.CoverageError(tests, coverage...), tests,
			j.advice.Narrow, j.advice.Wide))
	}
	return out, append(warnings, clipped.Warning(table.MuchClipped)), nil
}

// classificationSplit is the result of a split, in shares of the test rows.
type classificationSplit struct {
	noisy, exact, chance, largest float64
	rule                          float64 // that of largest, with the unit that is protected
	measures                      *ClassMeasures
}

// classificationOnce fits some rows, and compares its predictions of the others with those
// without noise and with the largest class.
func (j *judging) classificationOnce(ctx context.Context, repeat int) (out classificationSplit, err error) {
	noisy, exact, train, test, err := j.predict(ctx, repeat)
	if err != nil {
		return out, err
	}
	counts, tested := make([]int, len(j.rows.Classes)), make([]int, len(j.rows.Classes))
	for _, row := range train {
		counts[j.rows.Labels[row]]++
	}
	want := make([]int, len(test))
	for i, row := range test {
		want[i] = j.rows.Labels[row]
		tested[want[i]]++
	}
	n := float64(len(test))
	out.chance = float64(slices.Max(tested)) / n
	rule := func(epsilon float64) (accuracy float64) {
		for class, p := range LargestClass(counts, epsilon) {
			accuracy += p * float64(tested[class]) / n
		}
		return accuracy
	}
	out.rule = rule(j.budget.Epsilon / float64(j.rows.People.Most()))
	if out.largest = out.rule; j.largestOfRows {
		out.largest = rule(j.budget.Epsilon)
	}
	got := noisy.Class()
	out.noisy, out.exact = learn.Accuracy(got, want), learn.Accuracy(exact.Class(), want)
	out.measures = (&Classified{Classes: j.rows.Classes, Truth: want, Predicted: got, Scores: noisy.Scores,
		Probabilities: noisy.Probabilities, Trained: counts}).Measures()
	return out, nil
}

// LargestClass returns the probabilities with which the exponential mechanism answers that a
// class is the largest, given the epsilon of one row: a substituted row moves a count by 1, and a person with at most m
// rows moves it by m, and has m times that epsilon.
func LargestClass(counts []int, epsilon float64) []float64 {
	most, sum := slices.Max(counts), 0.0
	out := make([]float64, len(counts))
	for i, n := range counts {
		switch {
		case n == most:
			out[i] = 1
		case !math.IsInf(epsilon, 1):
			out[i] = math.Exp(epsilon * float64(n-most) / 2)
		}
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// classification returns the scores of all splits, with warnings.
func (j *judging) classification(ctx context.Context) (*Scores, []string, error) {
	splits, err := Repeat(ctx, j.t, j.Repeats, j.classificationOnce)
	if err != nil {
		return nil, nil, err
	}
	out := &Scores{}
	m := &out.Classification
	m.RowCounts = j.rows.counts()
	measures, rule := make([]*ClassMeasures, len(splits)), 0.0
	for i, o := range splits {
		measures[i] = o.measures
		k := 1 / float64(len(splits))
		m.Accuracy += k * o.noisy
		m.AccuracyChance += k * o.chance
		m.AccuracyWithoutNoise += k * o.exact
		m.AccuracyLargest += k * o.largest
		rule += k * o.rule
	}
	m.ClassMeasures = *MeanOf(measures)
	warnings := []string{j.rows.smallClasses()}
	if j.advice.Settings != "" {
		warnings = append(warnings, table.AccuracyWarning(m.Accuracy, rule, "that of always the largest class, "+
			"chosen with the same epsilon", j.poor(m.AccuracyWithoutNoise, "more")))
	}
	return out, append(warnings, m.Warning()), nil
}

// poor is the advice against a poor fit, whose score without noise tells noise by being far better: less or more.
func (j *judging) poor(exact float64, better string) string {
	if j.budget.Noiseless() {
		return j.advice.Settings
	}
	return fmt.Sprintf("without noise it is %.3g: if that is far %s, %s; otherwise %s", exact, better, j.advice.Noise,
		j.advice.Settings)
}

// classCounts returns the number of rows of each class.
func (r *Rows) classCounts() []int {
	counts := make([]int, len(r.Classes))
	for _, l := range r.Labels {
		counts[l]++
	}
	return counts
}

// smallClasses warns of classes with fewer than five rows; empty for none.
func (r *Rows) smallClasses() string {
	var few []string
	for i, n := range r.classCounts() {
		if n < 5 {
			few = append(few, fmt.Sprintf("%s (%d)", r.Classes[i], n))
		}
	}
	if few == nil {
		return ""
	}
	return "computed but suspect: there are classes with fewer than five rows, which are hardly learnt: " +
		strings.Join(few, ", ")
}

func (r *Rows) counts() RowCounts {
	return RowCounts{UsedRows: float64(len(r.natural())), DroppedRows: float64(r.Dropped)}
}

// warnings returns those of a trial; fit and scores are about these. They depend on the data:
// they are for judging, and no part of a release.
func (j *judging) warnings(task Task, fit, scores []string) []string {
	out := engine.Of(j.t.Engine).Warnings()
	if j.rows.simulated {
		return out
	}
	columns := "an input or the output"
	if task == Classification {
		columns = "a column that is used"
	}
	out = slices.Concat(out, j.rows.Warnings(columns), fit, scores, []string{j.twins, j.rows.added()})
	if !j.budget.Noiseless() {
		n, units := j.rows.People.Units(j.rows.Slots)
		out = append(out, mechanism.SuspectDelta(j.budget.Delta, n, units))
	}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

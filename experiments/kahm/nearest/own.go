package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/own"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/runner/experiment"
)

// checkOwn refuses settings that no data of the user's own have.
func checkOwn(images *Images, d *own.Table, p *wide.Pipeline, party string) error {
	if err := images.check(); err != nil {
		return err
	}
	if err := d.Check(images.Dataset, party); err != nil {
		return err
	}
	if !p.Noiseless() {
		if err := own.CheckAdjacency(p.D); err != nil {
			return err
		}
	}
	return p.Check()
}

// classDataOf returns rows of the user's own as a data set.
func classDataOf(j *own.Judged, matching bool) *classData {
	return &classData{train: j.Train, test: j.Test, testLabels: j.Tested, classes: len(j.Classes), matching: matching,
		trainPoints: j.Trained, privacy: j.Privacy}
}

// runOwn evaluates a classifier of the user's own rows.
func runOwn(ctx context.Context, t *experiment.Trial, s *ClassifierSettings,
) (*experiment.Outcome[TrialMetrics], error) {
	j, coins, err := s.judge(t)
	if err != nil {
		return nil, err
	}
	if s.Score.Score && len(j.Tested) < 2 {
		return nil, errors.New("there is one test row, and the membership-inference score compares densities: use a larger " +
			"holdout, or score=false")
	}
	r, err := evaluate(ctx, t, s.Data, s.Pure(), &s.Score, classDataOf(j, true))
	if err != nil {
		return nil, err
	}
	scores, unfitted, err := scoresOf(ctx, t, s.Data, s.Pure(), j, r.byClass)
	if err != nil {
		return nil, err
	}
	var twins []string
	if coins != nil {
		var series map[string]experiment.Series
		if series, twins, err = membership(ctx, t, s, j, coins); err != nil {
			return nil, err
		}
		maps.Copy(r.series, series)
	}
	m := TrialMetrics{ClassifierMetrics: r.ClassifierMetrics, OwnMetrics: ownMetrics(j, r.labels), ScoreMetrics: *scores}
	m.BalancedAccuracy = &r.BalancedAccuracy
	return &experiment.Outcome[TrialMetrics]{Metrics: m, Series: r.series, Privacy: r.privacy, Warnings: slices.Concat(
		r.warnings, unfitted, suspicions(j, r.Accuracy, *m.AccuracyMajority, s.N), twins)}, nil
}

// scoresOf returns the metrics of the distances of the test points to all classes (q×C), with warnings.
func scoresOf(ctx context.Context, t *experiment.Trial, data wide.Data, p *wide.Pipeline, j *own.Judged,
	byClass *mat.Dense) (*ScoreMetrics, []string, error) {
	auc, err := learn.MacroAUC(matchingScores(byClass), j.Tested)
	if err != nil {
		return nil, nil, fmt.Errorf("class-matching score: %w", err)
	}
	probabilities, warnings, err := probabilitiesOf(ctx, t, data, p, j, byClass)
	if err != nil {
		return nil, nil, fmt.Errorf("probabilities: %w", err)
	}
	c := method.Classified{Classes: j.Classes, Truth: j.Tested, Predicted: j.Tested, Probabilities: probabilities,
		Trained: j.ClassSizes()}
	losses := c.Measures()
	return &ScoreMetrics{AUC: &auc, LogLoss: losses.LogLoss, LogLossTrivial: losses.LogLossTrivial}, warnings, nil
}

// probabilitiesOf returns those of the classes for test points with these distances to them (q×C), as C×q: a softmax
// that is fitted to training rows which machines of the others have not seen ([method.FitSoftmax]). The machines are of
// the same kind. Where the rows are too few for such a part there are none, which is a warning.
func probabilitiesOf(ctx context.Context, t *experiment.Trial, data wide.Data, p *wide.Pipeline, j *own.Judged,
	byClass *mat.Dense) (probabilities [][]float64, warnings []string, err error) {
	c, err := j.Calibration(t.Stream("calibration split"))
	if err != nil {
		return nil, []string{fmt.Sprintf("there is no log_loss: %v", err)}, nil
	}
	seen, err := distancesTo(ctx, t, data, p, c.Train, c.Held)
	if err != nil {
		return nil, nil, err
	}
	fitted := method.FitSoftmax(nearness(seen), c.Labels, j.ClassSizes())
	return fitted.Probabilities(nearness(byClass)), nil, nil
}

// distancesTo are those of points to the machines of each class (q×C), which are fitted to samples.
func distancesTo(ctx context.Context, t *experiment.Trial, data wide.Data, p *wide.Pipeline, samples []wide.Source,
	points *mat.Dense) (*mat.Dense, error) {
	e := engine.Of(t.Engine)
	b, err := wide.NewBuilder(t, e, data, p)
	if err != nil {
		return nil, err
	}
	defer frugal()()
	model, err := b.Build(ctx, samples)
	if err != nil {
		return nil, err
	}
	seen, err := model.Ensemble.Nearest(ctx, e, points, hull.Search{ByGroup: true})
	if err != nil {
		return nil, err
	}
	return seen.Distance, nil
}

// nearness returns the distances (q×C) times −1, as C×q.
func nearness(distances *mat.Dense) [][]float64 {
	_, classes := distances.Dims()
	out := make([][]float64, classes)
	for c := range out {
		out[c] = negated(mat.Col(nil, c, distances))
	}
	return out
}

// ownMetrics returns the metrics of the rows, of which those that are tested get these labels.
func ownMetrics(j *own.Judged, labels []int) OwnMetrics {
	majority := learn.Accuracy(slices.Repeat([]int{j.Majority}, len(j.Tested)), j.Tested)
	number := func(n int) *float64 { return new(float64(n)) }
	c := method.Classified{Classes: j.Classes, Truth: j.Tested, Predicted: labels, Trained: make([]int, len(j.Classes))}
	return OwnMetrics{AccuracyMajority: &majority, ClassCounts: c.Measures().ClassCounts, Classes: number(len(j.Classes)),
		Inputs: number(len(j.Names)), TrainRows: number(j.Trained), TestRows: number(len(j.Tested)),
		DroppedRows: number(j.Dropped), ClippedFraction: &j.Clipped}
}

// muchClipped is a suspicious share of values beyond a public range.
const muchClipped = .05

// suspicions returns warnings of suspect results, which are for judging and no part of a
// release. directions is n.
func suspicions(j *own.Judged, accuracy, majority float64, directions int) (out []string) {
	suspect := func(format string, args ...any) {
		out = append(out, "computed but suspect: "+fmt.Sprintf(format, args...))
	}
	if warning := table.AccuracyWarning(accuracy, majority, fmt.Sprintf("that of answering always with the largest "+
		"class, %q", j.Classes[j.Majority]), "use a larger epsilon, more rows, or other inputs"); warning != "" {
		out = append(out, warning)
	}
	if j.Ranges.Observed {
		suspect("low and high are not given: the range of each input is that of the training rows, which is no public number")
	} else if warning := table.ReadOffWarning(cmp.Or(j.Extremes, j.X), j.Names, j.Ranges.Low,
		j.Ranges.High); warning != "" {
		out = append(out, warning)
	}
	if j.Clipped > muchClipped {
		suspect("%.3g %% of the values are beyond the range of their input, and count as its end", 100*j.Clipped)
	}
	if j.People != nil {
		out = append(out, j.People.Warnings(j.People.Column)...)
	}
	if n := j.Incomplete(); n > 0 {
		suspect("%d of %d rows have no value in an input, which counts as the low end of its range", n, len(j.Labels))
	}
	if j.Unnamed > 0 {
		suspect("%d of %d rows have none of the classes or parties that are named, and count as the first one", j.Unnamed,
			len(j.Labels))
	}
	const most = 5
	columns := j.ColumnWarnings()
	out = append(out, columns[:min(most, len(columns))]...)
	if more := len(columns) - most; more > 0 {
		suspect("%d more inputs have one value in all rows, or nearly all", more)
	}
	var small []string
	for _, s := range j.Train {
		if n, _ := s.Samples.Dims(); n < directions+1 {
			small = append(small, fmt.Sprintf("%s (%d)", j.Classes[s.Class], n))
		}
	}
	if small != nil {
		suspect("classes with fewer than n + 1 = %d training rows, whose machines have fewer directions: %s", directions+1,
			shortList(small))
	}
	return out
}

// shortList lists a few of many.
func shortList(all []string) string {
	const most = 10
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

// federateOwn evaluates the global classifier of the parties that hold the user's rows.
func federateOwn(ctx context.Context, t *experiment.Trial, s *FederatedSettings,
) (*experiment.Outcome[FederatedMetrics], error) {
	j, err := s.Judge(t, s.Dataset, s.Party, &s.Pipeline)
	if err != nil {
		return nil, err
	}
	if len(j.Holders) < 2 {
		return nil, fmt.Errorf("all rows are of one party, %q: there is nothing to unite", j.Holders[0])
	}
	d := classDataOf(j, false)
	d.scored = true
	out, parties, err := federate(ctx, t, s, s.Pure(), d, j.Shares, len(j.Holders))
	if err != nil {
		return nil, err
	}
	scores, unfitted, err := scoresOf(ctx, t, s.Data, s.Pure(), j, parties.byClass)
	if err != nil {
		return nil, err
	}
	out.Metrics.OwnMetrics, out.Metrics.Parties = ownMetrics(j, parties.labels), new(float64(len(j.Holders)))
	out.Metrics.BalancedAccuracy, out.Metrics.ScoreMetrics = new(parties.balanced()), *scores
	out.Warnings = slices.Concat(out.Warnings, unfitted, suspicions(j, out.Metrics.Accuracy,
		*out.Metrics.AccuracyMajority, s.N))
	return out, nil
}

// publishing returns the settings of a release.
func (s *ClassifierSettings) publishing() *own.Publishing {
	return &own.Publishing{Dataset: s.Dataset, Table: &s.Table, Kind: s.Data, Pipeline: &s.Pipeline}
}

// errPublic refuses to release or to export public data.
var errPublic = errors.New("the digits are public, and need no release; name your own rows with dataset=csv:PATH, " +
	"parquet:PATH, npy:PATH or images:FOLDER")

// checkRelease refuses a release that would not have its guarantee.
func checkRelease(s *ClassifierSettings) error {
	if !s.isOwn() {
		return errPublic
	}
	return s.publishing().Check()
}

// checkExport refuses settings that have no export.
func checkExport(s *ClassifierSettings) error {
	if !s.isOwn() {
		return errPublic
	}
	return s.publishing().CheckExport()
}

// Plan plans a release of a trial of kahm/classifier, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return plan(ctx, t, Classifier().Settings(t.Params))
}

func plan(ctx context.Context, t *experiment.Trial, s *ClassifierSettings) (*release.Plan, error) {
	if err := checkRelease(s); err != nil {
		return nil, err
	}
	return s.publishing().Plan(ctx, t)
}

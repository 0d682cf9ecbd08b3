package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/dataset/table"
	"privkern/experiments/kahm/own"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/experiments/release"
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
	j, err := s.Judge(t, s.Dataset, "", &s.Pipeline)
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
	m := TrialMetrics{ClassifierMetrics: r.ClassifierMetrics, OwnMetrics: ownMetrics(j, r.labels), AUC: &r.AUC}
	m.BalancedAccuracy = &r.BalancedAccuracy
	return &experiment.Outcome[TrialMetrics]{Metrics: m, Series: r.series, Privacy: r.privacy,
		Warnings: append(r.warnings, suspicions(j, r.Accuracy, *m.AccuracyMajority, s.N)...)}, nil
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
	out, parties, err := federate(ctx, t, s, s.Pure(), classDataOf(j, false), j.Shares, len(j.Holders))
	if err != nil {
		return nil, err
	}
	out.Metrics.OwnMetrics, out.Metrics.Parties = ownMetrics(j, parties.labels), new(float64(len(j.Holders)))
	out.Metrics.BalancedAccuracy = new(parties.balanced())
	out.Warnings = append(out.Warnings, suspicions(j, out.Metrics.Accuracy, *out.Metrics.AccuracyMajority, s.N)...)
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

package nearest

import (
	"context"
	"errors"
	"math"

	"privkern/experiments/kahm/machinefile"
	"privkern/experiments/kahm/own"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// checkMembership refuses splits without pairs, and persons, who have rows of several classes.
func (s *ClassifierSettings) checkMembership() error {
	if s.Membership && s.Given() {
		return errors.New("membership = true: classes are public, so that pairs are of one class, and a person may have " +
			"rows of several; leave person out")
	}
	return method.Splits{Holdout: s.Holdout, Repeats: 1, CommonRows: s.CommonRows, Recorded: s.Recorded}.CheckMembership()
}

// judge reads and splits the rows; coins are nil unless the trial records membership.
func (s *ClassifierSettings) judge(t *experiment.Trial) (j *own.Judged, coins *method.Coins, err error) {
	if s.Membership {
		return s.Attack(t, s.Dataset, &s.Pipeline)
	}
	j, err = s.Judge(t, s.Dataset, "", &s.Pipeline)
	return j, nil, err
}

// membership returns the series of what the distances tell of each row, to machines with noise and to the same without
// it, with warnings. The score of a class is minus the distance to it.
func membership(ctx context.Context, t *experiment.Trial, s *ClassifierSettings, j *own.Judged, coins *method.Coins,
) (map[string]experiment.Series, []string, error) {
	exact := *s.Pure()
	exact.Epsilon = math.Inf(1)
	pipelines := []*wide.Pipeline{s.Pure(), &exact}
	if s.Noiseless() || s.Data == wide.Original {
		pipelines = pipelines[1:]
	}
	var predictions []method.Prediction
	for _, p := range pipelines {
		scores, err := scoresOfAll(ctx, t, s.Data, p, j)
		if err != nil {
			return nil, nil, err
		}
		predictions = append(predictions, method.Prediction{Scores: scores})
	}
	predictions = append(predictions, predictions[len(predictions)-1])
	rows := &method.Rows{X: j.X, Labels: j.Labels, Classes: j.Classes}
	series, warning := rows.Membership(coins, predictions[:2])
	if warning == "" {
		return series, nil, nil
	}
	return series, []string{warning}, nil
}

// scoresOfAll returns the scores of the classes at all rows, C×N, by machines of the training rows.
func scoresOfAll(ctx context.Context, t *experiment.Trial, data wide.Data, p *wide.Pipeline, j *own.Judged,
) ([][]float64, error) {
	seen, err := distancesTo(ctx, t, data, p, j.Train, j.Scaled())
	if err != nil {
		return nil, err
	}
	return machinefile.Nearness(seen), nil
}

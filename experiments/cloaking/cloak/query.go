package cloak

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// AtTraining lets a release predict at the distinct training inputs: the default of
// the setting predict, which otherwise is the file csv:PATH.
const AtTraining = "training"

// CheckPredict refuses invalid values of the setting predict.
func CheckPredict(predict string) error {
	path, own := dataset.FilePath(predict)
	switch {
	case predict == AtTraining, own && path != "":
		return nil
	case own:
		return errors.New("predict = csv: names no file; write csv:PATH")
	}
	hint := ""
	if near := experiment.Nearest(predict, []string{AtTraining}); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("predict = %q: it is %s or csv:PATH, a file of inputs%s", predict, AtTraining, hint)
}

// OnlyForRelease refuses query points in a cross-validation.
func OnlyForRelease(predict string) error {
	if predict == AtTraining {
		return nil
	}
	return fmt.Errorf("predict = %s: a cross-validation predicts the rows of its folds; predict is for a release "+
		"(run trial --rng secure --release FILE)", predict)
}

// Published are the parts of the private rows that a release discloses without noise: the inputs. They leave as they
// are where it predicts at them, and elsewhere standard deviations and the scale of the noise follow from them.
func Published() []string { return []string{experiment.UnitInputs} }

// PointsFile is the name of the file of points; "" where a release predicts at the training inputs.
func PointsFile(predict string) string {
	if predict == AtTraining {
		return ""
	}
	return predict
}

// Extrapolations lists the points of a file (P×d) at which a release predicts outside the range of
// the training inputs (N×d), which are public as the points are: see [Published].
func Extrapolations(predict string, points, training *mat.Dense, names []string) []string {
	if !table.Is(predict) {
		return nil
	}
	low, high := table.Ranges(training)
	return table.BeyondWarnings(points, names, low, high, "the range of the training inputs")
}

// QueryPoints returns where a release predicts (P×d, at most limit rows): at the rows
// of a file that has the named columns, or at the different training inputs.
func QueryPoints(
	t *experiment.Trial, predict string, reading table.Reading, training *mat.Dense, names []string, limit int,
) (*mat.Dense, error) {
	path, own := dataset.FilePath(predict)
	if !own {
		points := Group(training).Rows
		if n, _ := points.Dims(); n > limit {
			return nil, fmt.Errorf("the training inputs are %d distinct points, and at most %d predictions are released "+
				"together; give points with predict=csv:PATH", n, limit)
		}
		return points, nil
	}
	points, err := table.LoadPoints(t, predict, reading, names)
	if err != nil {
		return nil, err
	}
	if n, _ := points.Dims(); n > limit {
		return nil, fmt.Errorf("%s: %d points; at most %d predictions are released together", path, n, limit)
	}
	return points, nil
}

package tradeoff

import (
	"fmt"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// loadLandmarks reads the public rows. It refuses rows that are all among the data: another spelling
// of the path of the data, a copy or a part of them would leave with an export as if they were
// public.
func (d *data) loadLandmarks(t *experiment.Trial, s *Settings) error {
	setting := s.Landmarks
	marks, err := table.LoadPoints(t, setting, s.Reading.In(s.Dataset), d.names)
	if err != nil {
		return err
	}
	switch all, same := dataset.CountAmong(marks, d.x); {
	case same == all:
		return fmt.Errorf("landmarks = %s: all %d of them are rows of the data; landmarks are public rows, and leave with "+
			"an export: take rows that are nobody's", setting, all)
	case same > 0:
		d.warnings = append(d.warnings, fmt.Sprintf("%d of the %d landmarks are rows of the data, too, and leave with an "+
			"export: take others where these are not public", same, all))
	}
	d.landmarks = marks
	return nil
}

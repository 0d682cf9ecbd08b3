package plot_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/plot"
)

type curveSettings struct {
	Epsilon float64 `name:"epsilon" default:"1" infinite:"yes" doc:"privacy loss"`
}

// A record becomes an observation and a drawing.
func TestFigure(t *testing.T) {
	curve := experiment.Of(experiment.Declaration[*curveSettings, struct{}]{Name: "demo/curve", Version: 1})()
	reg := experiment.NewRegistry(curve.Experiment)
	rec := &record.Record{Key: "k", Experiment: "demo/curve", Params: map[string]any{"epsilon": "inf"}, Status: record.OK,
		Series: map[string]map[string]record.SeriesColumn{"mean": {"x": {0, 1, 2}, "y": {1, math.NaN(), 3}}}}
	finished, err := plot.Observation(rec, reg)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(curve.Settings(finished.Params).Epsilon, 1) {
		t.Errorf("parameters %v", finished.Params)
	}
	figure := &experiment.Figure{Name: "demo/figure1", Title: "A figure", Caption: "What it shows",
		Match: curve.Matches(func(s *curveSettings) bool { return math.IsInf(s.Epsilon, 1) }),
		Draw: func(trials []experiment.Observation) []experiment.Panel {
			if len(trials) == 0 {
				return nil
			}
			s := trials[0].Series["mean"]
			return []experiment.Panel{{Lines: []experiment.Line{{X: s["x"], Y: s["y"]}}}}
		}}
	got, panels, err := plot.Figure(figure, []experiment.Observation{finished}, "f")
	if err != nil || !bytes.Contains(got, []byte(`<title id="f-title">A figure</title>`)) ||
		!bytes.Contains(got, []byte(`<desc id="f-desc">What it shows</desc>`)) {
		t.Errorf("error %v, drawing %s", err, got)
	}
	if len(panels) != 1 || len(panels[0].Lines) != 1 {
		t.Errorf("panels %v", panels)
	}
	if _, _, err := plot.Figure(figure, nil, "f"); !errors.Is(err, plot.ErrNoData) {
		t.Errorf("a figure without trials: %v", err)
	}
	rec.Params = map[string]any{"epsilon": "many"}
	if _, err := plot.Observation(rec, reg); err == nil {
		t.Error("a record with a parameter that does not resolve is accepted")
	}
}

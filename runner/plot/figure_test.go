package plot_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plot"
	"privkern/runner/record"
)

// From a record, as the store holds it, to a drawing.
func TestFigure(t *testing.T) {
	reg := experiment.NewRegistry(&experiment.Experiment{
		Name: "demo/curve", Version: 1,
		Params: []experiment.Param{{Name: "epsilon", Kind: experiment.Number, Default: 1.0, Infinite: true}},
		Run: func(context.Context, *experiment.Trial) (*experiment.Result, error) {
			return nil, errors.New("not run here")
		},
	})
	rec := &record.Record{Key: "k", Experiment: "demo/curve", Params: map[string]any{"epsilon": "inf"}, Status: record.OK,
		Series: map[string]map[string]record.Column{"mean": {"x": {0, 1, 2}, "y": {1, math.NaN(), 3}}}}
	finished, err := plot.Finished(rec, reg)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(finished.Params.Float("epsilon"), 1) {
		t.Errorf("parameters %v", finished.Params)
	}
	figure := &experiment.Figure{Name: "demo/figure1", Title: "A figure", Caption: "What it shows",
		Match: func(_ string, p experiment.Params) bool { return math.IsInf(p.Float("epsilon"), 1) },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			if len(trials) == 0 {
				return nil
			}
			s := trials[0].Series["mean"]
			return []experiment.Panel{{Lines: []experiment.Line{{X: s["x"], Y: s["y"]}}}}
		}}
	got, panels, err := plot.Figure(figure, []experiment.Finished{finished}, plot.Options{ID: "f"})
	if err != nil || !bytes.Contains(got, []byte(`<title id="f-title">A figure</title>`)) || !bytes.Contains(got, []byte(`<desc id="f-desc">What it shows</desc>`)) {
		t.Errorf("error %v, drawing %s", err, got)
	}
	if len(panels) != 1 || len(panels[0].Lines) != 1 {
		t.Errorf("panels %v", panels)
	}
	finished.Params["epsilon"] = 1.0
	if _, _, err := plot.Figure(figure, []experiment.Finished{finished}, plot.Options{}); !errors.Is(err, plot.ErrNoData) {
		t.Errorf("a figure to which no trial belongs: %v", err)
	}
	rec.Params["epsilon"] = "many"
	if _, err := plot.Finished(rec, reg); err == nil {
		t.Error("a record with a parameter that does not resolve is accepted")
	}
}

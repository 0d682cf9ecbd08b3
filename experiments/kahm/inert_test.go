package kahm

import (
	"context"
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/inert"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// A parameter does nothing exactly where its declaration says so.
func TestWhereParametersApply(t *testing.T) {
	others := map[string][]any{
		"data": {dataOriginal, dataNoisy, dataFabricated}, "epsilon": {2, "inf"}, "delta": {0.2}, "d": {2}, "n": {3, 2, 1},
		"layers": {1, 3}, "branches": {2, 3}, "variant": {variantPublished, variantCorrected},
		"clusters": {clustersOriginal, clustersNoisy}, "smoothing": {0, 1}, "score": {true, false}, "score_points": {50},
		"centralised": {false}, "scenario": {1, 3}, "parties": {3}, "digit": {3}, "images": {50}, "shown": {2}, "sample": {4},
		"shape": {"spiral", "helix"}, "samples": {40}, "sd": {0.1}, "grid": {6}, "rows": {20}, "dim": {15}, "repeats": {2},
		"split": {2}, "history": {5}, "split_scheme": {"random"},
	}
	pipelines := func(base map[string]any) (out []map[string]any) {
		for _, change := range []map[string]any{
			{"data": dataOriginal}, {"data": dataNoisy}, {"data": dataNoisy, "epsilon": "inf"},
			{"data": dataNoisy, "clusters": clustersNoisy}, {"data": dataNoisy, "branches": 1},
			{"data": dataFabricated}, {"data": dataFabricated, "epsilon": "inf"},
			{"data": dataFabricated, "variant": variantPublished},
		} {
			all := maps.Clone(base)
			maps.Copy(all, change)
			out = append(out, all)
		}
		return out
	}
	given := "the data are given in the test"
	onFormulas := func(run func(context.Context, *experiment.Trial, *labelled) (*experiment.Result, error),
	) func(*testing.T, *experiment.Experiment, experiment.Params) (*experiment.Result, error) {
		return func(t *testing.T, e *experiment.Experiment, p experiment.Params) (*experiment.Result, error) {
			tr, d := formulaTrial(t, e, 2, nil)
			tr.Params = p
			return run(context.Background(), tr, d)
		}
	}
	asItIs := func(t *testing.T, e *experiment.Experiment, p experiment.Params) (*experiment.Result, error) {
		tr := pictureTrial(t, e, 2, nil)
		tr.Params = p
		return e.Run(context.Background(), tr)
	}
	for _, c := range []struct {
		e     *experiment.Experiment
		bases []map[string]any
		held  map[string]string
		run   func(*testing.T, *experiment.Experiment, experiment.Params) (*experiment.Result, error)
	}{
		{classifier(), pipelines(map[string]any{"n": 4, "layers": 2, "branches": 3, "epsilon": 4, "score": false}),
			map[string]string{"train": given, "test": given, "score": "below", "score_points": "below"},
			onFormulas(classifiedWithDistances)},
		{classifier(), []map[string]any{{"n": 4, "layers": 2, "score_points": "all"}, {"n": 4, "layers": 2, "score": false}},
			heldPipeline(map[string]string{"train": given, "test": given, "data": "above"}), onFormulas(runClassifier)},
		{federated(), []map[string]any{{"n": 4, "layers": 2, "scenario": 2},
			{"n": 4, "layers": 2, "scenario": 3, "parties": 2}},
			heldPipeline(map[string]string{"train": given, "test": given}), onFormulas(federate)},
		{toy(), pipelinesOfToy(), nil, asItIs},
		{fabrication(), []map[string]any{{"images": 60, "n": 4}, {"images": 60, "n": 4, "epsilon": "inf"},
			{"images": 60, "n": 4, "variant": variantPublished}}, map[string]string{"digit": given, "images": given},
			func(t *testing.T, e *experiment.Experiment, p experiment.Params) (*experiment.Result, error) {
				tr := pictureTrial(t, e, 2, nil)
				tr.Params = p
				return runFabrication(context.Background(), tr, formulaClass(0, 60, 12))
			}},
		{layers(), []map[string]any{{"images": 60, "n": 4, "layers": 2}}, map[string]string{"digit": given, "images": given},
			func(t *testing.T, e *experiment.Experiment, p experiment.Params) (*experiment.Result, error) {
				tr := pictureTrial(t, e, 2, nil)
				tr.Params = p
				return runLayers(context.Background(), tr, formulaClass(0, 60, 12))
			}},
		{reference(), []map[string]any{{}}, nil, asItIs},
	} {
		t.Run(c.e.Name, func(t *testing.T) {
			inert.Trials{Experiment: c.e, Bases: c.bases, Others: others, Held: withDataset(c.held),
				Run: func(p experiment.Params) (*experiment.Result, error) { return c.run(t, c.e, p) }}.Check(t)
		})
	}
}

// classifiedWithDistances also has the distances of the test points: few of them
// are told apart by an accuracy.
func classifiedWithDistances(ctx context.Context, tr *experiment.Trial, d *labelled) (*experiment.Result, error) {
	r, err := runClassifier(ctx, tr, d)
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(tr.Backend, tr.DType, tr.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.Close() }()
	b, err := newPipeline(tr, e)
	if err != nil {
		return nil, err
	}
	c, err := b.accuracy(ctx, d.train, d)
	if err != nil {
		return nil, err
	}
	r.Series["test"] = experiment.Series{"distance": mat.Col(nil, 0, c.nearest.Distance)}
	return r, nil
}

// withDataset adds the parameter that has one value only.
func withDataset(held map[string]string) map[string]string {
	out := map[string]string{"dataset": "it has one value"}
	maps.Copy(out, held)
	return out
}

// heldPipeline adds the parameters of the pipeline, which kahm/classifier declares
// in the same words.
func heldPipeline(held map[string]string) map[string]string {
	for _, p := range slices.Concat(mechanismFor("inf"), machineParams(20), pipelineParams()) {
		held[p.Name] = "the first row has it"
	}
	return held
}

func pipelinesOfToy() (out []map[string]any) {
	for _, change := range []map[string]any{
		{}, {"data": dataNoisy, "epsilon": 8}, {"data": dataNoisy}, {"data": dataFabricated, "epsilon": 8},
		{"data": dataFabricated}, {"data": dataFabricated, "epsilon": 8, "variant": variantPublished},
	} {
		all := map[string]any{"shape": "swiss-roll", "samples": 60, "grid": 20, "n": 2, "layers": 2}
		maps.Copy(all, change)
		out = append(out, all)
	}
	return out
}

package kahm

import (
	"context"
	"errors"
	"fmt"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

func federated() *experiment.Experiment {
	params := []experiment.Param{
		choice("dataset", dataMNIST, "data set", dataMNIST),
		count("train", dataset.MNISTTrain, 1, dataset.MNISTTrain, "training images: the first ones of the file"),
		count("test", dataset.MNISTTest, 1, dataset.MNISTTest, "test images: the first ones of the file"),
		count("scenario", 1, 1, 3, "how the images are shared: 1, each class belongs to one of 10 parties; 2, each class is halved between two of 20 parties; 3, at random among so many parties"),
		count("parties", 10, 1, maxParties, "scenario 3: number of parties; scenarios 1 and 2 have 10 and 20"),
		choice("data", dataFabricated, "what the parties' machines model", dataOriginal, dataNoisy, dataFabricated),
	}
	params = append(params, mechanismFor(16.0)...)
	params = append(params, machineParams(20)...)
	params = append(params, pipelineParams()...)
	params = experiment.When(params, []string{"parties"}, experiment.Is("scenario", "3"))
	params = append(params, flag("centralised", true, "build and evaluate the classifier of all images in one place, too"))
	return &experiment.Experiment{
		Name:    "kahm/federated",
		Version: 2,
		Summary: "digits classified by the nearest machine of any party, and by machines of all images in one place",
		Source:  "Kumar, Moser and Fischer, Section 5.3 (Eq. 104), Section 6.3, Tables 8 to 10, Fig. 16",
		Params:  params,
		Metrics: []experiment.Metric{
			{Name: "accuracy", Doc: "share of test images that the global classifier (104) gets right"},
			{Name: "accuracy_centralised", Doc: "the same of classifier (100), built from all images in one place with a noise of its own (with centralised)"},
			{Name: "change", Doc: "accuracy less accuracy_centralised (with centralised)"},
			{Name: "branches", Doc: "machines of all parties and classes together"},
			{Name: "evaluated_fraction", Doc: "share of pairs of an image and a machine of the parties whose distance was computed in full"},
			{Name: "missing_classes", Doc: "pairs of a party and a class without an image, whose distance counts as infinite (Remark 5)"},
			{Name: "smallest_class", Doc: "images of the smallest class of a party that has one"},
		},
		Datasets: func(experiment.Params) []string { return []string{dataMNIST} },
		Check:    checkFederated,
		Memory:   digitMemory,
		Run:      runFederated,
	}
}

func checkFederated(p experiment.Params) error {
	if q, train := p.Int("parties"), p.Int("train"); p.Int("scenario") == 3 && q > train {
		return fmt.Errorf("parties = %d: there are only %d training images to share", q, train)
	}
	return errors.Join(checkColumns(p, pixels), checkPipeline(p))
}

func runFederated(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
	d, err := mnist(t)
	if err != nil {
		return nil, err
	}
	return federate(ctx, t, d)
}

// federate shares the training samples out and evaluates the global classifier.
func federate(ctx context.Context, t *experiment.Trial, d *labelled) (result *experiment.Result, err error) {
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	defer frugal()()
	b, err := newPipeline(t, e)
	if err != nil {
		return nil, err
	}
	shared, missing := share(t, d)
	smallest := d.trainPoints
	for _, s := range shared {
		n, _ := s.samples.Dims()
		smallest = min(smallest, n)
	}
	out := &experiment.Result{Metrics: map[string]float64{"missing_classes": float64(missing), "smallest_class": float64(smallest)}}
	parties, err := b.accuracy(ctx, shared, d)
	if err != nil {
		return nil, err
	}
	out.Metrics["accuracy"], out.Metrics["branches"] = parties.accuracy, float64(parties.machines)
	out.Metrics["evaluated_fraction"] = float64(parties.nearest.Evaluated) / float64(parties.nearest.Pairs)
	unsafe, clustered := parties.nearest.Unsafe, parties.machines > len(shared)
	if t.Params.Flag("centralised") {
		central, err := b.accuracy(ctx, withSamples(d.train), d)
		if err != nil {
			return nil, err
		}
		out.Metrics["accuracy_centralised"], out.Metrics["change"] = central.accuracy, parties.accuracy-central.accuracy
		unsafe += central.nearest.Unsafe
		clustered = clustered || central.machines > len(withSamples(d.train))
	}
	out.Privacy, out.Warnings = privacy(t.Params, d.unit, clustered), e.Warnings()
	if out.Privacy != nil && t.Params.Flag("centralised") {
		out.Privacy.Notes = append(out.Privacy.Notes, "epsilon and delta are those of each classifier alone: the "+
			"parties' and the central one have noise of their own on the same entries, and both together have (2ε, 2δ)")
	}
	if unsafe > 0 {
		out.Warnings = append(out.Warnings, unsafeWarning(unsafe))
	}
	return out, nil
}

// evaluated is a classification by so many machines.
type evaluated struct {
	*classification
	machines int
}

// accuracy builds the machines of all sources and classifies the test points by
// the nearest: a class that a source lacks has no machine there, and so an
// infinite distance.
func (b *pipeline) accuracy(ctx context.Context, sources []source, d *labelled) (*evaluated, error) {
	model, err := b.build(ctx, sources)
	if err != nil {
		return nil, err
	}
	c, err := classify(ctx, b.e, model, d, b.progress)
	if err != nil {
		return nil, err
	}
	return &evaluated{c, len(model.machines)}, nil
}

// withSamples leaves out classes without samples.
func withSamples(sources []source) []source {
	var out []source
	for _, s := range sources {
		if !s.samples.IsEmpty() {
			out = append(out, s)
		}
	}
	return out
}

// share gives every training image to a party, and counts the pairs of a party
// and a class that get none.
func share(t *experiment.Trial, d *labelled) (shared []source, missing int) {
	var party func(class, index, size int) int // from 1
	parties := 10
	switch t.Params.Int("scenario") {
	case 1:
		party = func(class, _, _ int) int { return class + 1 }
	case 2:
		parties = 20
		party = func(class, index, size int) int {
			if index < size/2 {
				return 2*class + 1
			}
			return 2*class + 2
		}
	default:
		// As equal as possible, independently of the class.
		parties = t.Params.Int("parties")
		order := t.Stream("parties").Perm(d.trainPoints)
		next := 0
		party = func(int, int, int) int { next++; return order[next-1]%parties + 1 }
	}
	rows := make([][][]int, parties+1)
	for q := range rows {
		rows[q] = make([][]int, d.classes)
	}
	for c, s := range d.train {
		if s.samples.IsEmpty() {
			continue
		}
		n, _ := s.samples.Dims()
		for i := range n {
			q := party(c, i, n)
			rows[q][c] = append(rows[q][c], i)
		}
	}
	for q := 1; q <= parties; q++ {
		for c := range rows[q] {
			if rows[q][c] == nil {
				missing++
				continue
			}
			shared = append(shared, source{class: c, party: q, samples: learn.SelectRows(d.train[c].samples, rows[q][c])})
		}
	}
	return shared, missing
}

package kahm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// formulaTrial is a trial of an experiment on three classes of 90 samples of 12
// columns, and 20 test points of each.
func formulaTrial(t *testing.T, e *experiment.Experiment, workers int, given map[string]any) (*experiment.Trial, *labelled) {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	d := &labelled{classes: referenceClasses, unit: "one entry", trainPoints: referenceClasses * 90}
	d.test = mat.NewDense(60, 12, nil)
	rng := rand.New(rand.NewPCG(11, 1))
	for c := range referenceClasses {
		all := mat.NewDense(110, 12, nil)
		all.Apply(func(_, j int, _ float64) float64 { return 1.5*math.Cos(float64(c+j)) + .5*rng.NormFloat64() }, all)
		d.train = append(d.train, source{class: c, samples: mat.DenseCopyOf(all.Slice(0, 90, 0, 12))})
		for i := range 20 {
			d.test.SetRow(20*c+i, all.RawRowView(90+i))
			d.testLabels = append(d.testLabels, c)
		}
	}
	return &experiment.Trial{Params: p, Backend: "cpu", DType: "float64", Workers: workers, Progress: func(int, int, string) {},
		Stream: func(purpose string) *rand.Rand {
			h := uint64(17)
			for _, r := range purpose {
				h = h*31 + uint64(r)
			}
			return rand.New(rand.NewPCG(h, 3))
		}}, d
}

var few = map[string]any{"n": 4, "layers": 2, "branches": 3, "epsilon": 4, "score_points": "all"}

func settings(more map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range []map[string]any{few, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// Every kind of classifier gives the same bits with one worker and with several,
// and finds most classes.
func TestClassifierOnFormulaData(t *testing.T) {
	for _, data := range []string{dataOriginal, dataNoisy, dataFabricated} {
		for _, variant := range []string{variantPublished, variantCorrected} {
			t.Run(data+" "+variant, func(t *testing.T) {
				run := func(workers int) *experiment.Result {
					trial, d := formulaTrial(t, classifier(), workers, settings(map[string]any{"data": data, "variant": variant}))
					r, err := runClassifier(context.Background(), trial, d)
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				one, three := run(1), run(3)
				for name, v := range one.Metrics {
					if name == "build_s" || name == "test_s" || name == "fabrication_s" {
						continue
					}
					if w := three.Metrics[name]; w != v {
						t.Errorf("%s is %.17g with one worker, %.17g with three", name, v, w)
					}
				}
				if a := one.Metrics["accuracy"]; a < .8 {
					t.Errorf("accuracy %g", a)
				}
				if one.Metrics["branches"] != 9 {
					t.Errorf("%g machines, want 3 classes × 3", one.Metrics["branches"])
				}
				if (one.Privacy != nil) != (data != dataOriginal) {
					t.Errorf("privacy %+v", one.Privacy)
				}
				if p := one.Privacy; p != nil && (p.Guarantee != "") != (variant == variantCorrected) {
					t.Errorf("%s: %q", p.Guarantee, p.Notes)
				}
			})
		}
	}
}

// Clusters whose samples still move fail the trial.
func TestClustersThatHaveNotSettled(t *testing.T) {
	trial, d := formulaTrial(t, classifier(), 1, settings(map[string]any{"data": dataNoisy}))
	_, err := runClassifier(fault.With(context.Background(), fault.Plan{Cap: 1}), trial, d)
	want := "class 0: k-means: run 1 of 1 with 3 clusters stopped after 1 iterations"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// A fabrication that stops above its radius fails: here the original samples are a
// thousandth of the given ones.
func TestFabricationAboveItsRadius(t *testing.T) {
	published := map[string]any{"data": dataFabricated, "variant": variantPublished}
	trial, d := formulaTrial(t, classifier(), 1, settings(published))
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b, err := newPipeline(trial, e)
	if err != nil {
		t.Fatal(err)
	}
	given := d.train[0].samples
	original := new(mat.Dense)
	original.Scale(1e-3, given)
	for _, steps := range []int{2, 5} {
		ctx := fault.With(context.Background(), fault.Plan{Cap: steps})
		_, err := b.fabricate(ctx, part{source: &d.train[0], original: original, given: given})
		want := fmt.Sprintf("fabrication stopped after %d smoothing steps, the most that are allowed, at a modelling", steps)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "variant=corrected") {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// What is computed from private data without noise takes the guarantee away, and
// nothing else does.
func TestGuaranteeOfClassifiers(t *testing.T) {
	for _, c := range []struct {
		name      string
		given     map[string]any
		statement string
		reasons   int
	}{
		{"noisy, clusters of noisy samples", map[string]any{"data": dataNoisy}, "(8, 1e-05)-DP", 0},
		{"noisy, private clusters", map[string]any{"data": dataNoisy, "clusters": clustersOriginal},
			"no guarantee: the clusters (Eq. 98)", 1},
		{"noisy, private clusters, but one machine a class", map[string]any{"data": dataNoisy,
			"clusters": clustersOriginal, "branches": 1}, "(8, 1e-05)-DP", 0},
		{"noisy, as published", map[string]any{"data": dataNoisy, "variant": variantPublished},
			"no guarantee: the clusters (Eq. 98)", 1},
		{"noisy, as published with noisy clusters", map[string]any{"data": dataNoisy, "variant": variantPublished,
			"clusters": clustersNoisy}, "(8, 1e-05)-DP", 0},
		{"fabricated, corrected", map[string]any{"data": dataFabricated}, "(8, 1e-05)-DP", 0},
		{"fabricated, as published with noisy clusters", map[string]any{"data": dataFabricated,
			"variant": variantPublished, "clusters": clustersNoisy},
			"no guarantee: the fabrication stops at a radius (Eq. 96)", 1},
		{"fabricated, as published", map[string]any{"data": dataFabricated, "variant": variantPublished},
			"no guarantee: the clusters (Eq. 98)", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := settings(c.given)
			given["epsilon"] = 8
			trial, d := formulaTrial(t, classifier(), 1, given)
			r, err := runClassifier(context.Background(), trial, d)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Privacy.Statement(); !strings.HasPrefix(got, c.statement) ||
				(r.Privacy.Guarantee == "") != (c.reasons > 0) {
				t.Errorf("states %q, want %q", got, c.statement)
			}
			notes := strings.Join(r.Privacy.Notes, "\n")
			claimed := strings.Contains(notes, "claimed by the paper: (8, 1e-05)-DP; it does not hold because")
			radius := strings.Contains(notes,
				"no guarantee: the clusters (Eq. 98) are computed from the private data without noise, and the fabrication stops")
			if claimed != (c.reasons > 0) || radius != (c.reasons > 1) {
				t.Errorf("the notes are\n%s", notes)
			}
		})
	}
}

// With the corrected variant nothing of the original samples goes on to the
// machines: neither clusters nor radius.
func TestCorrectedUsesNoisySamplesOnly(t *testing.T) {
	trial, d := formulaTrial(t, classifier(), 1, settings(map[string]any{"data": dataFabricated, "variant": variantCorrected}))
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b, err := newPipeline(trial, e)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := b.split(context.Background(), &d.train[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parts {
		if p.original != nil {
			t.Errorf("part %d has the original samples of %v", i, p.source)
		}
		with, err := b.fabricate(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.original = formulaClass(2, 5, 12)
		without, err := b.fabricate(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(with.samples, without.samples) {
			t.Errorf("part %d: the fabricated samples depend on the original ones", i)
		}
	}
	// The clusters are those of the noisy samples: with other samples and a noise
	// that makes up for them, they are the same.
	again := *b
	other := source{class: 0, samples: mat.NewDense(90, 12, nil)}
	noisy := mat.DenseCopyOf(d.train[0].samples)
	b.noise.Add(noisy.RawMatrix().Data, b.stream("noise, class 0"))
	other.samples.Copy(noisy)
	quiet := *b.noise
	quiet.Epsilon = 1e12
	again.noise = &quiet
	same, err := again.split(context.Background(), &other)
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts {
		if !mat.EqualApprox(parts[i].given, same[i].given, 1e-9) {
			t.Errorf("cluster %d depends on more than the noisy samples", i)
		}
	}
}

// Every image goes to exactly one party, in every scenario.
func TestShareLosesNothing(t *testing.T) {
	for _, c := range []struct{ scenario, parties, want int }{{1, 10, 3}, {2, 10, 6}, {3, 1, 3}, {3, 7, 21}, {3, 200, -1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			trial, d := formulaTrial(t, federated(), 1, map[string]any{"scenario": c.scenario, "parties": c.parties})
			shared, missing := share(trial, d)
			if c.want >= 0 && len(shared) != c.want {
				t.Errorf("%d pairs of a party and a class, want %d", len(shared), c.want)
			}
			rows, byParty := map[string]int{}, map[int]int{}
			for _, s := range shared {
				n, _ := s.samples.Dims()
				byParty[s.party] += n
				for i := range n {
					rows[fmt.Sprint(s.class, s.samples.RawRowView(i))]++
				}
			}
			for c := range referenceClasses {
				for i := range 90 {
					if k := fmt.Sprint(c, d.train[c].samples.RawRowView(i)); rows[k] != 1 {
						t.Errorf("sample %d of class %d is with %d parties", i, c, rows[k])
					}
				}
			}
			if c.scenario == 3 {
				if len(byParty) != c.parties {
					t.Errorf("%d parties have samples, want %d", len(byParty), c.parties)
				}
				least, most := math.MaxInt, 0
				for _, n := range byParty {
					least, most = min(least, n), max(most, n)
				}
				if most-least > 1 {
					t.Errorf("parties have from %d to %d samples", least, most)
				}
				if want := c.parties*referenceClasses - len(shared); missing != want {
					t.Errorf("%d pairs without a sample, want %d", missing, want)
				}
			}
		})
	}
}

// A class that a party lacks is infinitely far from it, and not forgotten: all
// test points are classified, and one party is the central classifier.
func TestFederatedOfOneParty(t *testing.T) {
	trial, d := formulaTrial(t, federated(), 1, map[string]any{"scenario": 3, "parties": 1, "n": 4, "layers": 2, "branches": 2, "data": dataOriginal})
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	b, err := newPipeline(trial, e)
	if err != nil {
		t.Fatal(err)
	}
	central, err := b.accuracy(context.Background(), d.train, d)
	if err != nil {
		t.Fatal(err)
	}
	trial.Params["scenario"], trial.Params["parties"] = 3, 30
	shared, missing := share(trial, d)
	b.branches = func(int) int { return 1 }
	parties, err := b.accuracy(context.Background(), shared, d)
	if err != nil {
		t.Fatal(err)
	}
	if central.accuracy < .9 || parties.accuracy < .8 {
		t.Errorf("accuracies %g in one place and %g with 30 parties", central.accuracy, parties.accuracy)
	}
	if missing+parties.machines != 90 {
		t.Errorf("%d machines and %d missing classes of 30 parties", parties.machines, missing)
	}
	for i, m := range parties.nearest.Machine {
		if m[0] < 0 {
			t.Errorf("test point %d has no class", i)
		}
	}
}

func TestClassifierRefusals(t *testing.T) {
	for _, c := range []map[string]any{
		{"n": 785, "layers": 5}, {"n": 3, "layers": 4}, {"test": 1}, {"epsilon": 0}, {"delta": 1}, {"d": 0},
		{"branches": 0}, {"branches": "floor"}, {"train": 60001}, {"data": "synthetic"}, {"score_points": 5},
	} {
		if _, err := classifier().Resolve(c); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
	if _, err := federated().Resolve(map[string]any{"scenario": 3, "parties": 20, "train": 10}); err == nil {
		t.Error("more parties than images were accepted")
	}
}

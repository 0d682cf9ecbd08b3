package nearest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// A trial that takes clusters and radii from another trial is bit for bit one that computes
// them, and trials share only equal work.
func TestSharedWorkChangesNothing(t *testing.T) {
	d := formulaData()
	for i := range d.train[0].Samples.RawMatrix().Rows { // machines of class 0 have a warning
		d.train[0].Samples.SetRow(i, slices.Repeat(d.train[0].Samples.RawRowView(i)[:1], 12))
	}
	other := formulaData()
	other.train[2].Samples.Set(0, 0, 9)
	type setting struct {
		data     wide.Data
		variant  wide.Variant
		clusters wide.Clusters
		epsilon  float64
		n        int
		branches int
		seed     uint64
		on       *classData
	}
	base := setting{wide.Fabricated, wide.AsPublished, wide.AutoClusters, 16, 4, 3, 3, d}
	settings := []setting{base}
	with := func(change func(*setting)) {
		s := base
		change(&s)
		settings = append(settings, s)
	}
	with(func(s *setting) { s.data = wide.Noisy })
	with(func(s *setting) { s.epsilon = 32 })
	with(func(s *setting) { s.n = 3 })
	with(func(s *setting) { s.branches = 2 })
	with(func(s *setting) { s.branches = 1 })
	with(func(s *setting) { s.seed = 4 })
	with(func(s *setting) { s.on = other })
	for _, data := range []wide.Data{wide.Noisy, wide.Fabricated} {
		for _, change := range []func(*setting){
			func(*setting) {}, func(s *setting) { s.epsilon = 32 }, func(s *setting) { s.n = 3 },
			func(s *setting) { s.seed = 4 }, func(s *setting) { s.clusters = wide.OriginalClusters },
		} {
			with(func(s *setting) { s.data, s.variant = data, wide.Corrected; change(s) })
		}
	}
	run := func(s setting, keeper experiment.Keeper) *evaluation {
		set := smallClassifier(t, func(c *ClassifierSettings) {
			c.Data, c.Variant, c.Clusters, c.Epsilon, c.N = s.data, s.variant, s.clusters, s.epsilon, s.n
			c.Points = experiment.NumberOr[wide.Whole](30)
			c.Branches = experiment.NumberOr[wide.Rounding](s.branches)
		})
		trial := trialtest.New(t, trialtest.Options{Seed: s.seed, Workers: 2, Keeper: keeper})
		r, err := evaluate(t.Context(), trial, set.Data, &set.Pipeline, &set.Score, s.on)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	kept := new(trialtest.Kept)
	warned := 0
	for i, s := range settings {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			alone := run(s, nil)
			for _, r := range []*evaluation{run(s, kept), run(s, kept)} {
				a, b := untimed(Classifier(), alone.ClassifierMetrics), untimed(Classifier(), r.ClassifierMetrics)
				if !maps.Equal(a, b) {
					t.Errorf("%+v\n%v with shared work\n%v without", s, b, a)
				}
				if !reflect.DeepEqual(r.series, alone.series) || !slices.Equal(r.warnings, alone.warnings) {
					t.Errorf("%+v: series or warnings differ: %q, %q without shared work", s, r.warnings, alone.warnings)
				}
			}
			warned += len(alone.warnings)
		})
	}
	if warned == 0 {
		t.Error("no trial has a warning that could be lost")
	}
	// Clusters of original samples: those of the first trial, 2 branches, another seed,
	// other samples; of noisy samples at two ε, two n, two seeds. Corrected trials with
	// original clusters have those of the first. Radii: two n, three numbers of branches,
	// two seeds, other samples.
	if want := map[string]int{"clusters": 4 + 4, "radii of the fabrication": 6}; !maps.Equal(kept.Done, want) {
		t.Errorf("done %v, want %v, of %v", kept.Done, want, kept.Asked)
	}
}

// slowKeeper reports an hour for all work.
type slowKeeper struct{ trialtest.Kept }

func (k *slowKeeper) Keep(ctx context.Context, name, key string, compute func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	time.Sleep(30 * time.Millisecond) // who waits for others does not work
	v, err := k.Kept.Keep(ctx, name, key, compute)
	if err == nil {
		v.Took = time.Hour
	}
	return v, err
}

// Times include work of other trials.
func TestTimesCountSharedWork(t *testing.T) {
	s := smallClassifier(t, func(s *ClassifierSettings) {
		s.Data, s.Variant = wide.Fabricated, wide.AsPublished
	})
	start := time.Now()
	trial := trialtest.New(t, trialtest.Options{Seed: 3, Keeper: new(slowKeeper)})
	r, err := evaluate(t.Context(), trial, s.Data, &s.Pipeline, &s.Score, formulaData())
	if err != nil {
		t.Fatal(err)
	}
	spent := time.Since(start).Seconds()
	for name, seconds := range map[string]float64{"build_s": r.BuildTime, "fabrication_s": *r.FabricationTime} {
		if seconds < 3600-.06 || seconds > 3600+spent-.03 {
			t.Errorf("%s = %.9g; the clusters took an hour, and so did the radii", name, seconds)
		}
	}
}

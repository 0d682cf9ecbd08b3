package recognise

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// tableII calls visit with the settings of the 32 trials of Table II on one data set, as
// configs/multikernel-table2.yaml has them.
func tableII(visit func(*HARSettings)) {
	for kernels := 1; kernels <= 2; kernels++ {
		add := func(change func(*HARSettings)) {
			visit(har().With(func(s *HARSettings) {
				s.Experiment = kernels
				change(s)
			}))
		}
		for _, k := range kernellist.Must(harKernels[kernels-1]) {
			add(func(s *HARSettings) { s.Method = methodSingle + k.Text })
		}
		combined := func(change func(*HARSettings)) {
			for _, method := range []string{"uniform", "alignment"} {
				add(func(s *HARSettings) { s.Method = method; change(s) })
			}
			for _, rho := range []float64{0, .1} {
				add(func(s *HARSettings) { s.Method, s.RhoSNR = "snr", rho; change(s) })
			}
		}
		combined(func(*HARSettings) {})
		combined(func(s *HARSettings) { s.C = trialtest.WordOr[float64](CrossValidated) })
		combined(func(s *HARSettings) { s.Split = SplitRandom })
	}
}

// The trials of Table II ask for 104 compressed kernels, and 14 of them differ.
func TestKernelsAreCompressedOnce(t *testing.T) {
	all, d := movements(4), division{test: 3}
	all.X.Scale(.1, all.X) // else the sigmoid is too far from a kernel
	kept, trials := new(trialtest.Kept), 0
	tableII(func(s *HARSettings) {
		trials++
		trial := trialtest.New(t, trialtest.Options{Seed: 1, Keeper: kept})
		train, test, err := d.split(all, s.Split, trial.Stream("split"))
		if err != nil {
			t.Fatal(err)
		}
		s.RhoPrime = 0
		spec, err := s.spec(harKernels[s.Experiment-1])
		if err != nil {
			t.Fatal(err)
		}
		of, x := all.take(train), all.take(test).X
		e := engine.Of(trial.Engine)
		shared, err := MakeFeatures(t.Context(), trial, e, of, x, spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := MakeFeatures(t.Context(), new(experiment.Trial), e, of, x, spec, nil)
		if err != nil || !reflect.DeepEqual(shared, alone) {
			t.Errorf("%+v: the features differ: %v", s, err)
		}
	})
	asked, done := map[string]int{"compressed kernel": 104}, map[string]int{"compressed kernel": 14}
	if trials != 32 || !maps.Equal(kept.Asked, asked) || !maps.Equal(kept.Done, done) {
		t.Errorf("%d trials asked for %v and did %v", trials, kept.Asked, kept.Done)
	}
}

// A trial whose kernels others have compressed equals, bit for bit and with its warnings, the trial
// that compresses them itself; trials with different compressions share none.
func TestSharedKernelsChangeNothing(t *testing.T) {
	kept := new(trialtest.Kept)
	run := func(all Samples, seed uint64, dtype string, k experiment.Keeper,
		change func(*HARSettings)) *experiment.Outcome[RecognitionMetrics] {
		t.Helper()
		s := har().With(change)
		if _, err := har().Resolved(s); err != nil {
			t.Fatal(err)
		}
		trial := trialtest.New(t, trialtest.Options{Seed: seed, DType: dtype, Keeper: k})
		out, err := recognise(t.Context(), trial, &s.Recognition, all, division{test: 3}, harKernels[s.Experiment-1])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, second := movements(4), movements(4)
	second.X.Set(0, 0, 3)
	relabelled := movements(4)
	relabelled.Utility = slices.Clone(relabelled.Utility)
	for i, u := range relabelled.Utility { // the same samples are trained on, in other classes
		relabelled.Utility[i] = (u + relabelled.Privacy[i]%2) % 6
	}
	for i, c := range []struct {
		on     Samples
		seed   uint64
		change func(*HARSettings)
	}{
		{first, 1, defaults[HARSettings]},
		{first, 2, defaults[HARSettings]}, // as the first: nothing is drawn
		{second, 1, defaults[HARSettings]},
		{relabelled, 1, defaults[HARSettings]},
		{first, 1, func(s *HARSettings) { s.Rho = 1 }},
		{first, 1, func(s *HARSettings) { s.RhoPrime = 1e-3 }},
		{first, 1, func(s *HARSettings) { s.Components = 3 }},
		{first, 1, func(s *HARSettings) { s.Standardise = true }},
		{first, 1, func(s *HARSettings) { s.Split, s.Method = SplitRandom, "single:rbf:0.01" }},
		{first, 2, func(s *HARSettings) { s.Split, s.Method = SplitRandom, "single:rbf:0.01" }},
		{first, 1, func(s *HARSettings) { s.Method = "single:rbf:0.001" }},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			alone := run(c.on, c.seed, "float64", nil, c.change)
			run(c.on, c.seed, "float64", kept, c.change)
			if found := run(c.on, c.seed, "float64", kept, c.change); !reflect.DeepEqual(found, alone) {
				t.Errorf("with shared work %+v\nwithout %+v", found, alone)
			}
		})
	}
	// Seven lists of four kernels, and one kernel for each of two random splits.
	if n := kept.Done["compressed kernel"]; n != 7*4+2 {
		t.Errorf("%d kernels were compressed, not 30", n)
	}
	t.Run("warnings", func(t *testing.T) {
		ill := func(s *HARSettings) { s.Experiment, s.Method = 2, "single:linear" }
		large := movements(4)
		large.X.Scale(1e3, large.X)
		kept := new(trialtest.Kept)
		alone := run(large, 1, "float32", nil, ill)
		run(large, 1, "float32", kept, ill)
		if found := run(large, 1, "float32", kept, ill); !slices.Equal(found.Warnings, alone.Warnings) {
			t.Errorf("warnings %q, not %q", found.Warnings, alone.Warnings)
		}
		if len(alone.Warnings) < 2 { // that on the constant column is not the engine's
			t.Errorf("warnings %q: none could be lost", alone.Warnings)
		}
	})
}

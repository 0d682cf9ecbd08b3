package wide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// samples returns 90 samples of 12 columns of one class.
func samples() *Source {
	rng := rand.New(rand.NewPCG(11, 1))
	y := mat.NewDense(90, 12, nil)
	y.Apply(func(_, j int, _ float64) float64 { return 1.5*math.Cos(float64(j)) + .5*rng.NormFloat64() }, y)
	return &Source{Samples: y}
}

// builder returns one of three machines, 4 directions and 2 layers.
func builder(t *testing.T, data Data, variant Variant) *Builder {
	t.Helper()
	trial := trialtest.New(t, trialtest.Options{})
	b, err := NewBuilder(trial, engine.Of(trial.Engine), data, &Pipeline{
		Budget:  Budget{Epsilon: 4, Delta: 1e-5, D: 1},
		Machine: Machine{N: 4, Layers: 2, Branches: experiment.NumberOr[Rounding](3)},
		Variant: variant, Clustering: Clustering{Starts: 1}, Smoothing: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A fabrication that stops above its radius fails: here the original samples are a
// thousandth of the given ones.
func TestFabricationAboveItsRadius(t *testing.T) {
	b, of := builder(t, Fabricated, AsPublished), samples()
	original := new(mat.Dense)
	original.Scale(1e-3, of.Samples)
	_, err := b.Fabricate(t.Context(), Cluster{Samples: of.Samples, source: of, original: original})
	want := fmt.Sprintf("fabrication stopped after %d smoothing steps, the most that are allowed, at a", maxSmoothing)
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "variant=corrected") {
		t.Errorf("%v; want %q", err, want)
	}
}

// A release of samples that have their noise computes the same as the trial that adds the noise
// and is judged.
func TestPartsOfNoisySamples(t *testing.T) {
	for _, data := range []Data{Noisy, Fabricated} {
		of := samples()
		noisy := &Source{Samples: builder(t, data, Corrected).withNoise(of)}
		want, err := builder(t, data, Corrected).Parts(t.Context(), []Source{*of})
		if err != nil {
			t.Fatal(err)
		}
		b := builder(t, data, Corrected)
		given := NewBuilderOfNoisy(b.trial, b.e, data, &Pipeline{Machine: Machine{N: 4, Layers: 2,
			Branches: experiment.NumberOr[Rounding](3)}, Clustering: Clustering{Starts: 1}, Smoothing: 2})
		got, err := given.Parts(t.Context(), []Source{*noisy})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for i := range want {
			if !slices.Equal(got[i].Rows, want[i].Rows) || !mat.Equal(got[i].Samples, want[i].Samples) {
				t.Errorf("%s, part %d: rows %v, want %v", experiment.NameOf(data), i, got[i].Rows, want[i].Rows)
			}
			rows += len(want[i].Rows)
		}
		if len(got) != 3 || rows != 90 {
			t.Errorf("%d parts of %d rows", len(got), rows)
		}
	}
}

// Clusters whose samples still move fail the trial.
func TestClustersThatHaveNotSettled(t *testing.T) {
	b := builder(t, Noisy, Corrected)
	b.kmeans.Iterations = 1
	_, err := b.Build(t.Context(), []Source{*samples()})
	want := "class 0: k-means: run 1 of 1 with 3 clusters stopped after 1 iterations"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// In the corrected variant no radius is computed from the original samples.
func TestCorrectedTakesNoRadius(t *testing.T) {
	b := builder(t, Fabricated, Corrected)
	clusters, err := b.Split(t.Context(), samples())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range clusters {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if c.original != nil {
				t.Errorf("it has the original samples of %v", c.source)
			}
			with, err := b.Fabricate(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			c.original = mat.NewDense(5, 12, nil)
			c.original.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(i*j + j)) }, c.original)
			without, err := b.Fabricate(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(with.Samples, without.Samples) {
				t.Error("the fabricated samples depend on the original ones")
			}
		})
	}
}

// The clusters are those of the noisy samples: they are the same for other samples with noise
// that makes up for the difference.
func TestCorrectedClustersNoisySamples(t *testing.T) {
	b, of := builder(t, Noisy, Corrected), samples()
	clusters, err := b.Split(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	noisy := mat.DenseCopyOf(of.Samples)
	b.noise.Add(noisy.RawMatrix().Data, b.trial.Stream("noise, class 0"))
	again, quiet := *b, *b.noise
	quiet.Epsilon = 1e12
	again.noise = &quiet
	same, err := again.Split(t.Context(), &Source{Samples: noisy})
	if err != nil {
		t.Fatal(err)
	}
	for i := range clusters {
		if !mat.EqualApprox(clusters[i].Samples, same[i].Samples, 1e-9) {
			t.Errorf("cluster %d depends on more than the noisy samples", i)
		}
	}
}

// Eq. 59, as the text has it and as it is printed; a class has no more machines than
// samples.
func TestBranches(t *testing.T) {
	for _, c := range []struct {
		branches experiment.Or[Rounding, int]
		want     map[int]int // by the samples of the class
	}{
		{trialtest.WordOr[int](Nearest), map[int]int{3: 1, 1000: 1, 1500: 2, 2001: 2}},
		{trialtest.WordOr[int](Upwards), map[int]int{3: 1, 1000: 1, 1500: 2, 2001: 3}},
		{experiment.NumberOr[Rounding](7), map[int]int{3: 3, 1000: 7}},
	} {
		t.Run(c.branches.String(), func(t *testing.T) {
			m := &Machine{Branches: c.branches}
			for n, want := range c.want {
				if got := m.branches(n); got != want {
					t.Errorf("%d machines of %d samples, want %d", got, n, want)
				}
			}
		})
	}
}

// The samples that k-means clusters.
func TestClustersOfPipelines(t *testing.T) {
	for _, c := range []struct {
		name     string
		clusters Clusters
		variant  Variant
		data     Data
		want     Clusters
	}{
		{"as published", AutoClusters, AsPublished, Noisy, OriginalClusters},
		{"corrected", AutoClusters, Corrected, Noisy, NoisyClusters},
		{"corrected, without noise", AutoClusters, Corrected, Original, OriginalClusters},
		{"given", NoisyClusters, AsPublished, Fabricated, NoisyClusters},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Pipeline{Clustering: Clustering{Clusters: c.clusters}, Variant: c.variant}
			if got := p.clustersOf(c.data); got != c.want {
				t.Errorf("%s, want %s", experiment.NameOf(got), experiment.NameOf(c.want))
			}
		})
	}
}

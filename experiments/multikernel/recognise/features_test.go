package recognise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// runReferenceWith runs a trial of multikernel/reference.
func runReferenceWith(t *testing.T, dtype string, workers int,
	change func(*ReferenceSettings)) (*experiment.Outcome[ReferenceMetrics], error) {
	t.Helper()
	trial := trialtest.New(t, trialtest.Options{DType: dtype, Workers: workers})
	return reference().Compute(t.Context(), trial, reference().With(change))
}

// Check values of an independent implementation.
func TestReference(t *testing.T) {
	const frobenius = 1.1454538471276101
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			out, err := runReferenceWith(t, "float64", workers, defaults[ReferenceSettings])
			if err != nil {
				t.Fatal(err)
			}
			family := func(linear, rbf, laplacian float64) map[string]float64 {
				return map[string]float64{"linear": linear, "rbf": rbf, "laplacian": laplacian}
			}
			want := ReferenceMetrics{
				Trace:     family(1.3906233362826794, .30811808831023524, .43451501864450826),
				SNR0:      family(1.499813205910814, .7589358491974014, 1.239168694513089),
				SNR01:     out.Metrics.SNR01, // from which the weights are
				Weight:    family(.7201255468294, .3615510010003, .5921993502861),
				UPR01:     family(6.601266578095012, 3.521365498970366, 5.757716809689767),
				Frobenius: frobenius, Rank: 6,
			}
			got, values := experiment.MetricValues(out.Metrics), experiment.MetricValues(want)
			if len(got) != len(values) || len(got) != 5*3+2 {
				t.Errorf("%d metrics, want %d", len(got), len(values))
			}
			for name, want := range values {
				if math.Abs(got[name]-want) > 1e-10 {
					t.Errorf("%s is %.16g, want %.16g", name, got[name], want)
				}
			}
			if len(out.Warnings) > 0 {
				t.Errorf("warnings %q", out.Warnings)
			}
		})
	}
	single, err := runReferenceWith(t, "float32", 1, defaults[ReferenceSettings])
	if err != nil {
		t.Fatal(err)
	}
	if got := single.Metrics.Frobenius; math.Abs(got-frobenius) > 1e-6 {
		t.Errorf("in float32 the Frobenius norm is %g", got)
	}
}

func TestReferenceRefuses(t *testing.T) {
	kernels := func(text string) func(*ReferenceSettings) {
		return func(s *ReferenceSettings) { s.Kernels = text }
	}
	for _, c := range []struct {
		name   string
		change func(*ReferenceSettings)
		want   string
	}{
		{"a misspelt kernel", kernels("linear+rbff:1"), `did you mean "rbf"?`},
		{"one twice", kernels("rbf:0.1+rbf:1e-1"), "given twice"},
		{"half of the parameters", kernels("sigmoid:1"), "sigmoid:γ:c0"},
		{"a negative one", kernels("rbf:-1"), "must be positive"},
		{"a word", kernels("rbf:x"), `"x" is not a number`},
		{"half a degree", kernels("polynomial:1:2.5:1"), "whole number"},
		{"none", kernels("+"), "names no kernel"},
		{"too many components", func(s *ReferenceSettings) { s.Components = 3 }, "with 3 classes there are 1 to 2"},
		{"an indefinite kernel", func(s *ReferenceSettings) { s.Kernels, s.Rho = "sigmoid:1:1", .1 },
			"positive semidefinite kernel, or a larger ρ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := runReferenceWith(t, "float64", 1, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	for _, c := range []struct {
		method  string
		list    string
		kernels string // or a part of the error
		weights weighting
	}{
		{"snr", harKernels[0], "rbf:0.01 rbf:0.001 rbf:0.0001 rbf:0.00001", weightSNR},
		{"utility-privacy", harKernels[1], "linear rbf:0.001 laplacian:0.001 sigmoid:0.001:1", weightUtilityPrivacy},
		{"single:rbf:1e-5", harKernels[0], "rbf:0.00001", weightUniform},
		{"single:laplacian", harKernels[1], "laplacian:0.001", weightUniform},
		{"single:rbf", harKernels[0], "4 kernels of this kind", ""},
		{"single:linear", harKernels[0], `unknown kernel of this experiment "linear"`, ""},
		{"sne", harKernels[0], `did you mean "snr"?`, ""},
	} {
		t.Run(c.method, func(t *testing.T) {
			r := Recognition{Method: c.method, Compression: Compression{Rho: 10, Components: 5}}
			s, err := r.spec(c.list)
			if c.weights == "" {
				if err == nil || !strings.Contains(err.Error(), c.kernels) {
					t.Errorf("error %v, want one with %q", err, c.kernels)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, k := range s.Kernels {
				texts = append(texts, k.Text)
			}
			if got := strings.Join(texts, " "); got != c.kernels || s.weights != c.weights ||
				s.compression != (discriminant.Options{Ridge: 10, Components: 5}) {
				t.Errorf("%s with %+v", got, s)
			}
		})
	}
}

// The kernels of both data sets are written as the parser reads them.
func TestKernelsOfTheExperiments(t *testing.T) {
	for _, list := range append(slices.Clone(harKernels), mhealthKernels...) {
		if _, err := kernellist.Parse(list); err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// groups returns samples of the given numbers for people at activities.
func groups(people, activities int, number func(person, activity int) int) Samples {
	var s Samples
	for p := range people {
		for a := range activities {
			for range number(p, a) {
				s.Utility, s.Privacy = append(s.Utility, a), append(s.Privacy, p)
			}
		}
	}
	s.X = mat.NewDense(len(s.Utility), 1, nil)
	for i := range s.Utility {
		s.X.Set(i, 0, float64(i))
	}
	return s
}

func TestSplit(t *testing.T) {
	s := groups(3, 2, func(p, a int) int { return 20 + 3*p + a })
	rng := rand.New(rand.NewPCG(1, 1))
	for _, how := range []Split{SplitLast, SplitRandom} {
		for _, d := range []division{{test: 9}, {test: 4, train: 10}} {
			train, test, err := d.split(s, how, rng)
			if err != nil {
				t.Fatal(err)
			}
			all := append(slices.Clone(train), test...)
			slices.Sort(all)
			if len(slices.Compact(all)) != len(train)+len(test) {
				t.Errorf("%v, %+v: a sample is in both parts, or twice in one", how, d)
			}
			counts := map[[2]int][2]int{}
			for part, rows := range [][]int{train, test} {
				x := s.take(rows)
				for i := range rows {
					if x.X.At(i, 0) != float64(rows[i]) {
						t.Fatal("take mixes up rows")
					}
					c := counts[[2]int{x.Privacy[i], x.Utility[i]}]
					c[part]++
					counts[[2]int{x.Privacy[i], x.Utility[i]}] = c
				}
			}
			for g, c := range counts {
				want := [2]int{20 + 3*g[0] + g[1] - d.test, d.test}
				if d.train > 0 {
					want[0] = d.train
				}
				if c != want {
					t.Errorf("%v, %+v: person %d at activity %d has %v samples, want %v", how, d, g[0], g[1], c, want)
				}
			}
			if how == SplitLast && !slices.Contains(test, s.X.RawMatrix().Rows-1) {
				t.Errorf("%+v: the last sample is not tested on", d)
			}
		}
	}
	if _, _, err := (division{test: 9, train: 20}).split(s, SplitLast, nil); err == nil ||
		!strings.Contains(err.Error(), "person 0 has 20 samples at activity 0: 29") {
		t.Errorf("too few samples: %v", err)
	}
	// The sizes of the paper, from equal numbers.
	full := groups(10, 6, func(int, int) int { return 100 })
	train, test, err := mhealthDivision.split(full, SplitLast, nil)
	if err != nil || len(train) != 4800 || len(test) != 900 {
		t.Errorf("MHEALTH: %d and %d samples (%v), want 4800 and 900", len(train), len(test), err)
	}
	if _, test, err = harDivision.split(groups(20, 6, func(int, int) int { return 50 }), SplitLast, nil); err != nil ||
		len(test) != 1080 {
		t.Errorf("HAR: %d test samples (%v), want 1080", len(test), err)
	}
}

func TestStandardise(t *testing.T) {
	train, test := mat.NewDense(4, 2, []float64{1, 5, 2, 5, 3, 5, 4, 5}), mat.NewDense(1, 2, []float64{2.5, 9})
	standardise(train, test)
	s := math.Sqrt(1.25)
	if want := mat.NewDense(4, 2, []float64{-1.5 / s, 0, -.5 / s, 0, .5 / s, 0, 1.5 / s, 0}); !mat.EqualApprox(train,
		want, 1e-15) {
		t.Errorf("training samples %v", mat.Formatted(train))
	}
	if test.At(0, 0) != 0 || test.At(0, 1) != 0 {
		t.Errorf("test sample %v", mat.Formatted(test))
	}
}

// The features distinguish classes and carry over to test samples: the nearest
// class mean finds the activity of nearly every test sample. Test samples enter
// one by one.
func TestMakeFeatures(t *testing.T) {
	e := engine.Of(trialtest.New(t, trialtest.Options{Workers: 2}).Engine)
	rng := rand.New(rand.NewPCG(7, 1))
	all := surrogate(400, 30, rng)
	rows := rng.Perm(400)
	train, test := all.take(rows[:300]), all.take(rows[300:])
	for _, w := range []weighting{weightUniform, weightAlignment, weightSNR, weightUPR, weightUtilityPrivacy} {
		t.Run(string(w), func(t *testing.T) {
			s := Spec{Kernels: kernellist.Must("linear+rbf:0.01+laplacian:0.1"), weights: w, scoreRidge: .1,
				compression: discriminant.Options{Ridge: 10, SignalRidge: 1e-4, Components: 5}}
			compressed := 0
			f, err := MakeFeatures(t.Context(), new(experiment.Trial), e, train, test.X, s,
				func(done, _ int, _ string) { compressed = done })
			if err != nil {
				t.Fatal(err)
			}
			if compressed != 3 || len(f.Weights) != 3 || len(f.Traces) != 3 {
				t.Errorf("%d kernels reported, %d weights, %d traces", compressed, len(f.Weights), len(f.Traces))
			}
			if right := nearestMean(f, train.Utility, test.Utility); right < 90 {
				t.Errorf("the nearest class mean is right for %d of 100", right)
			}
			var m RecognitionMetrics
			m.addFeatures(s, f)
			if (m.SNR != nil) != (w == weightSNR) || (m.UPR != nil) != (w == weightUPR) || m.Weight["rbf"] != f.Weights[1] ||
				m.Rank > 15 {
				t.Errorf("metrics %+v", m)
			}
			one, err := MakeFeatures(t.Context(), new(experiment.Trial), e, train,
				test.X.Slice(7, 8, 0, 30).(*mat.Dense), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, c := f.Test.Dims()
			if !mat.EqualApprox(one.Test, f.Test.Slice(7, 8, 0, c), 1e-12) {
				t.Error("a test sample's features depend on the others")
			}
		})
	}
}

// nearestMean counts the test samples whose nearest class mean is right.
func nearestMean(f *Features, train, test []int) (right int) {
	_, c := f.Train.Dims()
	means, counts := mat.NewDense(6, c, nil), make([]float64, 6)
	for i, l := range train {
		row := means.RawRowView(l)
		for j, v := range f.Train.RawRowView(i) {
			row[j] += v
		}
		counts[l]++
	}
	for i, l := range test {
		best, at := math.Inf(1), -1
		for k := range counts {
			d := 0.0
			for j, v := range f.Test.RawRowView(i) {
				v -= means.At(k, j) / counts[k]
				d += v * v
			}
			if d < best {
				best, at = d, k
			}
		}
		if at == l {
			right++
		}
	}
	return right
}

// The surrogate has the structure of HAR: its groups and its range, people at activities one after
// another, and windows that overlap with the next.
func TestSurrogate(t *testing.T) {
	s := surrogate(readers.HARReconstructed, 60, rand.New(rand.NewPCG(1, 1)))
	if err := s.complete(); err != nil {
		t.Fatal(err)
	}
	train, test, err := harDivision.split(s, SplitLast, nil)
	if err != nil || len(train) != 5451 || len(test) != 1080 {
		t.Errorf("%d training and %d test windows: %v", len(train), len(test), err)
	}
	if low, high := mat.Min(s.X), mat.Max(s.X); low < -1 || high > 1 || low > -.9 || high < .9 {
		t.Errorf("features from %g to %g", low, high)
	}
	// Of independent windows the squared distance would be the same for
	// neighbours and others of one group, of these it is half.
	near, far := 0.0, 0.0
	for i := 0; i+10 < readers.HARReconstructed; i++ {
		if s.Privacy[i] == s.Privacy[i+10] && s.Utility[i] == s.Utility[i+10] {
			near += squared(s.X.RawRowView(i), s.X.RawRowView(i+1))
			far += squared(s.X.RawRowView(i), s.X.RawRowView(i+10))
		}
	}
	if ratio := near / far; ratio < .4 || ratio > .65 {
		t.Errorf("neighbours are at %g of the squared distance of others", ratio)
	}
}

func squared(a, b []float64) float64 {
	d := floats.Distance(a, b, 2)
	return d * d
}

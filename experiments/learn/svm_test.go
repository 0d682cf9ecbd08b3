package learn

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/simd/vector"
)

// formulaSamples are n samples of d features that depend on one of the classes,
// the more the larger the strength; row i is of class i mod classes.
func formulaSamples(n, d, classes int, strength float64) (*mat.Dense, []int) {
	x, labels := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		labels[i] = i % classes
		for j := range d {
			a, b := float64(i), float64(j)
			x.Set(i, j, math.Sin(0.7*a+1.3*b)+0.1*math.Cos(a*b)+strength*math.Sin(2*float64(labels[i])+b))
		}
	}
	return x, labels
}

// halves are the first rows of formula samples for training, the others for a
// test.
func halves(
	n, train, d, classes int, strength float64,
) (x *mat.Dense, labels []int, test *mat.Dense, testLabels []int) {
	all, l := formulaSamples(n, d, classes, strength)
	return mat.DenseCopyOf(all.Slice(0, train, 0, d)), l[:train], mat.DenseCopyOf(all.Slice(train, n, 0, d)), l[train:]
}

// digits writes labels below 10 as text.
func digits(labels []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(labels), "[]"), " ", "")
}

// libsvm are results of LIBSVM 3.23 through scikit-learn 1.9.1, SVC with the
// default tolerance 1e-3, trained on rows 0 to 399 of formulaSamples(600, 5, 4,
// 0.3): the objectives ½αᵀQα − Σα from its dual_coef_, and the predictions of
// rows 400 to 599.
var libsvm = []struct {
	name       string
	kernel     Kernel
	c          float64
	objectives []float64 // of the classes 0 1, 0 2, 0 3, 1 2, 1 3, 2 3
	support    int
	predicted  string
}{
	{
		"linear, C 10", nil, 10,
		[]float64{-161.72800928, -53.60732706, -1613.49499085, -118.88178356, -143.01151573, -72.01565573}, 210,
		"0123012331200123312300203123012031230123312301230123312001233123002031230120312301233123012301233120" +
			"0123312300203123012031230123312301230123312001233123002031230120312301233123012301233120012331230020",
	},
	{
		"linear, C 0.05", LinearKernel, 0.05,
		[]float64{-7.55278831, -7.06739422, -9.68436478, -7.23296149, -7.32346582, -7.41652039}, 395,
		"2230011122230111112330001122333001222220011222230111122330001122330011222220011222230111122330011122" +
			"3300112223200112222301111223301111223300012222300112222301111223300111223000112222300122222301111223",
	},
	{
		"RBF, C 10", RBFKernel(0.5), 10,
		[]float64{-151.23076985, -88.82103773, -1305.87816287, -129.92528237, -128.72579754, -112.84508424}, 243,
		"0120312301230123012301230123012301230120012301230123312301230123012301230120312301233123012301230123" +
			"0123012301200123012031230123312301200123012301230123002031230123312301200123012001230120012331200123",
	},
	{
		"RBF, C 0.05", RBFKernel(0.5), 0.05,
		[]float64{-9.19124443, -8.87464392, -9.95834032, -8.93662391, -9.06025863, -9.08344718}, 400,
		"3230011232230110122300101123300011223230011222200111122300101122300011223330011232200111122300111122" +
			"3000112233300112322001111223001011223000012232300112322001102223000111233000112232300112322001112223",
	},
}

func TestSVMAgainstLIBSVM(t *testing.T) {
	x, labels, test, _ := halves(600, 400, 5, 4, 0.3)
	for _, c := range libsvm {
		m, err := TrainSVM(x, labels, SVMOptions{C: c.c, Kernel: c.kernel})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for p, pair := range m.Pairs {
			if want := c.objectives[p]; math.Abs(pair.Objective-want) > 1e-4*math.Abs(want) {
				t.Errorf("%s: objective of the classes %d and %d: %.8f, want %.8f", c.name, pair.Positive, pair.Negative,
					pair.Objective, want)
			}
		}
		if got := digits(m.Predict(test)); got != c.predicted {
			t.Errorf("%s: predictions\n%s, want\n%s", c.name, got, c.predicted)
		}
	}
}

// RBFKernel is exp(−γ|x−p|²).
func RBFKernel(gamma float64) Kernel {
	return func(x []float64, points *mat.Dense, out []float64) {
		for i := range out {
			out[i] = math.Exp(-gamma * squaredDistance(x, points.RawRowView(i)))
		}
	}
}

// The kernels of the same machine: as a function, read from a matrix and from several, through
// a cache of two rows.
func TestSVMKernels(t *testing.T) {
	x, labels := formulaSamples(300, 5, 3, 0.3)
	train, test := mat.DenseCopyOf(x.Slice(0, 200, 0, 5)), mat.DenseCopyOf(x.Slice(200, 300, 0, 5))
	gram := mat.NewDense(300, 300, nil)
	for i := range 300 {
		RBFKernel(0.5)(x.RawRowView(i), x, gram.RawRowView(i))
	}
	var parts []*mat.Dense
	for _, rows := range [][2]int{{0, 200}, {200, 201}, {201, 300}} {
		parts = append(parts, gram.Slice(rows[0], rows[1], 0, 200).(*mat.Dense))
	}
	decisions := func(train, test *mat.Dense, opts SVMOptions) *mat.Dense {
		t.Helper()
		opts.C = 10
		m, err := TrainSVM(train, labels[:200], opts)
		if err != nil {
			t.Fatal(err)
		}
		return m.Decisions(test)
	}
	want := decisions(train, test, SVMOptions{Kernel: RBFKernel(0.5)})
	for name, got := range map[string]*mat.Dense{
		"again":         decisions(train, test, SVMOptions{Kernel: RBFKernel(0.5)}),
		"two rows kept": decisions(train, test, SVMOptions{Kernel: RBFKernel(0.5), CacheBytes: 1}),
		"matrix":        decisions(RowNumbers(0, 200), RowNumbers(200, 100), SVMOptions{Kernel: MatrixKernel(gram)}),
		"matrices":      decisions(RowNumbers(0, 200), RowNumbers(200, 100), SVMOptions{Kernel: MatrixKernel(parts...)}),
	} {
		t.Run(name, func(t *testing.T) {
			if !mat.Equal(got, want) {
				t.Error("other decisions")
			}
		})
	}
	linear, function := decisions(train, test, SVMOptions{}), decisions(train, test, SVMOptions{Kernel: LinearKernel})
	if !mat.EqualApprox(linear, function, 1e-9) {
		t.Error("the inner product by weights of the features and by support vectors differ")
	}
}

// Two points on a line: the margin is known. With labels −1 and 1 swapped in
// order, the smaller label is positive.
func TestSVMOfTwoPairs(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{-1, -3, 1, 5})
	m, err := TrainSVM(x, []int{7, 7, 2, 2}, SVMOptions{C: 100, Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	// f(x) = x: α = ½ at ±1, objective ½ − 1.
	if p := m.Pairs[0]; p.Positive != 2 || p.Negative != 7 || math.Abs(p.Objective+0.5) > 1e-9 ||
		math.Abs(p.Bias) > 1e-9 || p.Support != 2 {
		t.Errorf("%+v", p)
	}
	if got := m.Predict(mat.NewDense(3, 1, []float64{0.1, -0.1, -9})); !slices.Equal(got, []int{2, 7, 7}) {
		t.Errorf("predictions %v", got)
	}
}

// The decisions of a group are summed before it votes: a group of one sample has the sample's class,
// and one sample that is far off its class does not outvote many.
func TestPredictTogether(t *testing.T) {
	x, labels := formulaSamples(60, 4, 3, .15)
	m, err := TrainSVM(x, labels, SVMOptions{C: 1})
	if err != nil {
		t.Fatal(err)
	}
	single := make([][]int, len(labels))
	for i := range single {
		single[i] = []int{i}
	}
	if got, want := m.PredictTogether(x, single), m.Predict(x); !slices.Equal(got, want) {
		t.Errorf("alone: %v, not %v", got, want)
	}
	_, members := byClass(labels)
	wrong := 0
	for i, p := range m.Predict(x) {
		if p != labels[i] {
			wrong++
		}
	}
	if got := m.PredictTogether(x, members); !slices.Equal(got, m.Classes) || wrong == 0 {
		t.Errorf("whole classes are taken for %v; %d single samples are mistaken", got, wrong)
	}
	if got := m.PredictTogether(x, nil); len(got) != 0 {
		t.Errorf("no groups: %v", got)
	}
}

// Memory of rows holds those that are lent, without a rest, and chunks that are too short for a later search go.
func TestRowMemory(t *testing.T) {
	var m rowMemory
	for _, n := range []int{rowChunk/2 + 1, rowChunk + 1, rowChunk + 9, 10} {
		m.giveBack()
		for range 3 {
			if row := m.row(n); len(row) != n || cap(row) != n {
				t.Errorf("a row of %d elements, with room for %d, want %d", len(row), cap(row), n)
			}
		}
		size := 0
		for _, chunk := range m.chunks {
			size += len(chunk)
		}
		if most := 3 * max(n, rowChunk+9); size > most {
			t.Errorf("three rows of %d elements lie in %d, want at most %d", n, size, most)
		}
	}
}

// Variables that were put aside come back with F = y − Kβ, summed in the order of the variables, to the last bit:
// few of many rows, many of them, and one part of a row after another.
func TestRestore(t *testing.T) {
	const n = 2*restorePart + 77
	r := stream(3)
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	x.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, x)
	for i := range y {
		y[i] = float64(1 - 2*(i%2))
	}
	kernel := RBFKernel(.3)
	for _, every := range []int{2, 3, 50} { // of the variables one is put aside
		s := newSMO(newRowCache(n, 1<<30, func(i int, row []float64) { kernel(x.RawRowView(i), x, row) },
			func(int) float64 { return 1 }), y, 2, 1e-3, 1)
		want := slices.Clone(y)
		for u := range n {
			if u%10 == 0 {
				continue
			}
			s.beta[u] = y[u] * r.Float64()
			for i, k := range s.rows.get(u) {
				want[i] -= vector.Product(s.beta[u], k)
			}
		}
		w := &s.active
		w.of, w.f = w.of[:0], w.f[:0]
		for i, f := range want {
			if i%every != 0 {
				w.of, w.f = append(w.of, i), append(w.f, f)
			}
		}
		s.restore()
		if !slices.Equal(s.active.f, want) || len(s.active.of) != n {
			t.Errorf("one of %d variables comes back: other F than y − Kβ", every)
		}
	}
}

// Solutions of hard problems fulfil the conditions of optimality, with any shrinking: duplicates
// with both labels, a large C, a kernel that is not definite.
func TestSVMIsOptimal(t *testing.T) {
	x, labels := formulaSamples(400, 3, 2, 0.02)
	for i := range 40 {
		x.SetRow(i, x.RawRowView(i^1))
	}
	sigmoid := func(p []float64, points *mat.Dense, out []float64) {
		LinearKernel(p, points, out)
		for i, v := range out {
			out[i] = math.Tanh(0.1*v - 1)
		}
	}
	for _, c := range []struct {
		name   string
		kernel Kernel
		c      float64
	}{
		{"linear", nil, 1}, {"linear, large C", nil, 100}, {"RBF", RBFKernel(1), 10},
		{"RBF, large C", RBFKernel(1), 1e4}, {"sigmoid", sigmoid, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := TrainSVM(x, labels, SVMOptions{C: c.c, Kernel: c.kernel})
			if err != nil {
				t.Fatalf("%v", err)
			}
			// Without shrinking, the violation may be anything up to the tolerance.
			kernel := c.kernel
			if kernel == nil {
				kernel = LinearKernel
			}
			var y []float64
			for _, l := range labels {
				y = append(y, float64(1-2*l))
			}
			s := newSMO(newRowCache(400, 1<<20, func(i int, row []float64) { kernel(x.RawRowView(i), x, row) },
				func(i int) float64 {
					row := make([]float64, 400)
					kernel(x.RawRowView(i), x, row)
					return row[i]
				}), y, c.c, 1e-3, 1e7)
			s.solve()
			sum, row := 0.0, make([]float64, 400)
			f := slices.Clone(y)
			for i, b := range s.beta {
				sum += b
				if b < s.low[i] || b > s.high[i] {
					t.Errorf("β of row %d is %g", i, b)
				}
				if b != 0 {
					kernel(x.RawRowView(i), x, row)
					for j, k := range row {
						f[j] -= b * k
					}
				}
			}
			s.activate(f)
			if violation := s.active.most - s.active.least(); violation > 1.1e-3 || math.Abs(sum) > 1e-9*c.c {
				t.Errorf("a violation of %g, Σβ = %g", violation, sum)
			}
		})
	}
}

// Machines of a grid are those that are trained one by one, to the last bit, and so is the first error.
func TestGrid(t *testing.T) {
	r := stream(5)
	x, labels := mat.NewDense(120, 3, nil), make([]int, 120)
	for i := range labels {
		labels[i] = i % 3
		for j := range 3 {
			x.Set(i, j, r.NormFloat64()+float64(labels[i]*j))
		}
	}
	grid := []float64{.5, 30, 1}
	for _, o := range []SVMOptions{{}, {Kernel: RBFKernel(1), CacheBytes: 1 << 14}} {
		machines, _, err := trainGrid(x, labels, grid, o)
		if err != nil {
			t.Fatal(err)
		}
		for g, c := range grid {
			o.C = c
			want, err := TrainSVM(x, labels, o)
			if err != nil || !reflect.DeepEqual(machines[g].Pairs, want.Pairs) {
				t.Errorf("C = %g: %+v, want %+v, %v", c, machines[g].Pairs, want.Pairs, err)
			}
		}
		o.Iterations = 0
		for _, pair := range machines[0].Pairs { // enough for the first C alone
			o.Iterations = max(o.Iterations, pair.Iterations+1)
		}
		if _, failed, err := trainGrid(x, labels, grid, o); failed != 1 || !errors.Is(err, ErrIterations) {
			t.Errorf("the error of C number %d, want 1: %v", failed, err)
		}
	}
}

func TestSVMIterationLimit(t *testing.T) {
	x, labels := formulaSamples(100, 3, 2, 0.02)
	full, err := TrainSVM(x, labels, SVMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	needed := full.Pairs[0].Iterations
	for _, c := range []struct {
		name string
		cap  int
		want string // of the error; "" for none
	}{
		{"three steps", 3,
			"classes 0 and 1: the search stopped after 3 iterations, the most that are allowed, with the conditions of"},
		{"one step short", needed - 1, fmt.Sprintf("stopped after %d iterations", needed-1)},
		{"as many as it takes", needed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := TrainSVM(x, labels, SVMOptions{Iterations: c.cap})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if c.want == "" {
				return
			}
			var violation float64
			_, after, _ := strings.Cut(err.Error(), "violated by ")
			if _, err := fmt.Sscanf(after, "%g, and less than 0.001 is wanted", &violation); err != nil || violation < 1e-3 {
				t.Errorf("%q: a violation of %g, %v", after, violation, err)
			}
		})
	}
	_, err = CrossValidateC(x, labels, []float64{1}, 2, stream(1), SVMOptions{Iterations: 3})
	if err == nil || !strings.Contains(err.Error(), "cross-validation, C = 1: support vector machine") {
		t.Errorf("cross-validation: %v", err)
	}
}

func TestSVMRefusals(t *testing.T) {
	good, labels := formulaSamples(6, 2, 2, 1)
	bad := mat.DenseCopyOf(good)
	bad.Set(3, 1, math.NaN())
	nan := func(_ []float64, _ *mat.Dense, out []float64) { out[0] = math.NaN() }
	for _, c := range []struct {
		x      *mat.Dense
		labels []int
		opts   SVMOptions
		want   string
	}{
		{good, labels[:5], SVMOptions{}, "6 samples, but 5 labels"},
		{new(mat.Dense), nil, SVMOptions{}, "there are no samples"},
		{good, []int{4, 4, 4, 4, 4, 4}, SVMOptions{}, "all 6 samples have the label 4"},
		{good, []int{1, 1, 1, 2, 1, 1}, SVMOptions{}, "the class 2 has a single sample (row 3)"},
		{bad, labels, SVMOptions{}, "row 3, column 1 of the samples is NaN"},
		{good, labels, SVMOptions{Kernel: nan}, "classes 0 and 1: the kernel has values that are not finite"},
		{good, labels, SVMOptions{C: -1}, "C is -1"},
		{good, labels, SVMOptions{C: math.Inf(1)}, "C is +Inf"},
		{good, labels, SVMOptions{Tolerance: math.NaN()}, "the tolerance is NaN"},
		{good, labels, SVMOptions{Iterations: -1}, "-1 iterations"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := TrainSVM(c.x, c.labels, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestStratifiedFolds(t *testing.T) {
	labels := slices.Concat(slices.Repeat([]int{5}, 23), slices.Repeat([]int{2}, 7), []int{9, 9, 9})
	folds, err := StratifiedFolds(labels, 3, stream(1))
	if err != nil || len(folds) != 3 {
		t.Fatal(folds, err)
	}
	for _, f := range folds {
		count := map[int]int{}
		for _, row := range f.Test {
			count[labels[row]]++
		}
		if len(f.Test) != 11 || len(f.Train) != 22 || count[5] < 7 || count[2] < 2 || count[9] != 1 {
			t.Errorf("a fold of %d and %d rows, classes %v", len(f.Train), len(f.Test), count)
		}
	}
	again, _ := StratifiedFolds(labels, 3, stream(1))
	other, _ := StratifiedFolds(labels, 3, stream(2))
	if fmt.Sprint(folds) != fmt.Sprint(again) || fmt.Sprint(folds) == fmt.Sprint(other) {
		t.Error("folds are not those of the stream")
	}
	if _, err := StratifiedFolds(labels, 1, stream(1)); err == nil {
		t.Error("one fold is accepted")
	}
}

func TestCrossValidateC(t *testing.T) {
	x, labels := formulaSamples(400, 5, 4, 0.3)
	opts := SVMOptions{Kernel: RBFKernel(0.5)}
	grid := []float64{0.01, 100, 1000, 10}
	choice, err := CrossValidateC(x, labels, grid, 4, stream(1), opts)
	if err != nil {
		t.Fatal(choice, err)
	}
	// Far below the others at 0.01, where all samples are on the bound.
	if choice.C < 10 || choice.Accuracy[0] > 0.6 || slices.Max(choice.Accuracy) < 0.8 {
		t.Errorf("%+v", choice)
	}
	again, _ := CrossValidateC(x, labels, grid, 4, stream(1), opts)
	if fmt.Sprint(again) != fmt.Sprint(choice) {
		t.Errorf("%+v, then %+v", choice, again)
	}
	// Classes that any C separates: the smallest.
	apart, classes := formulaSamples(60, 2, 2, 50)
	if choice, err = CrossValidateC(apart, classes, []float64{10, 1, 100}, 3, stream(1), SVMOptions{}); err != nil ||
		choice.C != 1 {
		t.Errorf("%+v, %v", choice, err)
	}
	for _, c := range []struct {
		grid   []float64
		labels []int
		folds  int
		want   string
	}{
		{nil, classes, 3, "no C to choose from"},
		{[]float64{0}, classes, 3, "C is 0"},
		{[]float64{1}, classes[1:], 3, "60 samples, but 59 labels"},
		{[]float64{1}, classes, 61, "more folds than rows"},
		{[]float64{1}, append(slices.Repeat([]int{1}, 59), 2), 3, "the class 2 has a single sample"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := CrossValidateC(apart, c.labels, c.grid, c.folds, stream(1), SVMOptions{}); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// The size of the problems of the compressive multi-kernel paper: 5451 samples
// of 6 classes in 5 features, here of a formula.
func BenchmarkSVM(b *testing.B) {
	x, labels := formulaSamples(5451, 5, 6, 0.8)
	for _, c := range []struct {
		name   string
		kernel Kernel
		c      float64
	}{{"linear,C=1", nil, 1}, {"linear,C=100", nil, 100}, {"RBF,C=1", RBFKernel(0.5), 1},
		{"RBF,C=100", RBFKernel(0.5), 100}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := TrainSVM(x, labels, SVMOptions{C: c.c, Kernel: c.kernel}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Of a few samples all may be put aside at once; then all are taken back.
func TestSVMOfFewSamples(t *testing.T) {
	for seed := range 400 {
		x, labels := formulaSamples(4+seed%5, 2, 2, 0.1*float64(seed%7))
		x.Apply(func(i, j int, v float64) float64 { return v * math.Cos(float64(seed*(i+2*j))) }, x)
		for _, c := range []float64{1e-3, 1, 100} {
			if _, err := TrainSVM(x, labels, SVMOptions{C: c}); err != nil {
				t.Fatalf("seed %d, C = %g: %v", seed, c, err)
			}
		}
	}
}

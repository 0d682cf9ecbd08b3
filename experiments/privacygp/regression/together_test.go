package regression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// exporter exports data with a register, and returns the file and the sentence for the operator.
func exporter(t *testing.T, r *trialtest.Exports, path string,
) func(changes ...func(*Settings)) (*modelfile.Model, string, error) {
	var seed uint64
	return func(changes ...func(*Settings)) (*modelfile.Model, string, error) {
		t.Helper()
		seed++ // of the streams, which have no part in the noise
		base := func(s *Settings) {
			s.Mean, s.Resolution, s.Xi = number(20), experiment.NumberOr[automatic](0.1), xi(0.4)
		}
		s := Experiment().With(own(path, append([]func(*Settings){known("0.4+5", 6, 0.05), base}, changes...)...))
		out, err := export(t.Context(), trialtest.New(t, trialtest.Options{Seed: seed, Exports: r}), s)
		if err != nil {
			return nil, "", err
		}
		return out.Model.(*modelfile.Model), out.Told, nil
	}
}

func of(n int) func(*Settings)             { return func(s *Settings) { s.Exports = n } }
func noised(m noiseMethod) func(*Settings) { return func(s *Settings) { s.Noise = m } }
func tolerance(v float64) func(*Settings)  { return func(s *Settings) { s.Xi = xi(v) } }
func text(t *testing.T, v any) []byte      { t.Helper(); return must(t)(json.Marshal(v)) }
func must(t *testing.T) func([]byte, error) []byte {
	return func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// corrected is the file with another last digit of the last output.
func corrected(t *testing.T, path string) string {
	t.Helper()
	raw := must(t)(os.ReadFile(path))
	raw[len(raw)-2] ^= 1
	return csv(t, string(raw))
}

// Five exports of the same data are one, byte for byte, with every noise. Those of another register,
// of one corrected cell or of other noise have other noise.
func TestRepeatedExportsAreTheSame(t *testing.T) {
	path := wave(t, 30)
	changed := corrected(t, path)
	for _, m := range []noiseMethod{weak, strong, diagonal, equal, uniform} {
		t.Run(m.String(), func(t *testing.T) {
			register := &trialtest.Exports{Key: "one"}
			run := exporter(t, register, path)
			first, _, err := run(noised(m), of(8))
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				// The mean, the folds and the name of the file have no part in the noise.
				again, told, err := run(noised(m), of(8), func(s *Settings) { s.Folds = 3 })
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(text(t, again), text(t, first)) ||
					!strings.HasPrefix(told, "these are the data and the noise of export 1") {
					t.Errorf("another file, or %q", told)
				}
			}
			if len(register.List) != 1 {
				t.Errorf("%d exports are registered", len(register.List))
			}
			others := map[string]*modelfile.Model{}
			if others["another key"], _, err = exporter(t, &trialtest.Exports{Key: "two"}, path)(noised(m), of(8)); err != nil {
				t.Fatal(err)
			}
			if others["a corrected cell"], _, err = exporter(t, register, changed)(noised(m), of(8)); err != nil {
				t.Fatal(err)
			}
			if others["another resolution"], _, err = run(noised(m), of(8), func(s *Settings) {
				s.Resolution = experiment.NumberOr[automatic](0.11)
			}); err != nil {
				t.Fatal(err)
			}
			for name, other := range others {
				for i, w := range other.Obfuscated {
					if w == first.Obfuscated[i] {
						t.Errorf("%s: output %d is the same", name, i)
					}
				}
			}
		})
	}
}

// The variance that five exports with different noise keep is that of the sum of their precisions,
// computed by inverses, and that of the errors of whoever predicts from all of them.
func TestSeveralExportsTogether(t *testing.T) {
	register := &trialtest.Exports{Key: "one"}
	run := exporter(t, register, wave(t, 16))
	var files []*modelfile.Model
	for i, change := range []func(*Settings){noised(strong), tolerance(0.5), noised(weak), noised(diagonal),
		noised(equal)} {
		m, told, err := run(of(400), change)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("registered as export %d of these data", i+1); !strings.HasPrefix(told, want) {
			t.Errorf("%q", told)
		}
		files = append(files, m)
	}
	if s := register.Last; s.Rows != 16 || !slices.Equal(s.Publishes, []string{experiment.UnitInputs}) {
		t.Errorf("registered as %+v", s)
	}
	all := make([]*registered, len(register.List))
	for i, raw := range register.List {
		var err error
		if all[i], err = readRegistered(raw); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := keptBy(t.Context(), engineOf(t), all)
	if err != nil {
		t.Fatal(err)
	}
	m := files[0]
	n, places := len(m.X), m.Condition.Places
	k := func(a, b [][]float64) *mat.Dense {
		out := mat.NewDense(len(a), len(b), nil)
		out.Apply(func(i, j int, _ float64) float64 {
			r := 0.0
			for l, scale := range m.Kernel.Lengthscales {
				d := (a[i][l] - b[j][l]) / scale
				r += d * d
			}
			return m.Kernel.Variance * math.Exp(-r/2)
		}, out)
		return out
	}
	precision := mat.NewDense(n, n, nil)
	for _, f := range files {
		var inverse mat.Dense
		if err := inverse.Inverse(modelDense(f.Covariance)); err != nil {
			t.Fatal(err)
		}
		precision.Add(precision, &inverse)
	}
	var noise, c, inverse, weights, explained mat.Dense
	if err := noise.Inverse(precision); err != nil {
		t.Fatal(err)
	}
	c.Add(k(m.X, m.X), &noise)
	for i := range n {
		c.Set(i, i, c.At(i, i)+m.Noise)
	}
	if err := inverse.Inverse(&c); err != nil {
		t.Fatal(err)
	}
	cross := k(m.X, places)
	weights.Mul(&inverse, cross)
	explained.Mul(cross.T(), &weights)
	least, at := math.Inf(1), 0
	for i := range places {
		if v := m.Kernel.Variance - explained.At(i, i); v < least {
			least, at = v, i
		}
	}
	if got := kept[0].least; !(got <= least*(1+1e-9) && got >= least*(1-1e-4)) {
		t.Errorf("%.9g is kept, by precisions %.9g", got, least)
	}
	if least < 0.4*6 || least > 0.99*6 {
		t.Errorf("%g is kept of 6", least)
	}
	// The attack: f, Y and the noises are drawn, and f(s) is predicted from the outputs weighted by
	// their precisions.
	const draws = 4000
	points := append(slices.Clone(m.X), places[at])
	process := root(t, k(points, points))
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) *mat.VecDense {
		v := mat.NewVecDense(n, nil)
		for i := range n {
			v.SetVec(i, rng.NormFloat64())
		}
		return v
	}
	roots, precisions := make([]*mat.Dense, len(files)), make([]*mat.Dense, len(files))
	for i, f := range files {
		roots[i], precisions[i] = root(t, modelDense(f.Covariance)), new(mat.Dense)
		if err := precisions[i].Inverse(modelDense(f.Covariance)); err != nil {
			t.Fatal(err)
		}
	}
	sum := 0.0
	for range draws {
		var f, mean mat.VecDense
		f.MulVec(process, normal(n+1))
		y := mat.VecDenseCopyOf(f.SliceVec(0, n))
		y.AddScaledVec(y, math.Sqrt(m.Noise), normal(n))
		weighted := mat.NewVecDense(n, nil)
		for i := range files {
			var z, w mat.VecDense
			z.MulVec(roots[i], normal(n))
			z.AddVec(&z, y)
			w.MulVec(precisions[i], &z)
			weighted.AddVec(weighted, &w)
		}
		mean.MulVec(&noise, weighted)
		sum += math.Pow(f.AtVec(n)-mat.Dot(weights.ColView(at), &mean), 2)
	}
	if got := sum / draws; math.Abs(got/least-1) > 5*math.Sqrt(2.0/draws) {
		t.Errorf("the errors of the attack have the variance %g, computed %g", got, least)
	}
}

// root returns a square root of a covariance (n×n).
func root(t *testing.T, a *mat.Dense) *mat.Dense {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(process.Symmetric(a), true) {
		t.Fatal("no eigenvalues")
	}
	var u mat.Dense
	e.VectorsTo(&u)
	u.Apply(func(_, j int, v float64) float64 { return v * math.Sqrt(max(0, e.Values(nil)[j])) }, &u)
	return &u
}

func modelDense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

func engineOf(t *testing.T) *engine.Engine {
	return engine.Of(trialtest.New(t, trialtest.Options{}).Engine)
}

// An export after which a tolerance would hold no longer is refused and not registered, and the
// message names the ways that are left.
func TestExportBelowTheTolerance(t *testing.T) {
	path := wave(t, 30)
	changed := corrected(t, path)
	for _, c := range []struct {
		name          string
		first, second []func(*Settings)
		path          string
		want          []string
	}{
		{"another tolerance", nil, []func(*Settings){tolerance(0.5)}, path, []string{
			"by export 1, which is registered already", "instead of 2.4 at its sensitive place",
			"repeat a registered export", "leave too little for any other"}},
		{"a corrected cell", nil, nil, changed, []string{"instead of 2.4 at its sensitive place"}},
		{"planned for too few", []func(*Settings){of(4)}, []func(*Settings){tolerance(0.1)}, path, []string{
			"by export 1, which is registered already", "exports="}},
		{"above what is left", []func(*Settings){of(4)}, []func(*Settings){tolerance(0.9), of(900)}, path,
			[]string{"by this export itself", "it needs a lower tolerance"}},
		{"uniform", []func(*Settings){noised(uniform)}, []func(*Settings){func(s *Settings) {
			s.Sensitive = "a:0.7+b:1"
		}}, path, []string{"by export 1"}},
		{"other inputs", []func(*Settings){of(4)}, []func(*Settings){func(s *Settings) {
			s.Inputs, s.Lengthscales, s.Sensitive = "a", "0.4", "a:0.3..0.6"
		}}, path, []string{"an export of the output c by the inputs a, b and one by a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			register := &trialtest.Exports{Key: "one"}
			if _, _, err := exporter(t, register, path)(c.first...); err != nil {
				t.Fatal(err)
			}
			_, _, err := exporter(t, register, c.path)(c.second...)
			for _, want := range c.want {
				trialtest.Refuses(t, err, want)
			}
			if len(register.List) != 1 {
				t.Error("it is registered")
			}
			if err == nil {
				return
			}
			var enough int
			if _, after, found := strings.Cut(err.Error(), "exports="); found {
				if _, err := fmt.Sscanf(after, "%d", &enough); err == nil && enough > 0 {
					_, told, err := exporter(t, register, c.path)(append(c.second, of(enough))...)
					if err != nil || len(register.List) != 2 {
						t.Errorf("exports=%d: %q, %v", enough, told, err)
					}
				}
			}
		})
	}
}

// Exports of other rows are stacked; unknown facts count in the way that keeps less.
func TestWhatIsPutTogether(t *testing.T) {
	line := func(n int, from float64) *registered { // rows at from, from + 1 and so on, with the noise 2
		r := &registered{Format: registeredFormat, Output: "y", Inputs: []string{"x"},
			Kernel: modelfile.Kernel{Name: "eq", Lengthscales: []float64{1}, Variance: 4}, Noise: 0.5, Tau2: 2,
			Condition: &modelfile.Condition{Places: [][]float64{{0}}, Variance: []float64{0}}}
		for i := range n {
			r.X = append(r.X, from+float64(i))
			r.Rows = append(r.Rows, fmt.Sprintf("%8g", from+float64(i))...)
		}
		return r
	}
	one := func(change func(*registered)) *registered {
		r := line(1, 0)
		change(r)
		return r
	}
	// For one row at the place: K = 4, V = 0.5 and the noise s.
	single := func(s float64) float64 { return 4 - 16/(4+0.5+s) }
	same := single(1)                    // two exports of one observation: the noise is 1
	apart := 4 - 16/(4+1/(1/2.5+1/2.5))  // two observations, 0.5 + 2 each
	beside := 4 - 16/(4+1/(1/2.5+1/3.5)) // of noise 2 and 3
	for _, c := range []struct {
		name   string
		others []*registered
		want   float64
	}{
		{"alone", nil, single(2)},
		{"the same row", []*registered{one(func(*registered) {})}, same},
		{"the same row five times", slices.Repeat([]*registered{one(func(*registered) {})}, 4), single(0.4)},
		{"a corrected output", []*registered{one(func(r *registered) { r.Rows = []byte("corrects") })}, min(same, apart)},
		{"rows far away", []*registered{line(3, 50)}, single(2)},
		{"another output", []*registered{one(func(r *registered) { r.Output, r.Rows = "z", []byte("others's") })}, single(2)},
		{"an output with another name", []*registered{one(func(r *registered) { r.Output = "z" })}, same},
		{"another prior of the same rows", []*registered{one(func(r *registered) { r.Kernel.Variance = 400 })}, same},
		// In its own units, a hundredth of the variance, the noise 200 is 2; else it tells next to nothing.
		{"other units", []*registered{one(func(r *registered) {
			r.Rows, r.Kernel.Variance, r.Tau2 = []byte("in cm   "), 400, 200
		})}, min(same, apart)},
		{"as they stand", []*registered{one(func(r *registered) {
			r.Rows, r.Kernel.Variance, r.Tau2 = []byte("not cm  "), 400, 3
		})}, 4 - 16/(4+1/(1/2.5+1/(0.5+0.03)))},
		{"other units of the inputs", []*registered{one(func(r *registered) {
			r.X, r.Rows, r.Kernel.Lengthscales, r.Tau2 = numbers{0}, []byte("in miles"), []float64{7}, 3
		})}, min(beside, single(1/(1/2.+1/3.)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, err := keptBy(t.Context(), engineOf(t), append([]*registered{line(1, 0)}, c.others...))
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "the variance", kept[0].least, c.want, 1e-9)
		})
	}
	// Equal rows of one export are two observations: 16 (1, 1) M⁻¹ (1, 1)' = 32/(4 + 6.5).
	twice := line(1, 0)
	twice.X, twice.Rows = numbers{0, 0}, slices.Repeat(twice.Rows, 2)
	kept, err := keptBy(t.Context(), engineOf(t), []*registered{twice})
	if err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "the variance", kept[0].least, 4-32/10.5, 1e-9)
	if kept, err = keptBy(t.Context(), engineOf(t), []*registered{twice, twice}); err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "the variance", kept[0].least, 4-32/9.5, 1e-9)
	// Noise that both places have in common hides each of them, but not their difference.
	common := line(2, 0)
	common.X, common.Factor, common.Tau2, common.Noise = numbers{0, 0.5}, numbers{10, 10}, 0.01, 0.01
	common.Condition = &modelfile.Condition{Places: [][]float64{{0}, {0.5}}, Variance: []float64{1, 1}}
	if _, err := keptBy(t.Context(), engineOf(t), []*registered{common}); err != nil {
		t.Error(err)
	}
	common.Together = true
	_, err = keptBy(t.Context(), engineOf(t), []*registered{common})
	trialtest.Refuses(t, err, "a linear combination of the outputs at the 2 places has")
	_, err = keptBy(t.Context(), engineOf(t), slices.Repeat([]*registered{line(700, 0)}, 3))
	trialtest.Refuses(t, err, "have 2100 rows together, and a bound is computed for at most 2000")
	same64 := one(func(r *registered) { r.Tau2 = 1e-30; r.Noise = 0 })
	_, err = keptBy(t.Context(), engineOf(t), []*registered{same64, same64})
	trialtest.Refuses(t, err, "singular in floating point")
}

// The same noise for another condition discloses nothing more, and the condition is registered.
func TestSameNoiseForAnotherCondition(t *testing.T) {
	register := &trialtest.Exports{Key: "one"}
	run := exporter(t, register, wave(t, 16))
	first, _, err := run(tolerance(0.001), of(3)) // no place is in need
	if err != nil {
		t.Fatal(err)
	}
	second, told, err := run(tolerance(0.002), of(3))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.Obfuscated, second.Obfuscated) || !strings.HasPrefix(told, "registered as export 2 of") {
		t.Errorf("other outputs, or %q", told)
	}
	var all []*registered
	for _, raw := range register.List {
		r, err := readRegistered(raw)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	alone, err := keptBy(t.Context(), engineOf(t), all[:1])
	if err != nil {
		t.Fatal(err)
	}
	both, err := keptBy(t.Context(), engineOf(t), all)
	if err != nil || len(both) != 2 || both[0].least != alone[0].least {
		t.Errorf("both keep %v, one %v, %v", both, alone, err)
	}
}

// Uniform noise keeps its tolerance everywhere, and several exports are accepted only where all of them do,
// at places far from the named ones, too.
func TestUniformNoiseTogether(t *testing.T) {
	for n, accepted := range map[int]bool{1: false, 2: true} {
		register := &trialtest.Exports{Key: "one"}
		run := exporter(t, register, wave(t, 16))
		uniformly := func(s *Settings) {
			s.Noise, s.Sensitive, s.Exports, s.Xi, s.Resolution = uniform, "a:0.7+b:1", n, xi(0.4),
				experiment.NumberOr[automatic](0.001)
		}
		if _, _, err := run(uniformly); err != nil {
			t.Fatal(err)
		}
		first, err := readRegistered(register.List[0])
		if err != nil {
			t.Fatal(err)
		}
		second := *first
		second.Digest = []byte("of other noise")
		second.Condition = &modelfile.Condition{Places: [][]float64{{90, 90}}, Variance: []float64{0}}
		first.Condition.Places = [][]float64{{100, 100}} // where nothing is known
		all := []*registered{first, &second}
		_, err = keptBy(t.Context(), engineOf(t), all)
		if (err == nil) != accepted {
			t.Errorf("exports=%d: %v", n, err)
		}
		// The least variance over a grid of places agrees.
		first.Condition = &modelfile.Condition{}
		for i := range 400 {
			first.Condition.Places = append(first.Condition.Places, []float64{float64(i%20) / 19, float64(i/20) / 2})
			first.Condition.Variance = append(first.Condition.Variance, 0)
		}
		kept, err := keptBy(t.Context(), engineOf(t), all)
		if err != nil {
			t.Fatal(err)
		}
		if (kept[0].least >= 0.4*6*(1-1e-6)) != accepted {
			t.Errorf("exports=%d: %g is kept on a grid", n, kept[0].least)
		}
	}
}

// Entries of the register are read as they were written, and refused where they are not whole.
func TestDamagedRegister(t *testing.T) {
	register := &trialtest.Exports{Key: "one"}
	path := wave(t, 16)
	if _, _, err := exporter(t, register, path)(); err != nil {
		t.Fatal(err)
	}
	whole := string(register.List[0])
	for _, change := range [][2]string{{`"x":"`, `"x":"AAAA`}, {`"places":[[`, `"places":[],"xs":[[`},
		{"export/1", "export/2"}, {`"inputs":["a",`, `"inputs":["a","q",`}, {whole, "null"}, {whole, "7"}} {
		register.List[0] = json.RawMessage(strings.Replace(whole, change[0], change[1], 1))
		if string(register.List[0]) == whole {
			t.Fatalf("%q is not there", change[0])
		}
		_, _, err := exporter(t, register, path)(of(2))
		trialtest.Refuses(t, err, "export 1 of these data cannot be read in the ledger")
	}
	if len(register.List) != 1 {
		t.Error("an export is registered beside one that cannot be read")
	}
}

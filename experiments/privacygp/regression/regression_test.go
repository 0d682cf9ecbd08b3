package regression

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/model"
	"privkern/experiments/privacygp/modelfile"
	"privkern/experiments/privacygp/process"
	"privkern/experiments/privacygp/sdp"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// csv writes a file of the test.
func csv(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wave is a file of n rows with the inputs a and b and an output c of both.
func wave(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("a,b,c\n")
	for i := range n {
		u, v := math.Mod(float64(i+1)*0.6180339887, 1), 10*math.Mod(float64(i+1)*0.4142135624, 1)
		noise := 0.1 * (math.Mod(float64(i+1)*0.2360679775*7, 1) - 0.5)
		fmt.Fprintf(&b, "%.4f,%.3f,%.3f\n", u, v, 20+3*math.Sin(6*u)+2*math.Cos(v/2)+noise)
	}
	return csv(t, b.String())
}

// own are settings of such a file.
func own(path string, changes ...func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Sensitive = "csv:"+path, "a+b", "c", "a:0.3..0.6+b:2..7"
		for _, change := range changes {
			change(s)
		}
	}
}

func xi(tolerances ...float64) experiment.Several { return tolerances }

func known(lengths string, variance, noise float64) func(*Settings) {
	return func(s *Settings) {
		s.Hyperparameters, s.Lengthscales, s.ProcessVariance, s.NoiseVariance = given, lengths, variance, noise
	}
}

// The traces of the paper's Examples 1 and 2, whose kernel exp(-10 d^2) has the lengthscale
// 1/sqrt(20), times a prior variance of 4: those of the packages that reproduce the paper.
func TestTracesOfThePaper(t *testing.T) {
	const n, theta, v = 9, 10, 0.01
	text := "x,y\n"
	var x []float64
	for i := range n {
		x = append(x, float64(i+1)/(n+1))
		text += fmt.Sprintf("%.1f,0.%03d\n", x[i], i*i)
	}
	path := csv(t, text)
	p, err := process.New(engine.Of(trialtest.New(t, trialtest.Options{}).Engine), theta, v, x)
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(xs, ys []float64) *mat.Dense {
		k, err := p.Between(xs, ys)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one, two := []float64{0.5}, []float64{0.4, 0.6}
	strongTrace := func(s []float64) float64 {
		q := kernel(s, s)
		q.Scale(0.5, q)
		noise, err := p.StrongNoise(kernel(x, s), q)
		if err != nil {
			t.Fatal(err)
		}
		return noise.Trace
	}
	weakly, err := sdp.SolveWeak(t.Context(), p.Covariance(), kernel(x, two), []float64{0.5, 0.5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := sdp.SolveDiagonal(t.Context(), p.Covariance(), mat.Col(nil, 0, kernel(x, one)), 0.5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method    noiseMethod
		sensitive string
		want      float64
	}{
		{optimal, "x:0.5", strongTrace(one)}, {strong, "x:0.5", strongTrace(one)}, {weak, "x:0.5", strongTrace(one)},
		{strong, "x:0.4,x:0.6", strongTrace(two)}, {weak, "x:0.4,x:0.6", weakly.Trace}, {diagonal, "x:0.5", alone.Trace},
	} {
		t.Run(c.method.String()+" "+c.sensitive, func(t *testing.T) {
			out := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(path, known(
				fmt.Sprint(1/math.Sqrt(2*theta)), 4, 4*v), func(s *Settings) {
				s.Inputs, s.Output, s.Sensitive, s.Noise, s.Folds = "x", "y", c.sensitive, c.method, 2
			}))
			if got := out.Metrics.Trace; c.want < 0.1 || math.Abs(got-4*c.want) > 1e-5*got {
				t.Errorf("trace %.9g, want %.9g", got, 4*c.want)
			}
			if v := out.Metrics.VarianceMin; c.method != diagonal && math.Abs(v-2) > 2e-5*2 && c.sensitive == "x:0.5" {
				t.Errorf("variance %.9g at the place, want the tolerance 2", v) // tau adds a little
			}
		})
	}
}

// Uniform noise protects every place: no note restricts it, or counts places.
func TestUniformNoiseIsStated(t *testing.T) {
	out := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(wave(t, 30), known("0.4+5", 6, 0.05),
		func(s *Settings) { s.Noise, s.Xi, s.Folds = uniform, xi(0.3), 2 }))
	notes := strings.Join(out.Privacy.Notes, "\n")
	if !strings.Contains(notes, "its parameters: Var[f(s)|W] >= 1.8 (0.3 of the prior variance) at any place\n") ||
		!strings.Contains(out.Privacy.Unit, "at every place") {
		t.Errorf("%s\n%s", out.Privacy.Unit, notes)
	}
	for _, not := range []string{"may be less", "not protected", "shows where"} {
		if strings.Contains(notes, not) {
			t.Errorf("%q in %s", not, notes)
		}
	}
}

// Every noise holds every tolerance with every kernel, in two inputs; independent noise of
// one variance is the least that does, and no program needs more than the closed form.
func TestTolerancesHold(t *testing.T) {
	path := wave(t, 40)
	for _, k := range (kernelName(0)).Choices() {
		traces := map[noiseMethod]float64{}
		for _, m := range []noiseMethod{weak, strong, diagonal, equal, uniform, none} {
			t.Run(k+" "+m.String(), func(t *testing.T) {
				out := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(path, known("0.4+5", 6, 0.05),
					func(s *Settings) { s.Noise, s.Xi, s.Folds = m, xi(0.3), 2; setKernel(s, k) }))
				got := out.Metrics
				traces[m] = got.Trace
				if held := got.VarianceMin >= got.Tolerance*(1-1e-5); held != (m != none) {
					t.Errorf("variance %g, tolerance %g", got.VarianceMin, got.Tolerance)
				}
				if math.Abs(got.Tolerance-1.8) > 1e-12 || got.Places != got.SensitiveRows || got.Places < 2 {
					t.Errorf("tolerance %g, %g places, %g rows", got.Tolerance, got.Places, got.SensitiveRows)
				}
				if m == equal && math.Abs(got.VarianceMin-got.Tolerance) > 1e-4*got.Tolerance {
					t.Errorf("variance %g with the least noise of one variance, tolerance %g", got.VarianceMin, got.Tolerance)
				}
				if m != none && got.Trace > got.TraceIndependent*(1+1e-6) && m != diagonal && m != uniform {
					t.Errorf("trace %g, and of independent noise %g", got.Trace, got.TraceIndependent)
				}
			})
		}
		if !(traces[weak] <= traces[strong]*(1+1e-6)) || !(traces[strong] <= traces[uniform]*(1+1e-6)) {
			t.Errorf("%s: traces %v: weak noise is the least, uniform the most", k, traces)
		}
	}
}

func setKernel(s *Settings, name string) {
	for i, other := range s.Kernel.Choices() {
		if other == name {
			s.Kernel = kernelName(i)
		}
	}
}

// The error over the law of the noise is that of many draws.
func TestErrorsAreThoseOfDraws(t *testing.T) {
	s := Experiment().With(own(wave(t, 30), known("0.4+5", 6, 0.05)))
	p, err := prepare(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	if err != nil {
		t.Fatal(err)
	}
	at := p.scaled(mat.NewDense(2, 2, []float64{0.45, 4, 0.9, 9}))
	want, err := p.predict(p.all, p.noise.sigma, p.rows.y, at)
	if err != nil {
		t.Fatal(err)
	}
	const draws, truth = 2000, 19
	rng := rand.New(rand.NewPCG(1, 2))
	squares, inside := make([]float64, 2), make([]float64, 2)
	for range draws {
		omega := make([]float64, len(p.rows.y))
		for i := range omega {
			omega[i] = rng.NormFloat64()
		}
		w, err := p.draw(omega)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.predict(p.all, p.noise.sigma, w, at)
		if err != nil {
			t.Fatal(err)
		}
		for j, mean := range got.mean {
			squares[j] += (mean - truth) * (mean - truth) / draws
			if math.Abs(mean-truth) <= 1.959964*math.Sqrt(got.variance[j]+p.Noise) {
				inside[j] += 1.0 / draws
			}
		}
	}
	for j := range squares {
		miss := want.mean[j] - truth
		if exact := miss*miss + want.wander[j]; math.Abs(squares[j]-exact) > 0.1*exact || want.wander[j] < 1e-6 {
			t.Errorf("place %d: squared error %g in draws, %g by formula", j, squares[j], exact)
		}
		if exact := want.covers(j, truth, p.Noise); math.Abs(inside[j]-exact) > 0.05 {
			t.Errorf("place %d: coverage %g in draws, %g by formula", j, inside[j], exact)
		}
	}
}

// An export holds exactly the numbers of its own Gaussian process: the tolerance holds in
// predictions from the file alone.
func TestExport(t *testing.T) {
	path := wave(t, 40)
	s := Experiment().With(own(path, known("0.4+5", 6, 0.05), func(s *Settings) { s.Xi, s.Mean = xi(0.4), number(20) }))
	tr := trialtest.New(t, trialtest.Options{})
	r, err := export(t.Context(), tr, s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Privacy.Guarantee != "" || !strings.HasPrefix(r.Privacy.Notes[0], "no guarantee: a bound on") ||
		len(r.Metrics) > 0 {
		t.Errorf("%+v", r.Privacy)
	}
	text, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode("o.json", text, []model.Format{modelfile.PredictFormat})
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(t.Context(), tr, s)
	if err != nil {
		t.Fatal(err)
	}
	file := r.Model.(*modelfile.Model)
	var moved float64
	for i, w := range file.Obfuscated {
		moved = math.Max(moved, math.Abs(w-p.rows.y[i]))
		if w != file.Grid*math.Round(w/file.Grid) {
			t.Errorf("%v is no multiple of %v", w, file.Grid)
		}
	}
	if moved < 0.1 || file.Tau < 0.001 || file.Covariance[0][0] < file.Tau*file.Tau {
		t.Errorf("outputs moved by %g, tau %g, variance %g", moved, file.Tau, file.Covariance[0][0])
	}
	// Without tau, directions beyond the rank of the noise would be bare.
	n := len(file.Covariance)
	covariance := mat.NewSymDense(n, nil)
	for i, row := range file.Covariance {
		for j := range i + 1 {
			covariance.SetSym(i, j, row[j])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(covariance, false) {
		t.Fatal("no eigenvalues")
	}
	if least := e.Values(nil)[0]; math.Abs(least/(file.Tau*file.Tau)-1) > 1e-6 {
		t.Errorf("the least variance of a combination is %g, tau^2 is %g", least, file.Tau*file.Tau)
	}
	at := mat.DenseCopyOf(p.rows.places)
	got, err := m.Predict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.predict(p.all, p.noise.sigma, file.Obfuscated, p.scaled(at))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range got.Rows {
		if math.Abs(row[0]-want.mean[i]) > 1e-6 || math.Abs(row[1]*row[1]-want.variance[i]) > 1e-6 {
			t.Errorf("place %d: %v, want %g and variance %g", i, row, want.mean[i], want.variance[i])
		}
		if row[1]*row[1] < 0.4*6*(1-1e-6) {
			t.Errorf("place %d: variance %g is below the tolerance", i, row[1]*row[1])
		}
	}
}

func number(v float64) experiment.Or[likelihood, float64] { return experiment.NumberOr[likelihood](v) }

// The mean that is estimated with given hyper-parameters is that of maximum likelihood: a
// shift of the outputs shifts it, and no other metric that is not of the mean.
func TestMeanFollowsOutputs(t *testing.T) {
	path := wave(t, 30)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shifted := strings.ReplaceAll(string(raw), "\n", "\n")
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(shifted), "\n") {
		if i == 0 {
			b.WriteString(line + "\n")
			continue
		}
		var u, v, w float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g %g", &u, &v, &w); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%.4f,%.3f,%.3f\n", u, v, w+100)
	}
	for _, hyper := range []func(*Settings){known("0.4+5", 6, 0.05), func(*Settings) {}} {
		a := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(path, hyper)).Metrics
		c := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(csv(t, b.String()), hyper)).Metrics
		if math.Abs(c.Mean-a.Mean-100) > 0.01 || math.Abs(c.RMSEPublic[released]-a.RMSEPublic[released]) > 0.01 {
			t.Errorf("means %g and %g, errors %g and %g", a.Mean, c.Mean, a.RMSEPublic[released], c.RMSEPublic[released])
		}
		if a.Mean < 15 || a.Mean > 25 {
			t.Errorf("mean %g of outputs around 20", a.Mean)
		}
	}
}

// Sensitive rows are hidden and others are not: the obfuscated data are of use where
// nothing is hidden, and noise of the same tolerance without correlation is of less.
func TestNoiseHidesWhereItShould(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{}, Experiment(), own(wave(t, 60), func(s *Settings) {
		s.Noise, s.Xi, s.XiUnit, s.Sensitive = weak, xi(2), ofOutput, "a:0.4..0.5+b:4..6"
	})).Metrics
	hidden, public := m.RMSESensitive, m.RMSEPublic
	if !(hidden[released] > 5*hidden[unsecured] && public[released] < public[independent] &&
		public[released] < public[middle]) {
		t.Errorf("sensitive %v, public %v", hidden, public)
	}
	if m.RMSEOther == nil || m.Tolerance != 2 || m.VarianceUnsecured >= 2 || m.VarianceMin < 2*(1-1e-6) {
		t.Errorf("%+v", m)
	}
}

// Errors are those of every row from all others, noise included: with as many folds as rows
// there is one way to split them.
func TestJudgeLeavesOneOut(t *testing.T) {
	const n = 12
	s := Experiment().With(own(wave(t, n), known("0.4+5", 6, 0.05), func(s *Settings) { s.Sensitive = "rows:2..6" }))
	tr := trialtest.New(t, trialtest.Options{})
	p, err := prepare(t.Context(), tr, s)
	if err != nil {
		t.Fatal(err)
	}
	public, hidden, err := p.judge(t.Context(), tr, p.rows, &Settings{Folds: n})
	if err != nil {
		t.Fatal(err)
	}
	var want [2]float64 // public, hidden
	var others [2]float64
	for row := range n {
		var x, y []float64
		for i := range n {
			if i != row {
				x, y = append(x, p.rows.x.RawRowView(i)...), append(y, p.rows.y[i])
			}
		}
		train, at := mat.NewDense(n-1, 2, x), mat.NewDense(1, 2, p.rows.x.RawRowView(row))
		v, err := p.look(p.scaled(train))
		if err != nil {
			t.Fatal(err)
		}
		noise, err := p.obfuscate(t.Context(), v, strong)
		if err != nil {
			t.Fatal(err)
		}
		square := func(u *prior) float64 {
			o, err := u.observe(u.scaled(train))
			if err != nil {
				t.Fatal(err)
			}
			f, err := (&problem{prior: u}).predict(&view{Observations: o, x: u.scaled(train)}, noise.sigma, y, u.scaled(at))
			if err != nil {
				t.Fatal(err)
			}
			miss := p.rows.y[row] - f.mean[0]
			return miss*miss + f.wander[0]
		}
		if row < 1 || row > 5 {
			want[0] += square(p.prior)
			continue
		}
		want[1] += square(p.prior)
		for i, factor := range otherPriors {
			u := *p.prior
			u.Lengthscales = []float64{factor * p.Lengthscales[0], factor * p.Lengthscales[1]}
			others[i] += square(&u)
		}
	}
	trialtest.Near(t, "public", public.squares[released], want[0], 1e-9*want[0])
	trialtest.Near(t, "hidden", hidden.squares[released], want[1], 1e-9*want[1])
	trialtest.Near(t, "others", *hidden.other(), math.Sqrt(math.Min(others[0], others[1])/5), 1e-9)
	if len(public.outputs) != n-5 || len(hidden.outputs) != 5 {
		t.Errorf("%d public rows, %d hidden ones", len(public.outputs), len(hidden.outputs))
	}
}

func TestTau(t *testing.T) {
	y := []float64{0.1, 0.2, 0.4}
	for _, c := range []struct {
		change func(*Settings)
		sd     float64
		want   float64
	}{
		{func(*Settings) {}, 1, 0.1}, {func(*Settings) {}, 1000, 1}, {func(s *Settings) { s.Noise = none }, 1, 0},
		{func(s *Settings) { s.Resolution = experiment.NumberOr[automatic](0.7) }, 1000, 0.7},
	} {
		got, err := Experiment().With(c.change).tau(y, c.sd)
		if err != nil {
			t.Error(err)
		}
		trialtest.Near(t, "tau", got, c.want, 1e-12)
	}
}

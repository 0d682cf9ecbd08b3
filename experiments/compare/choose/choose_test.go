package choose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline"
	"privkern/experiments/cloaking"
	"privkern/experiments/compare"
	"privkern/experiments/dpgp"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/experiments/model"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

var registry = experiment.RegistryOf([]experiment.Paper{cloaking.Paper(), dpgp.Paper(), kahm.Paper(),
	baseline.Experiments()})

// file has numbers x and y, a class, and persons of two rows; the last rows lack x.
func file(t *testing.T, empty int) string {
	t.Helper()
	const rows = 40
	text := "x,y,kind,id\n"
	for i := range rows {
		x := fmt.Sprint(i)
		if i >= rows-empty {
			x = ""
		}
		text += fmt.Sprintf("%s,%d,%s,%d\n", x, i%10, []string{"no", "yes"}[i*i%3%2], i/2)
	}
	path := filepath.Join(t.TempDir(), "my.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	data    = "dataset=csv:my.csv inputs=x input_low=0 input_high=40 "
	numbers = data + "output=y low=0 high=9 "
	classes = data + "output=kind[no|yes] "
	cheap   = "methods=baseline/ridge,baseline/histogram "
	likely  = "methods=baseline/class-means,baseline/forest "
	budget1 = "epsilon=1 delta=1e-4 "
)

// settle makes the choice of a request on a file.
func settle(t *testing.T, path, args string, o Options) (*Choice, error) {
	t.Helper()
	r, err := compare.ParseRequest(strings.Fields(args))
	if err != nil {
		t.Fatal(err)
	}
	contest, err := compare.New(registry, r, path)
	if err != nil {
		t.Fatal(err)
	}
	return New(contest, o)
}

// prepared plans a choice among rows of a file.
func prepared(t *testing.T, path, args string, o Options) *planned {
	t.Helper()
	c, err := settle(t, path, args, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.prepare(t.Context(), trialtest.New(t, trialtest.Options{File: path}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var shared = Options{Share: DefaultShare, HeldOut: 0.2}

// chosen runs a choice with noise that is the same each time, and returns the draws before that of the choice, and it.
func chosen(t *testing.T, p *planned, private *mat.Dense) (trained []release.Draw, choice release.Draw) {
	t.Helper()
	source := release.Unbooked(rand.NewChaCha8([32]byte{}))
	var draws []release.Draw
	source.Trace(&draws)
	if _, err := p.publish(t.Context(), private, source); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(draws, func(d release.Draw) bool { return d.Noise == nil })
	if at < 0 {
		t.Fatal("nothing was chosen")
	}
	return draws[:at], draws[at]
}

func TestRefused(t *testing.T) {
	path := file(t, 0)
	for _, c := range []struct {
		args, want string
		o          Options
	}{
		{numbers + "epsilon=1,3 delta=1e-4", "epsilon: there are 2; a choice spends one", shared},
		{numbers + budget1 + "neighbours=add-remove", "neighbours=add-remove is for judging", shared},
		{numbers + budget1, "r2 is no sum over rows of losses that are bounded, by which a private choice could be made: " +
			"use rmse or mae", Options{Share: .2, HeldOut: .2, Measure: "r2"}},
		{classes + budget1, "auc is no sum over rows of losses that are bounded, by which a private choice could be " +
			"made: use accuracy or log_loss", Options{Share: .2, HeldOut: .2, Measure: "auc"}},
		{numbers + budget1, "share = 1: a number between 0 and 1 is required", Options{Share: 1, HeldOut: .2}},
		{numbers + budget1, "share = 0: a number between 0 and 1 is required", Options{HeldOut: .2}},
		{numbers + budget1, "held out = 1: a number between 0 and 1 is required", Options{Share: .2, HeldOut: 1}},
		{numbers + budget1 + "methods=baseline/ridge", "baseline/ridge is the only candidate", shared},
		{numbers + budget1 + "methods=baseline/label-noise", "there is nothing to choose from:\n  baseline/label-noise: it " +
			"protects less, outputs alone", shared},
		{classes + budget1 + "methods=baseline/logistic", "of its release (epsilon, delta) alone is known", shared},
		{numbers + budget1 + "methods=cloaking/regression unit=output", "its release is a table", shared},
		{classes + budget1 + "methods=baseline/class-means,kahm/classifier", "baseline/class-means is the only candidate",
			shared},
		{classes + budget1 + "methods=kahm/classifier", "there is nothing to choose from:\n  kahm/classifier: it protects " +
			"less, inputs alone", shared},
	} {
		_, err := settle(t, path, c.args, c.o)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.args, err, c.want)
		}
	}
}

// Two rows leave none to choose by.
func TestTooFewRows(t *testing.T) {
	c, err := settle(t, file(t, 0), numbers+budget1+cheap, shared)
	if err != nil {
		t.Fatal(err)
	}
	c.HeldOut = 0.01
	_, err = c.prepare(t.Context(), trialtest.New(t, trialtest.Options{File: file(t, 0)}))
	if err == nil || !strings.Contains(err.Error(), "holding out 0.01 of 40 rows leaves none") {
		t.Errorf("the error is %v", err)
	}
}

// The parts of a budget compose to it, and waste little.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, share float64
		candidates            int
	}{{1, 1e-5, .2, 5}, {.1, 1e-6, .5, 2}, {8, 1e-9, .01, 30}, {3, 1e-5, 1, 4}, {1e-3, 1e-3, .3, 3}} {
		b, err := Split(c.epsilon, c.delta, c.share, c.candidates)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, most float64) {
			t.Helper()
			if !(got <= most && got >= most*(1-1e-4)) {
				t.Errorf("%+v: %s is %v, want %v and no more", c, what, got, most)
			}
		}
		square := func(mu float64) float64 { return mu * mu }
		near("mu^2 of both", square(float64(b.Choice))+square(float64(b.Release)), square(float64(b.Whole)))
		near("mu^2 of the choice", square(float64(b.Choice)), c.share*square(float64(b.Whole)))
		near("mu^2 of the candidates", float64(c.candidates)*square(float64(b.Candidate)), square(float64(b.Choice)))
		epsilon, err := b.Whole.Epsilon(c.delta)
		if err != nil {
			t.Fatal(err)
		}
		near("epsilon", epsilon, c.epsilon)
		booked, err := loss.Book([]experiment.Loss{{Law: exponential, Size: b.Exponential, Times: 1}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		near("mu of the exponential mechanism", booked.Mu, float64(b.Choice))
	}
	if _, err := Split(1, 0, .2, 2); err == nil {
		t.Error("delta = 0 has a Gaussian mechanism")
	}
}

// All that is planned is within its part: the mechanisms of all candidates, and of each release.
func TestPlansAreWithinTheirParts(t *testing.T) {
	for _, args := range []string{numbers + budget1, classes + budget1, numbers + budget1 + "unit=output",
		numbers + budget1 + "person=id rows_per_person=2"} {
		p := prepared(t, file(t, 0), args, shared)
		sum := 0.0
		for _, c := range p.Candidates {
			of := func(plan *method.Planned) float64 {
				mu, err := gdpOf(plan.Spending.Losses)
				if err != nil {
					t.Fatal(err)
				}
				return float64(mu)
			}
			trained, released := of(c.trained), of(c.released)
			if most := float64(p.Budget.Candidate); trained > most || trained < closeEnough*most {
				t.Errorf("%s: %s is trained with mu = %v of %v", args, c.Experiment, trained, most)
			}
			if most := float64(p.Budget.Release); released > most || released < closeEnough*most {
				t.Errorf("%s: %s is released with mu = %v of %v", args, c.Experiment, released, most)
			}
			sum += trained * trained
		}
		if most := float64(p.Budget.Choice * p.Budget.Choice); sum > most {
			t.Errorf("%s: the candidates have mu^2 = %v of %v", args, sum, most)
		}
	}
}

// A row moves a sum of losses by 1 at most, and a person with m rows by m; a row of B leaves trained candidates as they
// are, and a row of A the rows by which is chosen. Rows change to others and to none.
func TestNeighbours(t *testing.T) {
	for _, c := range []struct {
		args    string
		perUnit int
	}{{numbers + budget1 + cheap, 1}, {classes + budget1 + likely, 1},
		{numbers + budget1 + cheap + "person=id rows_per_person=2", 2},
		{numbers + budget1 + "unit=output methods=baseline/ridge,baseline/label-noise", 1},
		{numbers + budget1 + cheap + "invalid=clamp", 1}} {
		p := prepared(t, file(t, 3), c.args, shared)
		if p.perUnit != c.perUnit {
			t.Fatalf("%s: a unit has %d rows", c.args, p.perUnit)
		}
		n, columns := p.full.Private.Dims()
		trained, before := chosen(t, p, p.full.Private)
		moved := 0.0
		for _, value := range []float64{0, 1, math.NaN()} {
			if math.IsNaN(value) && p.units == experiment.UnitOutput {
				continue // such a row has an output
			}
			for _, unit := range append(slices.Clone(p.tests), p.training[0]) {
				other := mat.DenseCopyOf(p.full.Private)
				for row := unit * c.perUnit; row < min(n, (unit+1)*c.perUnit); row++ {
					other.SetRow(row, slices.Repeat([]float64{value}, columns))
				}
				if held := slices.Contains(p.tests, unit); !held {
					if !mat.Equal(nanless(p.truths(other).inputs), nanless(p.truths(p.full.Private).inputs)) {
						t.Errorf("%s: a row that is trained on is among those held out", c.args)
					}
					continue
				}
				same, after := chosen(t, p, other)
				if !slices.EqualFunc(same, trained, func(a, b release.Draw) bool { return slices.Equal(a.Query, b.Query) }) {
					t.Errorf("%s: candidates are trained on a row that is held out", c.args)
				}
				for i, u := range after.Query {
					moved = max(moved, math.Abs(u-before.Query[i]))
				}
			}
		}
		if !(moved > 0 && moved <= float64(c.perUnit)) {
			t.Errorf("%s: a unit moves a sum of losses by %v", c.args, moved)
		}
	}
}

func nanless(m *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(m)
	out.Apply(func(_, _ int, v float64) float64 {
		if math.IsNaN(v) {
			return -1
		}
		return v
	}, m)
	return out
}

// The division has every unit once, and is another each time.
func TestDivision(t *testing.T) {
	path := file(t, 0)
	c, err := settle(t, path, numbers+budget1+cheap+"person=id rows_per_person=2", shared)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(5) {
		p, err := c.prepare(t.Context(), trialtest.New(t, trialtest.Options{File: path, Seed: seed}))
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(p.tests, p.training)
		slices.Sort(all)
		if len(all) != 20 || all[0] != 0 || all[19] != 19 || len(slices.Compact(all)) != 20 || p.Tests != 4 {
			t.Fatalf("20 persons are divided into %v and %v", p.tests, p.training)
		}
		seen[fmt.Sprint(p.tests)] = true
		rows, _ := p.rows(p.full.Private, p.training).Dims()
		trained, _ := p.Candidates[0].trained.Private.Dims()
		if rows != 32 || trained != 32 {
			t.Errorf("16 persons have %d rows, and are trained on as %d", rows, trained)
		}
	}
	if len(seen) < 4 {
		t.Errorf("five divisions are %v", seen)
	}
}

// Candidates are chosen with the probabilities exp(−ε₁ u/(2m)) given those trained: the differences of choices and
// probabilities are a martingale.
func TestProbabilities(t *testing.T) {
	p := prepared(t, file(t, 0), numbers+"epsilon=10 delta=1e-4 "+cheap, Options{HeldOut: .2, Alone: true})
	const runs = 1000
	excess, variance, certain := 0.0, 0.0, 0.0
	entropy := rand.NewChaCha8([32]byte{7})
	for range runs {
		source := release.Unbooked(entropy)
		var draws []release.Draw
		source.Trace(&draws)
		if _, err := p.publish(t.Context(), p.full.Private, source); err != nil {
			t.Fatal(err)
		}
		d := draws[len(draws)-1]
		first := 1 / (1 + math.Exp(p.Budget.Exponential*(d.Query[1]-d.Query[0])/2))
		won := 0.0
		if d.Output[0] == 0 {
			won = 1
		}
		if p.Winner != p.Candidates[int(d.Output[0])] {
			t.Fatal("the winner is not the one that was drawn")
		}
		// Weighted by how much the probability depends on epsilon.
		weight := d.Query[1] - d.Query[0]
		excess += weight * (won - first)
		variance += weight * weight * first * (1 - first)
		certain += math.Abs(first - .5)
	}
	if z := excess / math.Sqrt(variance); math.Abs(z) > 4.5 || certain < .1*runs {
		t.Errorf("choices exceed their probabilities by %.2f standard deviations; these are off a half by %.2g", z,
			certain/runs)
	}
}

// ledger is a trial of a release, whose noise must not be drawn before it is booked.
type ledger struct {
	io.Reader
	t      *testing.T
	booked []experiment.Spending
}

func (l *ledger) Read(b []byte) (int, error) {
	if l.booked == nil {
		l.t.Error("noise is drawn before it is booked")
	}
	return l.Reader.Read(b)
}

// The whole is booked once, before noise is drawn, and the release states it, in a file that predicts.
func TestRelease(t *testing.T) {
	path := file(t, 0)
	for _, c := range []struct {
		args, unit  string
		units       []string
		publishes   []string
		o           Options
		sensitivity float64
	}{
		{numbers + budget1 + cheap, "one row, inputs", []string{"row", "output", "inputs"}, nil, shared, 1},
		{classes + budget1 + likely, "one row, inputs", []string{"row", "output", "inputs"}, nil,
			Options{Share: .5, HeldOut: .2, Measure: "log_loss"}, 1},
		{numbers + budget1 + cheap + "person=id rows_per_person=2", "one person (id) with at most 2 rows",
			[]string{"person", "row", "output", "inputs"}, nil, shared, 2},
		{numbers + budget1 + "unit=output methods=baseline/ridge,baseline/label-noise", "the output (y) of one row",
			[]string{"output"}, []string{"inputs"}, Options{Share: .3, HeldOut: .2, Measure: "mae"}, 1},
		{numbers + budget1 + cheap, "one row, inputs", []string{"row", "output", "inputs"}, nil,
			Options{HeldOut: .2, Alone: true}, 1},
	} {
		choice, err := settle(t, path, c.args, c.o)
		if err != nil {
			t.Fatal(err)
		}
		e, params := choice.Experiment()
		tr := trialtest.New(t, trialtest.Options{File: path})
		l := &ledger{Reader: rand.NewChaCha8([32]byte{3}), t: t}
		tr.Params, tr.Entropy = params, l
		tr.Book = func(s experiment.Spending) error { l.booked = append(l.booked, s); return nil }
		out, err := e.Release(t.Context(), tr, params)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.booked) != 1 {
			t.Fatalf("%s: it is booked %d times", c.args, len(l.booked))
		}
		s := l.booked[0]
		epsilon, err := loss.Epsilon(s.Losses, s.Delta)
		if err != nil {
			t.Fatal(err)
		}
		if s.Epsilon != 1 || s.Delta != 1e-4 || epsilon > 1 || epsilon < .999 || !slices.Equal(s.Units, c.units) ||
			!slices.Equal(s.Publishes, c.publishes) || s.Dataset != "csv:my.csv" {
			t.Errorf("%s: %+v is booked, of epsilon %v", c.args, s, epsilon)
		}
		choices := slices.DeleteFunc(slices.Clone(out.Noise), func(n experiment.Noise) bool { return n.Law != exponential })
		if len(choices) != 1 || math.Abs(choices[0].Sensitivity-c.sensitivity) > 1e-9 {
			t.Errorf("%s: the choices are %+v, want one of sensitivity %v", c.args, choices, c.sensitivity)
		}
		if out.Privacy.Guarantee != "(1, 0.0001)-DP" || !strings.HasPrefix(out.Privacy.Unit, c.unit) || len(out.Noise) < 2 ||
			!strings.Contains(strings.Join(out.Privacy.Notes, "\n"), "the choice of the method is part of the guarantee") {
			t.Errorf("%s: the release states %+v", c.args, out.Privacy)
		}
		printed := choice.Winner.Experiment + "\n"
		if !c.o.Alone {
			checkModel(t, out)
			printed = choice.Winner.Experiment + " was chosen for "
		}
		name := "model.json"
		if c.o.Alone {
			name = ""
		}
		if text := choice.Text(name, func(s string) string { return s }); !strings.HasPrefix(text, printed) {
			t.Errorf("%s: it prints %q", c.args, text)
		}
	}
}

// checkModel predicts from the file of a release.
func checkModel(t *testing.T, out *experiment.Release) {
	t.Helper()
	raw, err := json.Marshal(out.Model)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode("model.json", raw, baseline.Models())
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), mat.NewDense(2, 1, []float64{1, 30}))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows) != 2 || p.Guarantee != out.Privacy.Guarantee {
		t.Errorf("the file predicts %+v", p)
	}
}

// A booking that is refused leaves nothing drawn.
func TestRefusedBooking(t *testing.T) {
	path := file(t, 0)
	choice, err := settle(t, path, numbers+budget1+cheap, shared)
	if err != nil {
		t.Fatal(err)
	}
	e, params := choice.Experiment()
	tr := trialtest.New(t, trialtest.Options{File: path})
	refused := errors.New("the account is empty")
	tr.Entropy = &ledger{Reader: rand.NewChaCha8([32]byte{}), t: t}
	tr.Book = func(experiment.Spending) error { return refused }
	if _, err := e.Release(t.Context(), tr, params); !errors.Is(err, refused) || choice.Winner != nil {
		t.Errorf("the error is %v, and %v is chosen", err, choice.Winner)
	}
}

// listed predicts, at the input i from 1 on, row i of a list, and nothing at the last; at 0 the first.
type listed struct {
	model.Payload
	all *model.Prediction
}

func (l listed) Predict(_ context.Context, q *model.Query) (*model.Prediction, error) {
	if n, _ := q.X.Dims(); n != 1 {
		return nil, errors.New("several rows at once")
	}
	i := max(0, int(q.X.At(0, 0))-1)
	if i == len(l.all.Rows)-1 {
		return nil, errors.New("the last row has no prediction")
	}
	out := &model.Prediction{Columns: l.all.Columns, Rows: l.all.Rows[i : i+1]}
	if l.all.Labels != nil {
		out.Labels = l.all.Labels[i : i+1]
	}
	return out, nil
}

// Losses are in [0, 1], also of predictions that are none, and 1 where there is none. Each row is predicted alone.
func TestLosses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	regression := &model.Prediction{Columns: model.RegressionColumns[:1],
		Rows: [][]float64{{1}, {2}, {100}, {nan}, {inf}, {-inf}, {3}, {1}}}
	classification := &model.Prediction{Columns: model.ClassColumns([]string{"a", "b"}),
		Labels: []string{"a", "a", "b", "a"},
		Rows:   [][]float64{{1, 0}, {.9, .1}, {nan, nan}, {1, 0}}}
	numbers := &truths{values: []float64{1, 1, 1, 1, 1, 1, nan, 1}, scale: 4}
	classes := &truths{values: []float64{0, 1, 0, 0}, classes: []string{"a", "b"}}
	for i, c := range []struct {
		truth *truths
		p     *model.Prediction
		want  float64
	}{{numbers, regression, 5.25}, {numbers, regression, 5.5}, {classes, classification, 3},
		{classes, classification, 2.5}} {
		c.truth.inputs = mat.NewDense(len(c.truth.values), 1, nil)
		for row := range c.truth.values {
			c.truth.inputs.Set(row, 0, float64(row+1))
		}
		sum, err := c.truth.sum(t.Context(), &losses[i], &model.Query{Files: []model.File{{Payload: listed{all: c.p}}}})
		if got := float64(sum) / unit; err != nil || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("the losses of %s are %v, want %v (%v)", losses[i].measure, got, c.want, err)
		}
	}
	nothing := &model.Prediction{Columns: model.RegressionColumns[:1], Rows: [][]float64{{1}}}
	none := &model.Query{Files: []model.File{{Payload: listed{all: nothing}}}}
	if _, err := numbers.sum(t.Context(), &losses[0], none); err == nil {
		t.Error("a model that predicts nothing has losses")
	}
}

func TestDefaults(t *testing.T) {
	path := file(t, 0)
	for args, want := range map[string]bool{"": true, "separator=comma ": true, "frequencies=3 ": false, cheap: false} {
		c, err := settle(t, path, numbers+budget1+args, shared)
		if err != nil {
			t.Fatal(err)
		}
		if c.Defaults() != want {
			t.Errorf("%q: Defaults is %v", args, !want)
		}
	}
}

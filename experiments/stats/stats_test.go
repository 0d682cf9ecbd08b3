package stats

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// trialOf is a trial on a file.
func trialOf(t *testing.T, text string) *experiment.Trial {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &experiment.Trial{Dataset: func(string) string { return path }, Stream: func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(uint64(len(purpose)), 1))
	}}
}

func settingsWith(changes ...func(*settings)) *settings {
	return Columns().With(append([]func(*settings){func(s *settings) {
		s.Dataset, s.Columns = "csv:t.csv", "a"
	}}, changes...)...)
}

// problemOf is that of a file.
func problemOf(t *testing.T, text string, s *settings) *problem {
	t.Helper()
	p, err := newProblem(trialOf(t, text), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Substituting a value, or making it missing, moves a utility by at most one, and the exponential
// mechanism takes no more for granted.
func TestUtilityMovesByOneAtMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		first := make([]float64, 1+rng.IntN(9))
		for i := range first {
			first[i] = float64(rng.IntN(6))
		}
		second := slices.Clone(first)
		if second[0] = float64(rng.IntN(6)); rng.IntN(3) == 0 {
			second = second[1:] // missing
		}
		slices.Sort(first)
		slices.Sort(second)
		q := rng.Float64()
		for c := -0.5; c < 6; c += 0.5 {
			to := c + float64(rng.IntN(4))/2
			if moved := math.Abs(utility(first, c, to, q) - utility(second, c, to, q)); moved > 1+1e-12 {
				t.Fatalf("%v and %v from %g to %g, q = %g: %g", first, second, c, to, q, moved)
			}
		}
	}
}

func TestIntervalsAndRanges(t *testing.T) {
	for _, v := range []float64{0, 1e-7, -1e-7, 1, 1.5, 2, -1, -2, -3, 1e5, math.Ldexp(1, lowestPower)} {
		if low, high := endsOf(intervalOf(v)); !(low <= v && v < high) && !(low < v && v <= high) {
			t.Errorf("%g is not between %g and %g", v, low, high)
		}
	}
	if intervalOf(1e300) != intervals-1 || intervalOf(-1e300) != 0 {
		t.Error("large values are in the outer intervals")
	}
	noisy := make([]float64, intervals)
	for i, n := range map[int]float64{intervalOf(10): 300, intervalOf(20): 200, intervalOf(40): 15, intervalOf(1e9): 60} {
		noisy[i] = n
	}
	if first, last, clear := rangeOf(noisy, 10); first != intervalOf(8) || last != intervalOf(20) || !clear {
		t.Error(first, last, clear)
	}
	noisy[intervalOf(-1e9)] = 90 // more than 10·log(121/0.02)
	if first, last, clear := rangeOf(noisy, 10); first != intervalOf(-1e9) || last != intervalOf(20) || !clear {
		t.Error(first, last, clear)
	}
	if _, _, clear := rangeOf(noisy, 100); clear {
		t.Error("noise of 100 explains 300 in one of all intervals")
	}
	for _, c := range [][4]float64{{60, 180, 30, 210}, {0, 10, 0, 13}, {-10, -2, -12, 0}, {-1, 1, -1.5, 1.5},
		{5, 5, 4.87, 5.13},

		{0, 0, -2.4e-8, 2.4e-8}} {
		if low, high := widened(c[0], c[1]); math.Abs(low-c[2]) > 1e-9 || math.Abs(high-c[3]) > 1e-9 {
			t.Errorf("%g to %g becomes %g to %g", c[0], c[1], low, high)
		}
	}
	if low, high := widened(1e17, 1e17); !(low < high) {
		t.Error(low, high)
	}
	for _, relative := range []bool{false, true} {
		for _, ends := range [][2]float64{{8, 64}, {-64, -8}, {-3, 5}, {-0x1p-20, 1e6}, {-1e6, 0x1p-20}} {
			grid := gridOf(ends[0], ends[1], relative)
			for _, v := range []float64{ends[0], 1e-3, 1, 9.5, 60, -60, -2} {
				if k, _ := slices.BinarySearch(grid, v); relative && ends[0] <= v && v <= ends[1] &&
					math.Abs(grid[k]-v) > 0.02*math.Abs(v) {
					t.Errorf("%v: %g is far from %g", ends, v, grid[k])
				}
			}
			if grid[0] != ends[0] || grid[gridPoints-1] != ends[1] || !slices.IsSorted(grid) {
				t.Errorf("%v: %v to %v", ends, grid[0], grid[gridPoints-1])
			}
		}
	}
}

// Every number is of one point, and a quantile has few digits.
func TestCells(t *testing.T) {
	grid := []float64{-1, 0, 4}
	for _, c := range [][3]float64{{0, math.Inf(-1), -0.5}, {1, -0.5, 2}, {2, 2, math.Inf(1)}} {
		if from, to := cellOf(grid, int(c[0])); from != c[1] || to != c[2] {
			t.Errorf("%g: %g to %g", c[0], from, to)
		}
	}
	for _, c := range [][4]float64{{55.0624, 54.9, 55.2, 55}, {0.99973, 0.9992, 1.0002, 1}, {-2e-8, -3e-8, 1e-9, 0},
		{29.97, 29.96, 29.98, 29.97}, {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}, {102, 101.9, 102, 102}} {
		if got := shortest(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%g is %g, want %g", c[0], got, c[3])
		}
	}
}

// Levels and truth values have no range to find; numbers that are mostly one value, or far apart, warn of those that
// their statistics leave out.
func TestFewValues(t *testing.T) {
	every := func(n int, first, others string) func(int) string {
		return func(i int) string { return map[bool]string{true: first, false: others}[i%n == 0] }
	}
	for _, c := range []struct {
		name    string
		rows    int
		value   func(i int) string
		columns string
		mean    float64 // NaN: it is wrong
		warning string
	}{
		{"truth values", 600, every(12, "yes", "no"), "a", 1.0 / 12, ""},
		{"a level", 600, every(12, "red", "blue"), "a[red|blue]", 1.0 / 12, ""},
		{"rare ones", 600, every(12, "1", "0"), "a", math.NaN(),
			"most values of a are 0, and its statistics leave out any others"},
		{"rare zeros", 6000, every(33, "0", "6"), "a", math.NaN(),
			"most values of a are 6, and its mean and range leave out any others"},
		{"ones and zeros", 600, func(i int) string { return fmt.Sprint(i % 2) }, "a", 0.5, ""},
		{"both signs", 600, func(i int) string { return fmt.Sprint(i%9 - 4) }, "a", 0, ""},
		{"far and wide", 600, func(i int) string {
			return fmt.Sprint(map[bool]float64{true: 5, false: math.Ldexp(1, i%40)}[i%3 > 0])
		}, "a", math.NaN(), "values of a are not between"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("a,b\n")
			for i := range c.rows {
				fmt.Fprintf(&b, "%s,1\n", c.value(i))
			}
			p := problemOf(t, b.String(), settingsWith(func(s *settings) { s.Columns, s.Epsilon = c.columns, 2 }))
			out, err := p.publish(context.Background(), p.plan().Private, release.Unbooked(rand.NewChaCha8([32]byte{5})))
			if err != nil {
				t.Fatal(err)
			}
			at := func(name string) float64 { return out.Rows[0][slices.Index(out.Columns, name)] }
			if off := math.Abs(at("mean") - c.mean); off > 4*at("mean_sd") {
				t.Errorf("the mean is %g ± %g, not %g", at("mean"), at("mean_sd"), c.mean)
			}
			if got := strings.Join(out.Warnings, "\n"); !strings.Contains(got, c.warning) || (c.warning == "") != (got == "") {
				t.Errorf("%q", got)
			}
			queries := p.Epsilon / p.epsilon / float64(len(p.names))
			if p.binary[0] && (at("low") != 0 || at("high") != 1 || math.Abs(queries-5) > 1e-9) {
				t.Errorf("%v, %g each", out.Rows[0], p.epsilon)
			}
		})
	}
}

// The queries share epsilon, and their sum is not above it.
func TestComposition(t *testing.T) {
	const text = "a,b,who\n1,2,x\n3,,y\n2,2,y\n"
	for _, c := range []struct {
		name    string
		change  func(*settings)
		queries float64
	}{
		{"one column", func(*settings) {}, 6},
		{"two columns with ends", func(s *settings) { s.Columns, s.Low, s.High = "a+b", ends(0), ends(9) }, 10},
		{"without means", func(s *settings) { s.Mean, s.Quantiles = false, []float64{0.5} }, 3},
		{"persons", func(s *settings) { s.Person.Person, s.RowsPerPerson = "who", 2 }, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := problemOf(t, text, settingsWith(c.change))
			sum := 0.0
			for _, l := range p.losses {
				sum += l.Size * float64(l.Times)
			}
			if got := p.Epsilon / p.epsilon; math.Abs(got-c.queries) > 1e-9 || sum > 1 {
				t.Errorf("%g queries, want %g; the sum is %g", got, c.queries, sum)
			}
			var draws []release.Draw
			source := release.Unbooked(rand.NewChaCha8([32]byte{1}))
			source.Trace(&draws)
			if _, err := p.publish(context.Background(), p.plan().Private, source); err != nil {
				t.Fatal(err)
			}
			spent := 0.0
			for _, d := range draws {
				if d.Noise == nil {
					spent += p.epsilon
				} else {
					spent += d.Noise.Sensitivity() / d.Noise.Scale()
				}
			}
			if spent > p.Epsilon || spent < 0.999*p.Epsilon {
				t.Errorf("the draws spend %g of %g", spent, p.Epsilon)
			}
		})
	}
}

// A delta leaves more to each of many queries, and the composed loss is the stated one.
func TestTightComposition(t *testing.T) {
	p := problemOf(t, "a,b\n1,2\n3,4\n", settingsWith(func(s *settings) { s.Columns, s.Delta = "a+b", 1e-6 }))
	composed, err := loss.Epsilon(p.losses, p.Delta)
	pure := p.Epsilon / 12
	if err != nil || p.pure || p.epsilon <= pure || composed > p.Epsilon || composed < 0.99*p.Epsilon {
		t.Errorf("%g each, of %g without delta; composed %g, %v", p.epsilon, pure, composed, err)
	}
	if got := p.plan().Spending; got.Delta != p.Delta {
		t.Errorf("%+v", got)
	}
}

func ends(v float64) experiment.SeveralOr[method.None] { return experiment.SeveralOf[method.None](v) }

// With much data the statistics are near the exact ones, of missing values, too.
func TestStatistics(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,who\n")
	const n = 40_000
	for i := range n {
		if i%4 == 3 {
			fmt.Fprintf(&b, ",%d\n", i/4)
			continue
		}
		fmt.Fprintf(&b, "%g,%d\n", 20+60*float64(i%1000)/999, i/4)
	}
	for _, persons := range []bool{false, true} {
		s := settingsWith(func(s *settings) {
			if persons {
				s.Person.Person, s.RowsPerPerson = "who", 4
			}
		})
		p := problemOf(t, b.String(), s)
		out, err := p.publish(context.Background(), p.plan().Private, release.Unbooked(rand.NewChaCha8([32]byte{2})))
		if err != nil {
			t.Fatal(err)
		}
		trialtest.WantSize(t, p.plan().Spending.Size, out)
		row := out.Rows[0]
		for i, want := range []float64{30_000, 10_000, 23, 50, 77, 50, -1, 0, 100} {
			off := map[string]float64{"values": 300, "missing": 300, "low": 12, "high": 12, "mean_sd": 2}[out.Columns[i]]
			if math.Abs(row[i]-want) > max(off, 0.7) {
				t.Errorf("persons %v: %s is %g, want about %g", persons, out.Columns[i], row[i], want)
			}
		}
		m := p.compare(p.plan().Private, out)
		if !(m.RankError < 0.01 && *m.MeanError < 0.05 && *m.Outside < 0.02) {
			t.Errorf("%+v", m)
		}
	}
}

// An empty place, a missing value and one that is not finite contribute nothing; a row has one place.
func TestMissingValues(t *testing.T) {
	p := problemOf(t, "a,who\n5,x\ninf,x\n,y\n", settingsWith(func(s *settings) {
		s.Person.Person, s.RowsPerPerson = "who", 3
	}))
	private := p.plan().Private
	if n, d := private.Dims(); n != 6 || d != 2 {
		t.Fatal(mat.Formatted(private))
	}
	if got := p.values(private, 0); !slices.Equal(got, []float64{5}) {
		t.Error(got)
	}
	present := slices.DeleteFunc(mat.Col(nil, 1, private), math.IsNaN)
	if len(present) != 3 {
		t.Errorf("%d rows", len(present))
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"quantiles=0.5,0.5", "write each once, in increasing order"},
		{"quantiles=0.5", "a mean is of values between"},
		{"low=1", "one of them is not given"},
		{"low=1 high=1", "low = 1 and high = 1: low must be below high"},
		{"low=-1e308 high=1e308", "low = -1e+308 and high = 1e+308: they are farther apart"},
		{"person=", "person is empty"},
		{"dataset=none", "dataset = "},
		{"columns=a+a", `"a" is named twice`},
		{"columns=a person=a", "is one of the inputs, too"},
	} {
		given := map[string]any{"dataset": "csv:t.csv", "columns": "a"}
		for assignment := range strings.FieldsSeq(c.setting) {
			name, value, _ := strings.Cut(assignment, "=")
			given[name] = value
		}
		_, err := Columns().Resolve(given)
		trialtest.Refuses(t, err, c.want)
	}
	words := trialOf(t, "a\nx\ny\n")
	words.Entropy = rand.NewChaCha8([32]byte{})
	_, err := newProblem(words, settingsWith())
	trialtest.Refuses(t, err, "the levels of \"a\" are read off the data")
	_, err = newProblem(trialOf(t, "a\n1\n"), settingsWith(func(s *settings) { s.Epsilon = 1e-7 }))
	trialtest.Refuses(t, err, "use a larger epsilon, or fewer columns")
	_, err = newProblem(trialOf(t, "a\n1\n"), settingsWith(func(s *settings) {
		s.Low, s.High = experiment.SeveralOf[method.None](1e17), experiment.SeveralOf[method.None](1e17+16)
	}))
	trialtest.Refuses(t, err, "too near each other")
}

// Simulated data have no persons.
func TestSimulatedHaveNoPersons(t *testing.T) {
	p, err := newProblem(trialOf(t, ""), Columns().With(func(s *settings) { s.Person.Person = "id" }))
	if err != nil {
		t.Fatal(err)
	}
	if unit := p.privacy().Unit; !strings.HasPrefix(unit, "one row") {
		t.Error(unit)
	}
}

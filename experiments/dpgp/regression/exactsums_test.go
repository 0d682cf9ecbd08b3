package regression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// far is an input whose kernel vector is 0: such a row adds nothing to the sums.
const far = 1e9

// writeRows writes rows, the output last, as a file with the columns a, b, ... and
// y.
func writeRows(t *testing.T, rows [][]float64) (path string) {
	t.Helper()
	var b strings.Builder
	for j := range rows[0][1:] {
		fmt.Fprintf(&b, "%c,", 'a'+j)
	}
	b.WriteString("y\n")
	for _, row := range rows {
		for j, v := range row {
			fmt.Fprintf(&b, "%s%.17g", map[bool]string{true: ","}[j > 0], v)
		}
		b.WriteString("\n")
	}
	path = filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rowSettings are public settings for the rows of writeRows.
func rowSettings(path string) func(*Settings) {
	return func(s *Settings) {
		ownSettings(path)(s)
		s.Inputs, s.Low, s.High = "a", given(-1), given(1)
	}
}

// planFor plans a release.
func planFor(t *testing.T, changes ...func(*Settings)) *release.Plan {
	t.Helper()
	plan, err := Plan(t.Context(), releaseTrial(t, 1, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// chacha is a stream of entropy.
func chacha(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// traced makes a release of rows, and returns what noise was added to.
func traced(t *testing.T, plan *release.Plan, source *release.Source, rows [][]float64) (r *experiment.Release,
	draws []release.Draw) {
	t.Helper()
	source.Trace(&draws)
	private := mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
	r, err := plan.With(t.Context(), source, private)
	if err != nil {
		t.Fatal(err)
	}
	return r, draws
}

// few are rows of d inputs of which the first may be replaced: the others, but for
// two, are far away.
func few(d int, first []float64) [][]float64 {
	rows := [][]float64{first}
	for _, v := range []float64{3, 11, far, far} {
		rows = append(rows, append(slices.Repeat([]float64{v}, d), 0.5))
	}
	return rows
}

// sumCase is a release that the noise of the sums is tested for.
type sumCase struct {
	name   string
	dims   int
	ratio  float64
	change func(*Settings)
	// least is which share of the sensitivity that the noise allows for some
	// substituted row uses up. Eq. (6) is met where ‖k‖² is near its bound for two
	// inputs with k·k' = 1/(2 ratio²): not for one inducing input.
	least float64
}

var sumCases = []sumCase{
	{"even", 1, 1, func(*Settings) {}, 0.95},
	{"much noise in B", 1, 0.5, func(*Settings) {}, 0.95},
	{"little noise in B", 1, 3, func(*Settings) {}, 0.95},
	{"far apart", 1, 3, func(s *Settings) { s.Lengthscale = method.LengthscalesOf(0.8) }, 0.95},
	{"far apart, even", 1, 1, func(s *Settings) { s.Lengthscale.Numbers = experiment.Several{0.8} }, 0.9},
	{"large kernel", 1, 1, func(s *Settings) { s.KernelVariance, s.Epsilon = 2, 5 }, 0.95},
	{"range", 1, 1, func(s *Settings) { s.Low, s.High = given(10), given(500) }, 0.95},
	{"one inducing input", 1, 1, func(s *Settings) { s.Inducing = "1" }, 0.9},
	{"two inputs", 2, 1, func(s *Settings) {
		s.Inputs, s.Inducing, s.Lengthscale = "a+b", "3", method.LengthscalesOf(3)
	}, 0.85},
	{"a lengthscale each", 2, 1, func(s *Settings) {
		s.Inputs, s.Inducing, s.Lengthscale = "a+b", "3", method.LengthscalesOf(3, 7)
	}, 0.9},
}

// settings are those of a case, for a file of its own.
func (c sumCase) settings(t *testing.T) func(*Settings) {
	path := writeRows(t, few(c.dims, make([]float64, c.dims+1)))
	return func(s *Settings) {
		rowSettings(path)(s)
		c.change(s)
		s.Ratio, s.Rho = c.ratio, 1e-9 // so that no noise is refused
	}
}

// candidates are rows near inducing inputs and between them, with outputs at the ends
// of the range and beyond them.
func (c sumCase) candidates() [][]float64 {
	var out [][]float64
	for x := -3.0; x <= 23; x += 0.5 * float64(c.dims) {
		for _, y := range []float64{-1e12, -1, 0, 0.3, 1, 700, 1e12} {
			if c.dims == 1 {
				out = append(out, []float64{x, y})
				continue
			}
			for z := -3.0; z <= 23; z += 2 {
				out = append(out, []float64{x, z, y})
			}
		}
	}
	return append(out, append(slices.Repeat([]float64{far}, c.dims), 1),
		append(slices.Repeat([]float64{-far}, c.dims), math.MaxFloat64))
}

// unitsAdded returns the contribution of a row to all blocks of the sums, in units of the noise.
func unitsAdded(t *testing.T, draws []release.Draw) []float64 {
	t.Helper()
	number := draws[0].Noise.Describe().Coordinates
	if want := map[bool]int{true: 2, false: 3}[number == 1]; len(draws) != want {
		t.Fatalf("%d blocks of noise, want %d", len(draws), want)
	}
	var out []float64
	for _, d := range draws {
		for _, v := range d.Query {
			out = append(out, v/d.Noise.Scale())
		}
	}
	if want := number + number*(number+1)/2; len(out) != want {
		t.Fatalf("%d numbers for %d inducing inputs, want %d", len(out), number, want)
	}
	return out
}

// farthest returns the largest distance of two points, and which they are.
func farthest(points [][]float64) (distance float64, one, two int) {
	worst := 0.0
	for j := range points {
		for k := range j {
			square := 0.0
			for l, v := range points[j] {
				square += (v - points[k][l]) * (v - points[k][l])
			}
			if square > worst {
				worst, one, two = square, j, k
			}
		}
	}
	return math.Sqrt(worst), one, two
}

// A substituted row moves the sums, in units of their noise, by no more than the
// guarantee allows for, wherever the row is and was: the noise of each block is
// large enough, for all blocks together.
func TestSumsOfNeighbours(t *testing.T) {
	tier.Sequential(t)
	for _, c := range slices.Concat(sumCases, whitenedCases) {
		t.Run(c.name, func(t *testing.T) {
			plan := planFor(t, c.settings(t))
			factor, err := mechanism.AnalyticGaussian(plan.Spending.Epsilon, plan.Spending.Delta)
			if err != nil {
				t.Fatal(err)
			}
			candidates := c.candidates()
			source := release.Unbooked(chacha(1))
			added := make([][]float64, len(candidates))
			for j, row := range candidates {
				_, draws := traced(t, plan, source, few(c.dims, row))
				added[j] = unitsAdded(t, draws)
			}
			distance, one, two := farthest(added)
			used := distance * factor
			t.Logf("%v for %v moves the sums by %.4f of what they may", candidates[one], candidates[two], used)
			if used > 1 {
				t.Errorf("%v for %v moves the sums by %.17g of what the guarantee allows for", candidates[one],
					candidates[two], used)
			}
			if used < c.least {
				t.Errorf("no row moves the sums by more than %g of what they may: the test shows nothing", used)
			}
		})
	}
}

// The sensitivity that the noise is calibrated for covers how far the sums that are
// computed are from those of real numbers, in all blocks together.
func TestSumsCoverTheirRounding(t *testing.T) {
	tier.Sequential(t)
	for _, c := range sumCases {
		t.Run(c.name, func(t *testing.T) {
			var low, high float64
			plan := planFor(t, c.settings(t), func(s *Settings) {
				s.Epsilon, s.Delta = 0.01, 1e-6 // a coarse grid
				low, high = s.Low.Number, s.High.Number
			})
			source := release.Unbooked(chacha(2))
			rng := rand.New(rand.NewPCG(3, 4))
			largest := 0.0
			var noises []*release.Noise
			var m *modelfile.Model
			for range 60 {
				row := make([]float64, c.dims+1)
				for j := range c.dims {
					row[j] = 20 * rng.Float64()
				}
				row[c.dims] = low + (high-low)*rng.Float64()
				rows := few(c.dims, row)
				for _, r := range rows[1:] {
					for j := range c.dims {
						r[j] = far
					}
				}
				r, draws := traced(t, plan, source, rows)
				m, noises = r.Model.(*modelfile.Model), nil
				for _, d := range draws {
					noises = append(noises, d.Noise)
				}
				largest = max(largest, roundingError(m, row, draws, c.ratio))
			}
			for b, n := range noises {
				stated := (n.Sensitivity()*weight(b, c.ratio) - m.Mechanism.Sensitivity) / 2
				if stated < largest {
					t.Errorf("%s: the sums are off by %g, and the sensitivity covers %g", n.Describe().Query, largest, stated)
				}
				if stated > 20*largest {
					t.Errorf("%s: the sums are off by %g, and %g is taken for it", n.Describe().Query, largest, stated)
				}
			}
		})
	}
}

// roundingError is how far the sums of one row are from those of real numbers.
func roundingError(m *modelfile.Model, row []float64, draws []release.Draw, ratio float64) float64 {
	square, y := 0.0, row[len(row)-1]
	for b, exact := range exactSumsOf(m, row, (y-m.Output.Centre)/m.Output.Scale) {
		for k, v := range exact {
			off := float(new(big.Float).Sub(v, big.NewFloat(draws[b].Query[k])))
			square += off * off * weight(b, ratio) * weight(b, ratio)
		}
	}
	return math.Sqrt(square)
}

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

// weight is that of a block in the joint sensitivity: A, the diagonal of B, and
// what is beside it, which B has twice.
func weight(block int, ratio float64) float64 {
	return []float64{1, ratio, ratio * math.Sqrt2}[block]
}

// exactSumsOf returns the contribution of one row to the blocks, with 200 binary digits.
func exactSumsOf(m *modelfile.Model, row []float64, y float64) [][]*big.Float {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	times := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(200).Mul(a, b) }
	var k []*big.Float
	lengthscale := m.Kernel.Lengthscale
	for _, z := range m.Inducing {
		u := exact(0)
		for d, v := range z {
			x := row[d]
			if each := m.Kernel.Lengthscales; each != nil { // the kernel is one of quotients in float64
				x, v, lengthscale = x/each[d], v/each[d], 1
			}
			off := exact(x)
			off.Sub(off, exact(v))
			u.Add(u, times(off, off))
		}
		l := times(exact(lengthscale), exact(lengthscale))
		u.Quo(u, l.Add(l, l))
		k = append(k, times(exact(m.Kernel.Variance), expMinus(u)))
	}
	out := make([][]*big.Float, 2, 3)
	for i := range k {
		out[0] = append(out[0], times(exact(y), k[i]))
		out[1] = append(out[1], times(k[i], k[i]))
	}
	if len(k) == 1 {
		return out
	}
	out = append(out, nil)
	for i := range k {
		for j := range i {
			out[2] = append(out[2], times(k[i], k[j]))
		}
	}
	return out
}

// expMinus is exp(−u), u ≥ 0, by the series for exp(−u/2^20), squared 20 times.
func expMinus(u *big.Float) *big.Float {
	const halvings = 20
	small := new(big.Float).SetPrec(260).SetMantExp(new(big.Float).SetPrec(260).Set(u), -halvings)
	sum, term := big.NewFloat(1).SetPrec(260), big.NewFloat(1).SetPrec(260)
	for i := range 60 {
		term.Mul(term, small)
		term.Quo(term, big.NewFloat(-float64(i+1)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// The exponential of the test is the exponential.
func TestExpMinus(t *testing.T) {
	for _, u := range []float64{0, 1e-9, 0.3, 1, 7.5, 50} {
		t.Run(fmt.Sprintf("exp(-%g)", u), func(t *testing.T) {
			trialtest.Near(t, "ratio", float(expMinus(big.NewFloat(u)))/math.Exp(-u), 1, 1e-14)
		})
	}
}

// The noise that is drawn has the scale that is stated, in every block, and the
// posterior allows for that noise and for no other.
func TestSumsNoise(t *testing.T) {
	tier.Sequential(t)
	const releases = 3000
	for _, c := range sumCases {
		if c.name != "little noise in B" && c.name != "one inducing input" && c.name != "two inputs" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			plan := planFor(t, c.settings(t))
			source := release.Unbooked(chacha(5))
			first := make([]float64, c.dims+1)
			sum, square, count := make([]float64, 3), make([]float64, 3), make([]float64, 3)
			var r *experiment.Release
			var draws []release.Draw
			for range releases {
				r, draws = traced(t, plan, source, few(c.dims, first))
				for b, d := range draws {
					for k, v := range d.Output {
						z := (v - d.Query[k]) / d.Noise.Scale()
						sum[b], square[b], count[b] = sum[b]+z, square[b]+z*z, count[b]+1
					}
				}
			}
			for b, d := range draws {
				what := d.Noise.Describe().Query
				trialtest.Near(t, what+": mean", sum[b]/count[b], 0, 5/math.Sqrt(count[b]))
				trialtest.Near(t, what+": variance", square[b]/count[b], 1, 5*math.Sqrt(2/count[b]))
				if noise := d.Noise.Describe(); r.Noise[b] != noise {
					t.Errorf("the release says %+v, drawn is %+v", r.Noise[b], noise)
				}
			}
			m := r.Model.(*modelfile.Model).Mechanism
			if a, b := draws[0].Noise.Scale(), draws[1].Noise.Scale(); m.SigmaA != a || m.SigmaB != b {
				t.Errorf("the model allows for %g and %g, drawn are %g and %g", m.SigmaA, m.SigmaB, a, b)
			}
			if len(draws) == 3 {
				trialtest.Near(t, "scale beside the diagonal", draws[2].Noise.Scale()*math.Sqrt2/m.SigmaB, 1, 1e-8)
			}
			if public := Experiment().Values(r.Metrics); public.SigmaA != m.SigmaA || public.Lambda != m.Lambda {
				t.Errorf("%+v, and in the model %+v", public, m)
			}
		})
	}
}

// spendingRows are rows with outputs inside the range from -1 to 1 and beyond it.
func spendingRows() (rows [][]float64) {
	for i := range 150 {
		rows = append(rows, []float64{20 * math.Mod(float64(i)*0.61803, 1), 7 * math.Sin(3*float64(i)),
			2 * math.Sin(7*float64(i))})
	}
	return rows
}

// spendingOf returns the spending of a release of rows by their first d inputs.
func spendingOf(t *testing.T, rows [][]float64, d int, epsilon, delta float64) experiment.Spending {
	t.Helper()
	x, y := mat.NewDense(len(rows), d, nil), make([]float64, len(rows))
	for i, row := range rows {
		x.SetRow(i, row[:d])
		y[i] = row[len(row)-1]
	}
	factor, err := mechanism.SafeFactor(mechanism.Analytic, epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return experiment.Spending{
		Data: dataset.Canonical(x, y), Row: dataset.CanonicalRows(x, y), Rows: len(rows),
		Units: experiment.UnitsOfARow(), Epsilon: epsilon, Delta: delta,
		Losses: []experiment.Loss{{Law: "gaussian", Size: 1 / factor, Times: 1}},
	}
}

// The account of a release is that of the rows as they are in the file, whatever is
// made of them, and what is taken from it is the guarantee.
func TestRegressionSpending(t *testing.T) {
	rows := spendingRows()
	other := spendingRows()
	clipped := slices.IndexFunc(rows, func(row []float64) bool { return row[2] > 1 })
	other[clipped][2] *= 2 // clipped to the same value
	places := "csv:" + writeRows(t, [][]float64{{1, 0, 0}, {2.5, 0, 0}, {4, 0, 0}})
	for _, c := range []struct {
		name           string
		rows           [][]float64
		change         func(*Settings)
		inputs         int
		epsilon, delta float64
	}{
		{"defaults", rows, func(*Settings) {}, 1, 1, 1e-4},
		{"another range", rows, func(s *Settings) { s.Low, s.High = given(-3), given(0) }, 1, 1, 1e-4},
		{
			"another kernel", rows, func(s *Settings) {
				s.Lengthscale, s.KernelVariance = method.LengthscalesOf(2), 3
			},
			1, 1, 1e-4,
		},
		{"other inducing inputs", rows, func(s *Settings) { s.Inducing, s.InputHigh = "4", givenAll(9) }, 1, 1, 1e-4},
		{"another ratio", rows, func(s *Settings) { s.Ratio = 3 }, 1, 1, 1e-4},
		{"another clipped output", other, func(*Settings) {}, 1, 1, 1e-4},
		{"two inputs", rows, func(s *Settings) { s.Inputs, s.Inducing = "a+b", "3" }, 2, 1, 1e-4},
		{"another budget", rows, func(s *Settings) { s.Epsilon, s.Delta = 0.25, 1e-7 }, 1, 0.25, 1e-7},
		{"inducing inputs of a file", rows, func(s *Settings) { s.Inducing = places }, 1, 1, 1e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := planFor(t, rowSettings(writeRows(t, c.rows)), c.change)
			want := spendingOf(t, c.rows, c.inputs, c.epsilon, c.delta)
			if c.name == "inducing inputs of a file" {
				want.Points = places
			}
			want.Size = plan.Spending.Size // see TestSizeOfModel
			if want.Dataset = plan.Spending.Dataset; !strings.HasPrefix(want.Dataset, "csv:") {
				t.Errorf("the spending names the data %q, not the file", want.Dataset)
			}
			if !reflect.DeepEqual(plan.Spending, want) {
				t.Errorf("%+v\nwant %+v", plan.Spending, want)
			}
			if want.Data == want.Row {
				t.Error("outputs and rows have one account")
			}
		})
	}
	if spendingOf(t, rows, 1, 1, 1e-4).Data == spendingOf(t, other, 1, 1, 1e-4).Data {
		t.Error("another output has the same account")
	}
}

// There is to be room for a model before its budget is spent, of one lengthscale or several.
func TestSizeOfModel(t *testing.T) {
	rows := spendingRows()
	for name, change := range map[string]func(*Settings){
		"defaults":   func(*Settings) {},
		"two inputs": func(s *Settings) { s.Inputs, s.Inducing = "a+b", "3" },
		"several lengthscales": func(s *Settings) {
			s.Inputs, s.Inducing, s.Lengthscale = "a+b", "3", method.LengthscalesOf(2, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planFor(t, rowSettings(writeRows(t, rows)), change)
			r, err := plan.With(t.Context(), release.Unbooked(chacha(6)), plan.Private)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.WantSize(t, plan.Spending.Size, r)
		})
	}
}

// The order of a file has no part in a release: it may follow the outputs.
func TestOrderHasNoPart(t *testing.T) {
	rows := spendingRows()
	publish := func(rows [][]float64) (*release.Plan, []byte) {
		plan := planFor(t, rowSettings(writeRows(t, rows)))
		r, err := plan.With(t.Context(), release.Unbooked(chacha(6)), plan.Private)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return plan, text
	}
	plan, want := publish(rows)
	shuffled, sorted, reversed := slices.Clone(rows), slices.Clone(rows), slices.Clone(rows)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	slices.SortFunc(sorted, func(a, b []float64) int { return int(math.Copysign(1, a[2]-b[2])) })
	slices.Reverse(reversed)
	for name, order := range map[string][][]float64{"shuffled": shuffled, "by output": sorted, "reversed": reversed} {
		t.Run(name, func(t *testing.T) {
			again, text := publish(order)
			if !bytes.Equal(text, want) {
				t.Errorf("%s\nwant %s", text, want)
			}
			again.Spending.Dataset = plan.Spending.Dataset // another file
			if !reflect.DeepEqual(again.Spending, plan.Spending) {
				t.Errorf("%+v, want %+v", again.Spending, plan.Spending)
			}
		})
	}
}

package regression

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/privacygp/modelfile"
	"privkern/runner/experiment"
)

// hiddenRow is the row at the sensitive place of [publishes].
const hiddenRow = 5

// outputs are twelve values of a wave.
func outputs() []float64 {
	var y []float64
	for i := range 12 {
		y = append(y, 20+2*math.Sin(0.7*float64(i))+0.3*math.Cos(2.9*float64(i)))
	}
	return y
}

// publishes exports outputs at 0, 1, 2 and so on, past the check of an export.
func publishes(t *testing.T, y []float64, changes ...func(*Settings)) *experiment.Release {
	t.Helper()
	text := "x,y\n"
	for i, v := range y {
		text += fmt.Sprintf("%d,%.6f\n", i, v)
	}
	s := Experiment().With(func(s *Settings) {
		s.Dataset, s.Inputs, s.Output = "csv:"+csv(t, text), "x", "y"
		s.Sensitive, s.Noise, s.Mean = fmt.Sprintf("x:%d", hiddenRow), optimal, number(20)
		s.Resolution = experiment.NumberOr[automatic](0.001)
		known("1.5", 4, 0.01)(s)
		for _, change := range changes {
			change(s)
		}
	})
	r, err := export(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// besides is all that is handed over but the obfuscated outputs, and the numbers in it.
func besides(t *testing.T, r *experiment.Release) (text string, numbers []float64) {
	t.Helper()
	rest := *r
	model := *r.Model.(*modelfile.Model)
	model.Obfuscated = nil
	rest.Model = &model
	raw, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return string(raw), numbers
		}
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := token.(float64); ok {
			numbers = append(numbers, v)
		}
	}
}

// A failed export reports its error without outputs and without values of columns that are not
// handed over; a trial for judging has them.
func TestFailuresOfExportsShowNoValues(t *testing.T) {
	const twice = "time,place,kind,speed,radius\n0,a,car,3,1.25\n0,b,bus,19,1.75\n1,a,car,7,2\n2,b,bus,0,3\n"
	for _, c := range []struct {
		name, sensitive string
		change          func(*Settings)
		judged          string // part of the error for the operator
		exported        string // the whole error for others
	}{
		{"two outputs at a place", "time:1", func(s *Settings) { s.NoiseVariance = 0 }, "the outputs 1.25 and 1.75",
			"noise_variance = 0: two of the rows that are used, 1 and 2, have the same inputs and different outputs, which " +
				"only noise can explain: give a noise_variance above 0"},
		{"a range", "speed > 40 and time < 9", nil, "(speed lies between 0 and 19, time lies between 0 and 2)",
			"sensitive: speed > 40 and time < 9 holds for none of the 4 rows (time lies between 0 and 2): nothing would be " +
				"hidden"},
		{"a range of a column", "speed > 40", nil, "(speed lies between 0 and 19)",
			"sensitive: speed > 40 holds for none of the 4 rows: nothing would be hidden"},
		{"the order of texts", "place > b", nil, "holds texts, such as a, which",
			"sensitive: place > b: the column place holds texts, which have no order: compare it by = or !="},
		{"a text", "place = A", nil, `did you mean "a"?`,
			"sensitive: place = A: no row has this text in the column place; a trial without --export names those that " +
				"there are"},
		{"a level of an input", "kind = cat", func(s *Settings) { s.Inputs = "time+kind[bus|car]" }, `did you mean "car"?`,
			`sensitive: kind = cat: unknown value of kind "cat"; did you mean "car"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Experiment().With(func(s *Settings) {
				s.Dataset, s.Inputs, s.Output, s.Sensitive, s.Folds = "csv:"+csv(t, twice), "time", "radius", c.sensitive, 2
				s.Mean, s.Resolution = number(2), experiment.NumberOr[automatic](1.0)
				known("2", 4, 0.1)(s)
				if c.change != nil {
					c.change(s)
				}
			})
			_, err := run(t.Context(), trialtest.New(t, trialtest.Options{}), s)
			trialtest.Refuses(t, err, c.judged)
			forOthers := trialtest.New(t, trialtest.Options{})
			forOthers.Entropy = strings.NewReader("")
			_, err = export(t.Context(), forOthers, s)
			if err == nil || err.Error() != c.exported {
				t.Errorf("%v; it should say %q", err, c.exported)
			}
		})
	}
}

// The wrong file of places, or the wrong column of tolerances, may be given: a failed export shows
// no value of it.
func TestFailuresOfExportsShowNoPlaces(t *testing.T) {
	rows := "time,radius\n0,1.25\n1,1.75\n2,2\n3,3\n"
	for _, c := range []struct {
		name, places, judged, exported string
		unit                           xiUnit
	}{
		{"a text", "time,keep\n0,0.5\nsecret,0.5\n", `column "time" is "secret", expected a number as in line 2`,
			`column "time" has a value that a release does not show, expected a number as in line 2`, ofPrior},
		{"a text as a tolerance", "time,keep\n0,0.5\n1,secret\n", `column "keep" is "secret", expected a number as in line 2`,
			`column "keep" has a value that a release does not show, expected a number as in line 2`, ofPrior},
		{"a negative tolerance", "time,keep\n0,0.5\n1,-7.25\n",
			"in row 2 (counted from 1) the tolerance keep is -7.25, and no variance is negative",
			"in row 2 (counted from 1) the tolerance keep is negative, and no variance is negative", ofPrior},
		{"a large tolerance", "time,keep\n0,0.5\n1,7.25\n",
			"tolerance in row 2 (counted from 1) of the column keep = 7.25: it must be below 1",
			"tolerance in row 2 (counted from 1) of the column keep: it must be below 1", ofPrior},
		{"a large variance", "time,keep\n0,0.5\n1,7.25\n",
			"tolerance in row 2 (counted from 1) of the column keep = 7.25 is not below the prior variance of the output, 4",
			"tolerance in row 2 (counted from 1) of the column keep is not below the prior variance of the output, 4",
			ofOutput},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Experiment().With(func(s *Settings) {
				s.Dataset, s.Inputs, s.Output, s.Folds = "csv:"+csv(t, rows), "time", "radius", 2
				s.Sensitive, s.XiColumn, s.XiUnit, s.Noise = "csv:"+csv(t, c.places), "keep", c.unit, weak
				s.Mean, s.Resolution = number(2), experiment.NumberOr[automatic](1.0)
				known("2", 4, 0.1)(s)
			})
			_, err := run(t.Context(), trialtest.New(t, trialtest.Options{}), s)
			trialtest.Refuses(t, err, c.judged)
			forOthers := trialtest.New(t, trialtest.Options{})
			forOthers.Entropy = strings.NewReader("")
			_, err = export(t.Context(), forOthers, s)
			trialtest.Refuses(t, err, c.exported)
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "7.25")) {
				t.Errorf("the export shows a value: %v", err)
			}
		})
	}
}

// Except for the obfuscated outputs, an export is the same for all outputs, with every noise: words,
// numbers, metrics and warnings.
func TestExportsDifferInObfuscatedOutputsAlone(t *testing.T) {
	one, two := outputs(), outputs()
	two[hiddenRow] += 7
	three := make([]float64, len(one)) // of another size, shape and last digit
	for i := range three {
		three[i] = float64(1000*(i%3)) + 0.1 + 0.001*float64(i)
	}
	for _, m := range []noiseMethod{optimal, weak, strong, diagonal, equal, uniform} {
		t.Run(m.String(), func(t *testing.T) {
			set := func(s *Settings) { s.Noise = m }
			want, _ := besides(t, publishes(t, one, set))
			for _, y := range [][]float64{two, three} {
				if got, _ := besides(t, publishes(t, y, set)); got != want {
					t.Errorf("the outputs show beside the obfuscated ones:\n%s\n%s", got, want)
				}
			}
		})
	}
}

// readersVariance is the predictive variance at the sensitive place of a reader who uses
// every number of an export, over the prior variance: the obfuscated outputs, with their
// noise, and each other number as a linear functional of the outputs without noise, whose
// coefficients are differences.
func readersVariance(t *testing.T, changes ...func(*Settings)) float64 {
	t.Helper()
	const change = 1e-3
	y := outputs()
	n := len(y)
	r := publishes(t, y, changes...)
	file := r.Model.(*modelfile.Model)
	_, numbers := besides(t, r)
	slopes := mat.NewDense(len(numbers), n, nil)
	for i := range y {
		moved := outputs()
		moved[i] += change
		_, got := besides(t, publishes(t, moved, changes...))
		if len(got) != len(numbers) {
			t.Fatalf("%d numbers, and %d after a change of an output", len(numbers), len(got))
		}
		for k := range numbers {
			slopes.Set(k, i, (got[k]-numbers[k])/change)
		}
	}
	// The functionals that are known: W, and those that do not stand still, at length 1.
	functionals, noise := mat.NewDense(n, n, nil), [][]float64{}
	for i := range n {
		functionals.Set(i, i, 1)
		noise = append(noise, file.Covariance[i])
	}
	for k := range numbers {
		row := mat.NewDense(1, n, mat.Row(nil, k, slopes))
		if length := mat.Norm(row, 2); length > 1e-9 {
			row.Scale(1/length, row)
			var grown mat.Dense
			grown.Stack(functionals, row)
			functionals = &grown
		}
	}
	kernel := func(a, b float64) float64 {
		d := (a - b) / file.Kernel.Lengthscales[0]
		return file.Kernel.Variance * math.Exp(-d*d/2)
	}
	prior, cross := mat.NewDense(n, n, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		cross.Set(i, 0, kernel(file.X[i][0], file.X[hiddenRow][0]))
		for j := range n {
			prior.Set(i, j, kernel(file.X[i][0], file.X[j][0]))
		}
		prior.Set(i, i, prior.At(i, i)+file.Noise)
	}
	var half, known, seen, weights mat.Dense
	half.Mul(functionals, prior)
	known.Mul(&half, functionals.T())
	total, _ := known.Dims()
	for i := range total {
		// Rounding of differences; without it functionals that depend on each other are singular.
		known.Set(i, i, known.At(i, i)+1e-6)
		for j := range n {
			if i < n {
				known.Set(i, j, known.At(i, j)+noise[i][j])
			}
		}
	}
	seen.Mul(functionals, cross)
	if err := weights.Solve(&known, &seen); err != nil {
		t.Fatal(err)
	}
	explained := mat.Dot(seen.ColView(0), weights.ColView(0))
	return 1 - explained/file.Kernel.Variance
}

// A reader who uses every number of an export keeps the variance at the sensitive place. The numbers
// that an export refuses would remove it, or most of it.
func TestReaderOfAllNumbersKeepsTheVariance(t *testing.T) {
	if got := readersVariance(t); got < 0.5*(1-1e-5) || got > 0.51 {
		t.Errorf("a variance of %g of the prior one is left, want 0.5", got)
	}
	for name, change := range map[string]func(*Settings){
		"mean":            func(s *Settings) { s.Mean = trialtest.WordOr[float64](byLikelihood) },
		"resolution":      func(s *Settings) { s.Resolution = trialtest.WordOr[float64](auto) },
		"hyperparameters": func(s *Settings) { s.Hyperparameters = estimated },
	} {
		public := func(s *Settings) {
			s.Hyperparameters, s.Mean, s.Resolution = given, number(20), experiment.NumberOr[automatic](0.001)
		}
		if got := Experiment().With(public, change).estimates(); len(got) != 1 || !strings.HasPrefix(got[0], name+" = ") {
			t.Errorf("%s of the outputs: %q are named as estimates", name, got)
		}
		got := readersVariance(t, change)
		t.Logf("%s of the outputs: %g of the prior variance is left", name, got)
		if got > 0.25 {
			t.Errorf("%s of the outputs leaves %g: this test sees nothing", name, got)
		}
	}
}

package har

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
)

// short are the first 700 samples of recording 1 of UCI HAPT (CC BY 4.0), with a label of
// some of them.
const short = "testdata/hapt"

// formulaSignal is formula_signal of testdata/reference.py: a walk of sines with noise.
func formulaSignal(n int) *readers.Recording {
	r := new(readers.Recording)
	noise := func(t, axis int) float64 { return math.Sin(12.9898*float64(t*t) + 78.233*float64(axis)) }
	for axis, rest := range []float64{.9, -.3, .2} {
		for i := range n {
			t, a := float64(i)/Rate, float64(axis)
			r.Acceleration[axis] = append(r.Acceleration[axis],
				rest+.3*math.Sin(2*math.Pi*1.9*t+a)+.1*math.Sin(2*math.Pi*5.7*t+2*a)+.05*noise(i, axis))
			r.Rotation[axis] = append(r.Rotation[axis],
				.8*math.Cos(2*math.Pi*1.9*t+a)+.2*math.Sin(2*math.Pi*.1*t)+.1*noise(n-1-i, axis))
		}
	}
	return r
}

// reference reads testdata/reference.csv (561×4), which SciPy computed.
func reference(t *testing.T) *mat.Dense {
	t.Helper()
	f, err := os.Open("testdata/reference.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := mat.NewDense(len(lines), len(lines[0]), nil)
	for i, line := range lines {
		for j, field := range line {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			out.Set(i, j, v)
		}
	}
	return out
}

func TestFeaturesAreThoseOfSciPy(t *testing.T) {
	want := reference(t)
	real, err := readers.LoadHAPTRecording(short, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		recording *readers.Recording
		start     int
		column    int
	}{
		{"standing", real, 249, 0},
		{"standing, later", real, 569, 1},
		{"formula", formulaSignal(400), 100, 2},
		{"formula, later", formulaSignal(400), 164, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Features(c.recording, []int{c.start})
			if n, d := got.Dims(); n != 1 || d != readers.HARFeatures {
				t.Fatalf("%d×%d features", n, d)
			}
			for j := range readers.HARFeatures {
				g, w := got.At(0, j), want.At(j, c.column)
				// The filter at 0.3 Hz, whose poles are near 1, costs digits.
				if !(math.Abs(g-w) <= 1e-8*math.Abs(w)+1e-11) {
					t.Errorf("feature %d is %.15g, want %.15g", j+1, g, w)
				}
			}
		})
	}
	if !Features(real, nil).IsEmpty() {
		t.Error("no windows have features")
	}
}

// A recording in which nothing moves has features that are numbers.
func TestFeaturesOfRest(t *testing.T) {
	r := new(readers.Recording)
	for axis := range 3 {
		r.Acceleration[axis], r.Rotation[axis] = make([]float64, 200), make([]float64, 200)
	}
	for j, v := range Features(r, []int{64}).RawRowView(0) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("feature %d is %g", j+1, v)
		}
	}
}

// The wanted values are SciPy 1.17.1's butter, lfilter with lfilter_zi, and medfilt.
func TestFilters(t *testing.T) {
	near := func(t *testing.T, got, want []float64, tolerance float64) {
		t.Helper()
		for i, w := range want {
			if math.Abs(got[i]-w) > tolerance*math.Abs(w) {
				t.Errorf("%d: %.17g, want %.17g", i, got[i], w)
			}
		}
	}
	x := []float64{1, 4, 2, 8, 5, 7, 1, 1, 3, 3, 9}
	for _, c := range []struct {
		name      string
		filter    lowPass
		b, a, out []float64
	}{
		{"20 Hz", noiseFilter, []float64{.5276243825019432, 1.5828731475058295, 1.5828731475058295, .5276243825019432},
			[]float64{1, 1.7600418803431688, 1.1828932620378303, .2780599176345463},
			[]float64{1, 2.58287314750583, 3.490320794138561, 4.769424393518337, 7.336093795460208, 5.801899750529618,
				3.527508991749415, .7172661578467955, 1.3936292579934935, 4.159836095385266, 5.60403933898093}},
		{"0.3 Hz", gravityFilter,
			[]float64{6.4518491290909294e-06, 1.9355547387272787e-05, 1.9355547387272787e-05, 6.4518491290909294e-06},
			[]float64{1, -2.9246062354506974, 2.852027818593894, -.9273699683501638},
			[]float64{1.000000000000006, 1.0000193555473929, 1.0001211258458746, 1.0004216279779692, 1.0011055986077988,
				1.0024013482970269, 1.0044995237596939, 1.0074778627256682, 1.0113155901095066, 1.0159909108744856,
				1.0215585221797496}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.filter
			near(t, f.b[:], c.b, 1e-9)
			near(t, f.a[:], c.a, 1e-14)
			near(t, f.apply(x), c.out, 1e-10)
		})
	}
	if got, want := median3(x), []float64{1, 2, 4, 5, 7, 5, 1, 1, 3, 3, 3}; !slices.Equal(got, want) {
		t.Errorf("medians %v, want %v", got, want)
	}
}

// A sine of a whole number of periods in a window has one magnitude, in the bin of that
// number, and its energy in the bands that hold the bin.
func TestSpectrumOfASine(t *testing.T) {
	const periods = 10
	x := make([]float64, Samples)
	for i := range x {
		x[i] = 3*math.Cos(2*math.Pi*periods*float64(i)/Samples) + 7
	}
	p := spectrum(fourier.NewFFT(Samples), x)
	if at := strongest(p); len(p) != bins || at != periods-1 || math.Abs(p[periods-1]-3) > 1e-12 {
		t.Errorf("%d bins, the strongest is %g with %g", len(p), at, p[int(at)])
	}
	if f, want := meanFrequency(p), (periods-1.)*Rate/Samples; math.Abs(f-want) > 1e-10 {
		t.Errorf("mean frequency %g Hz, want %g", f, want)
	}
	for _, band := range bands {
		want := 0.0
		if band[0] < periods && periods <= band[1] {
			want = 9
		}
		if e := bandEnergy(p, band); math.Abs(e-want) > 1e-10 {
			t.Errorf("the band %v has energy %g, want %g", band, e, want)
		}
	}
}

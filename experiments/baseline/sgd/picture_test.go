package sgd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/internal/baselinetest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// stripes is a table of pictures of 6×4 pixels in [0, 9], of lying (u) and standing (v) stripes at places that a class
// does not depend on, and its settings.
func stripes(t testing.TB, n int, set func(*ClassificationSettings)) func(*ClassificationSettings) {
	rng := rand.New(rand.NewPCG(7, 8))
	var names []string
	for i := range 24 {
		names = append(names, fmt.Sprintf("p%d", i))
	}
	var rows [][]string
	for range n {
		class, at := rng.IntN(2), rng.IntN(2)
		var row []string
		for i := range 24 {
			on := ([]int{i / 6, i % 6}[class] + at) % 2
			row = append(row, fmt.Sprint(7*on+rng.IntN(3)))
		}
		rows = append(rows, append(row, string("uv"[class])))
	}
	table := baselinetest.Table(t, strings.Join(names, ",")+",k", rows)
	return func(s *ClassificationSettings) {
		data(&s.Data, table, "k[u|v|w]", 30)
		s.Inputs, s.Features, s.Picture, s.Steps = strings.Join(names, "+"), Scattering, "6x4", 20
		s.InputLow = method.Ends{Numbers: experiment.Several{0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{9}}
		set(s)
	}
}

// Waves tell apart stripes that may be anywhere, which no linear function of pixels does.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name        string
		features    Kind
		least, most float64
	}{{"features", Scattering, .95, 1}, {"pixels", Inputs, 0, .8}} {
		m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(), stripes(t, 400,
			func(s *ClassificationSettings) { s.Features = c.features })).Metrics
		if m.Accuracy < c.least || m.Accuracy > c.most {
			t.Errorf("%s: accuracy %g", c.name, m.Accuracy)
		}
	}
}

func TestPicturesReleased(t *testing.T) {
	at := mat.NewDense(2, 24, nil)
	for i := range 24 {
		at.Set(0, i, float64(9*(i/6%2)))
		at.Set(1, i, float64(9*(i%6%2)))
	}
	for _, hidden := range []int{0, 4} {
		p := baselinetest.Released(t, Classification, PredictClassification, stripes(t, 150,
			func(s *ClassificationSettings) { s.Hidden = hidden }), at)
		if !slices.Equal(p.Labels, []string{"u", "v"}) {
			t.Errorf("%d hidden units: classes %v, want u, v", hidden, p.Labels)
		}
	}
	most := baselinetest.Neighbours(t, Classification, stripes(t, 12, func(s *ClassificationSettings) {
		s.Epsilon, s.Steps = 1, 3
	}), func(row []float64, rng *rand.Rand) {
		for i := range 24 {
			row[i] = float64(rng.IntN(12) - 1)
		}
		row[24] = float64(rng.IntN(3))
	})
	if len(most) != 3 || most[0] < .6 {
		t.Errorf("the queries move by %v of their sensitivity", most)
	}
}

// blocks is a table of pictures of 14×14 pixels with a square above (u) or below (v), and its settings.
func blocks(t testing.TB, n int, set func(*ClassificationSettings)) func(*ClassificationSettings) {
	const width, all = 14, 14 * 14
	rng := rand.New(rand.NewPCG(9, 8))
	var names []string
	for i := range all {
		names = append(names, fmt.Sprintf("p%d", i))
	}
	var rows [][]string
	for range n {
		class, at := rng.IntN(2), rng.IntN(8)
		row := make([]string, all, all+1)
		for i := range row {
			if y, x := i/width-7*class, i%width-at; y >= 1 && y < 6 && x >= 0 && x < 5 {
				row[i] = fmt.Sprint(6 + rng.IntN(3))
			} else {
				row[i] = fmt.Sprint(rng.IntN(3))
			}
		}
		rows = append(rows, append(row, string("uv"[class])))
	}
	table := baselinetest.Table(t, strings.Join(names, ",")+",k", rows)
	return func(s *ClassificationSettings) {
		data(&s.Data, table, "k[u|v]", 200)
		s.Inputs, s.Features, s.Picture = strings.Join(names, "+"), Convolution, "14x14"
		s.Steps, s.LearningRate = 15, experiment.Or[Auto, float64]{Number: 40}
		s.InputLow = method.Ends{Numbers: experiment.Several{0}}
		s.InputHigh = method.Ends{Numbers: experiment.Several{9}}
		set(s)
	}
}

// Filters are learnt, judged and released.
func TestConvolution(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{Workers: 2}, Classification.Experiment(), blocks(t, 120,
		func(*ClassificationSettings) {})).Metrics
	if m.Accuracy < .95 {
		t.Errorf("accuracy %g", m.Accuracy)
	}
	at := mat.NewDense(2, 14*14, nil)
	for i := range 25 {
		at.Set(0, (2+i/5)*14+4+i%5, 8)
		at.Set(1, (9+i/5)*14+4+i%5, 8)
	}
	p := baselinetest.Released(t, Classification, PredictClassification, blocks(t, 40,
		func(s *ClassificationSettings) { s.Epsilon = 1000 }), at)
	if !slices.Equal(p.Labels, []string{"u", "v"}) {
		t.Errorf("classes %v, want u, v", p.Labels)
	}
	most := baselinetest.Neighbours(t, Classification, blocks(t, 4, func(s *ClassificationSettings) {
		s.Epsilon, s.Steps = 1, 1
	}), func(row []float64, rng *rand.Rand) {
		for i := range 14 * 14 {
			row[i] = float64(rng.IntN(12) - 1)
		}
		row[14*14] = float64(rng.IntN(2))
	})
	if len(most) != 1 || most[0] < .5 {
		t.Errorf("the queries move by %v of their sensitivity", most)
	}
}

// Some rows are those of their numbers, whether they follow each other or not.
func TestSome(t *testing.T) {
	e := &examples{algorithm: &algorithm{network: network{inputs: 1}},
		x: mat.NewDense(5, 2, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), targets: []float64{0, 10, 20, 30, 40}}
	for _, rows := range [][]int{{1, 2, 3}, {0, 2, 4}, {1, 3}, {3}} {
		x, targets := e.some(rows)
		for i, row := range rows {
			if x.At(i, 0) != float64(2*row) || targets[i] != float64(10*row) || len(targets) != len(rows) {
				t.Errorf("rows %v: row %d is %v, and its target %g", rows, i, x.RawRowView(i), targets[i])
			}
		}
	}
}

func TestPictureRefused(t *testing.T) {
	for _, c := range []struct{ picture, want string }{
		{"6", "width and height"}, {"6xa", "width and height"}, {"3x8", "from 4 to 128"}, {"129x4", "from 4 to 128"},
		{"13x20", "from 14 to 128"},
	} {
		s := Pictures{Features: Scattering, Picture: c.picture}
		if c.picture == "13x20" {
			s.Features = Convolution
		}
		if _, err := s.size(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("picture=%s: error %v, want one with %q", c.picture, err, c.want)
		}
	}
	_, err := trialtest.Try(t, trialtest.Options{}, Classification.Experiment(),
		stripes(t, 12, func(s *ClassificationSettings) {
			s.Picture = "5x4"
		}))
	if err == nil || !strings.Contains(err.Error(), "it has 20 pixels, and there are 24 inputs") {
		t.Errorf("error %v", err)
	}
}

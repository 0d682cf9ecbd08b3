package sgd

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// drawn are images of bars, whose place follows from the digit, with noise.
func drawn(count int, seed uint64) readers.Images {
	rng := rand.New(rand.NewPCG(seed, 5))
	im := readers.Images{Rows: side, Cols: side, Pixels: make([]byte, count*pixels), Labels: make([]byte, count)}
	for i := range count {
		digit := i % digits
		im.Labels[i] = byte(digit)
		for j := range pixels {
			v := rng.IntN(60)
			if along := []int{j % side, j / side}[digit/5]; along/5 == digit%5 {
				v += 150
			}
			im.Pixels[i*pixels+j] = byte(v)
		}
	}
	return im
}

// Digits are learnt with noise; and without it nearly all are.
func TestDigits(t *testing.T) {
	files := &readers.MNIST{Train: drawn(200, 1), Test: drawn(50, 2)}
	for _, c := range []struct {
		name     string
		features Kind
		epsilon  float64
		least    float64
	}{{"features", Scattering, 20, .9}, {"pixels", Inputs, 20, .9}, {"without noise", Inputs, math.Inf(1), .99}} {
		t.Run(c.name, func(t *testing.T) {
			s := DigitsSettings{Train: 200, Features: c.features, Neighbours: ground.AddRemove}
			s.Epsilon, s.Delta, s.Steps, s.Rate = c.epsilon, 1e-5, 20, 1
			s.Clip, s.LearningRate = experiment.Or[Auto, float64]{IsWord: true}, experiment.Or[Auto, float64]{IsWord: true}
			out, err := s.judge(t.Context(), trialtest.New(t, trialtest.Options{Workers: 2}), files)
			if err != nil {
				t.Fatal(err)
			}
			m := out.Metrics
			if m.Accuracy < c.least || m.AccuracyChance != .1 {
				t.Errorf("accuracy %g, of the most frequent digit %g", m.Accuracy, m.AccuracyChance)
			}
			if math.IsInf(c.epsilon, 1) {
				if out.Privacy != nil {
					t.Errorf("without noise: %+v", out.Privacy)
				}
			} else if p := out.Privacy; p.Simulated.Neighbours != "add-remove" || !strings.Contains(p.Unit, "removed") {
				t.Errorf("%+v", p)
			}
		})
	}
}

// An image is in [-1, 1], and its features are as many as the memory counts.
func TestImages(t *testing.T) {
	im := readers.Images{Rows: side, Cols: side, Pixels: make([]byte, 2*pixels), Labels: []byte{3, 4}}
	im.Pixels[pixels+1] = 255
	p := images(&im, 2)
	if p.X.At(0, 0) != -1 || p.X.At(1, 1) != 1 || p.Labels[1] != 4 {
		t.Errorf("%g, %g, labels %v", p.X.At(0, 0), p.X.At(1, 1), p.Labels)
	}
	few, many := DigitsSettings{Train: 1000, Features: Scattering}, DigitsSettings{Train: 60000, Features: Scattering}
	if got := many.memory() - few.memory(); got != 59000*3*8*(81*49+1) {
		t.Errorf("59,000 images more take %d bytes", got)
	}
}

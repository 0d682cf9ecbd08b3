package readers

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

func TestLoadMNISTChecksTheNumberOfImages(t *testing.T) {
	folder := t.TempDir()
	filetest.WriteFile(t, filetest.Gzipped(t, idx([]uint32{0x803, 1, 1, 1}, 7)), folder, "train-images-idx3-ubyte.gz")
	filetest.WriteFile(t, filetest.Gzipped(t, idx([]uint32{0x801, 1}, 3)), folder, "train-labels-idx1-ubyte.gz")
	_, err := LoadMNIST(folder)
	filetest.MustFail(t, err, "train-images-idx3-ubyte.gz: 1 images of 1×1; MNIST has 60000 of 28×28 there")
}

func TestLoadMNIST(t *testing.T) {
	m, err := LoadMNIST(realData(t, "mnist", "."))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		images *Images
		counts []int // of the labels 0, 1, ...
		mean   float64
	}{
		{"train", &m.Train, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, 0.1307},
		{"test", &m.Test, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}, 0.1325},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts := make([]int, 10)
			for _, label := range c.images.Labels {
				counts[label]++
			}
			if !slices.Equal(counts, c.counts) {
				t.Errorf("the labels count %v, want %v", counts, c.counts)
			}
			sum := 0
			for _, p := range c.images.Pixels {
				sum += int(p)
			}
			if mean := float64(sum) / 255 / float64(len(c.images.Pixels)); math.Abs(mean-c.mean) > 5e-5 {
				t.Errorf("the mean pixel is %.5f, want %.4f", mean, c.mean)
			}
		})
	}
}

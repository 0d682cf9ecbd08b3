// Package digits makes a problem of two classes of the images of MNIST: the digits 0
// to 4 against 5 to 9, in 15×15 grey levels (Smith, Álvarez and Lawrence 2019, Section
// 5.6).
package digits

import (
	"math/rand/v2"
	"sync"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/mat"
)

// side is that of the down-sampled images.
const side = 15

// loaded are the images for the next trial of the process: reading them takes
// longer than a trial.
var loaded struct {
	sync.Mutex
	folder string
	images *readers.MNIST
}

// Load reads the images from the folder of the set "mnist", and keeps the last ones.
func Load(folder string) (*readers.MNIST, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.images == nil || loaded.folder != folder {
		images, err := readers.LoadMNIST(folder)
		if err != nil {
			return nil, err
		}
		loaded.folder, loaded.images = folder, images
	}
	return loaded.images, nil
}

// Keep makes images those of a folder that [Load] returns, for tests.
func Keep(folder string, images *readers.MNIST) {
	loaded.Lock()
	defer loaded.Unlock()
	loaded.folder, loaded.images = folder, images
}

// Draw draws n different images, down-sampled (n×225, grey levels from 0
// to 255), and their classes: −1 for the digits 0 to 4, +1 for 5 to 9.
func Draw(images *readers.Images, n int, rng *rand.Rand) (inputs *mat.Dense, labels []float64) {
	inputs, labels = mat.NewDense(n, side*side, nil), make([]float64, n)
	for i, row := range rng.Perm(images.Len())[:n] {
		downSample(images.Image(row), images.Rows, images.Cols, inputs.RawRowView(i))
		labels[i] = -1
		if images.Labels[row] >= 5 {
			labels[i] = 1
		}
	}
	return inputs, labels
}

// downSample averages an image over the areas of side×side equal
// rectangles; pixels that lie in two of them count for each by their share.
func downSample(pixels []byte, rows, cols int, out []float64) {
	clear(out)
	for i := range rows {
		for j := range cols {
			v := float64(pixels[i*cols+j])
			if v == 0 {
				continue
			}
			for _, a := range shares(i, rows) {
				for _, b := range shares(j, cols) {
					out[a.index*side+b.index] += v * a.share * b.share
				}
			}
		}
	}
}

// share is the part of a rectangle's side that a pixel covers.
type share struct {
	index int
	share float64
}

// shares returns the rectangles that pixel i of n lies in along one side. n is
// at least side, so that there are at most two.
func shares(i, n int) []share {
	length := float64(n) / side
	first := min(int(float64(i)/length), side-1)
	edge := float64(first+1) * length
	if float64(i+1) <= edge || first == side-1 {
		return []share{{first, 1 / length}}
	}
	return []share{{first, (edge - float64(i)) / length}, {first + 1, (float64(i+1) - edge) / length}}
}

package readers

import (
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/mat"
)

// Images are equally large grey-scale pictures with labels, in the order of
// the file.
type Images struct {
	Rows, Cols int
	Pixels     []byte // n × Rows·Cols, row by row, 0 (background) to 255
	Labels     []byte // n; nil where only the images were read
}

// Len is the number of images.
func (im *Images) Len() int {
	if im.Rows*im.Cols == 0 {
		return 0
	}
	return len(im.Pixels) / (im.Rows * im.Cols)
}

// Image returns the pixels of image i, row by row. They are those of im, not a
// copy.
func (im *Images) Image(i int) []byte {
	size := im.Rows * im.Cols
	return im.Pixels[i*size : (i+1)*size : (i+1)*size]
}

// Matrix returns the given images, one per row, with pixels divided by 255:
// len(rows) × Rows·Cols, each element in [0, 1]. It is empty without rows.
func (im *Images) Matrix(rows []int) *mat.Dense {
	if len(rows) == 0 {
		return new(mat.Dense)
	}
	m := mat.NewDense(len(rows), im.Rows*im.Cols, nil)
	for i, row := range rows {
		to := m.RawRowView(i)
		for j, pixel := range im.Image(row) {
			to[j] = float64(pixel) / 255
		}
	}
	return m
}

// MNIST is the data set of handwritten digits.
type MNIST struct {
	Train Images // 60000 of 28×28
	Test  Images // 10000 of 28×28
}

// Numbers of training and of test images.
const (
	MNISTTrain = 60000
	MNISTTest  = 10000
)

const mnistSide = 28

// LoadMNIST reads the four files from the folder of the set "mnist" and checks
// the numbers and sizes of the images.
func LoadMNIST(folder string) (*MNIST, error) {
	m := new(MNIST)
	for _, part := range []struct {
		name string
		want int
		to   *Images
	}{{"train", MNISTTrain, &m.Train}, {"t10k", MNISTTest, &m.Test}} {
		path := filepath.Join(folder, part.name+"-images-idx3-ubyte.gz")
		images, err := loadImages(path, filepath.Join(folder, part.name+"-labels-idx1-ubyte.gz"))
		if err != nil {
			return nil, fmt.Errorf("MNIST: %w", err)
		}
		if images.Len() != part.want || images.Rows != mnistSide || images.Cols != mnistSide {
			return nil, fmt.Errorf("%s: %d images of %d×%d; MNIST has %d of %d×%d there",
				path, images.Len(), images.Rows, images.Cols, part.want, mnistSide, mnistSide)
		}
		*part.to = *images
	}
	return m, nil
}

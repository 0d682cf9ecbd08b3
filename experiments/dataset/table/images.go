package table

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // formats that are decoded
	_ "image/jpeg"
	_ "image/png"
	"io"
	"iter"
	"math"
	"path/filepath"
	"strconv"

	"privkern/experiments/dataset"
)

// Bounds on a picture, by its header, before it is decoded: a file of a few bytes may announce
// any size. Within them the decoders of the standard library take up to 1.1 GB, of progressive
// JPEGs of four colours.
const (
	MaxPixels = 1 << 25
	// MaxSide is that of a JPEG. A decoder of PNG keeps two rows besides the picture.
	MaxSide = 1<<16 - 1
)

// imageReader reads a folder of pictures, a row each: p1, p2, ..., row by row from the top,
// grey from 0 (black) to 1 (white), and their class.
type imageReader struct {
	folder, shown string
	pictures      []dataset.Picture
	width, height int
	names         []string
	wanted        []int
	texts         []bool
	row           int       // from 0
	pixels        []float64 // of the current row
}

func openImages(name, path, shown string) (reader, error) {
	r := &imageReader{folder: path, shown: shown, row: -1}
	var err error
	if r.width, r.height, err = dataset.SizeOfPictures(name); err != nil {
		return nil, err
	}
	if r.pictures, err = dataset.ListPictures(path, shown); err != nil {
		return nil, err
	}
	for j := range r.width * r.height {
		r.names = append(r.names, "p"+strconv.Itoa(j+1))
	}
	if r.pictures[0].Class != "" {
		r.names = append(r.names, labelColumn)
	}
	return r, nil
}

func (r *imageReader) header() ([]string, func(int) place) {
	return r.names, func(int) place { return place{} }
}

func (r *imageReader) want(columns []int, texts []bool) error {
	r.wanted, r.texts = columns, texts
	return nil
}

func (r *imageReader) next() (err error) {
	if r.row++; r.row >= len(r.pictures) {
		return io.EOF
	}
	path := r.pictures[r.row].Path()
	if r.pixels, err = readPicture(filepath.Join(r.folder, path), filepath.Join(r.shown, path), r.width,
		r.height); err != nil {
		return err
	}
	return nil
}

func (r *imageReader) cell(i int) cell {
	if j := r.wanted[i]; j < len(r.pixels) {
		c := cell{kind: number, value: r.pixels[j]}
		if r.texts[i] {
			c = c.asText()
		}
		return c
	}
	return cell{kind: word, text: r.pictures[r.row].Class}
}

func (r *imageReader) place(int) place { return place{row: r.row + 1} }

func (r *imageReader) estimate() (int, error) { return len(r.pictures), nil }

func (r *imageReader) close() {}

// readPicture decodes a picture and brings it to a size.
func readPicture(path, shown string, width, height int) ([]float64, error) {
	f, err := openFile(path, shown)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	pixels, err := decodePicture(f, width, height)
	if err != nil {
		return nil, &Error{Path: shown, Err: err}
	}
	return pixels, nil
}

func decodePicture(f io.ReadSeeker, width, height int) (pixels []float64, err error) {
	config, _, err := image.DecodeConfig(f)
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil, errors.New("it is no PNG, JPEG or GIF")
	case err != nil:
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	case config.Width < 1 || config.Height < 1:
		return nil, errors.New("the picture has no pixels")
	case config.Width > MaxPixels/config.Height || max(config.Width, config.Height) > MaxSide:
		return nil, fmt.Errorf("the picture has %d×%d pixels; at most %d are read, and %d of a side; make it smaller",
			config.Width, config.Height, MaxPixels, MaxSide)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	picture, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	points, ok := picture.(image.RGBA64Image)
	if !ok {
		return nil, fmt.Errorf("the picture cannot be read: its pixels are %T", picture)
	}
	return resize(points, width, height), nil
}

// resize scales a picture: a new pixel is the mean luma of the area that it covers of the picture,
// whose width and height are stretched to the new ones, rounded to 16 bits. It takes memory for the
// new pixels and one row of them alone.
func resize(picture image.RGBA64Image, width, height int) []float64 {
	b := picture.Bounds()
	out := make([]float64, width*height)
	line := make([]float64, width)
	for y := range b.Dy() {
		clear(line)
		for x := range b.Dx() {
			v := luma(picture.RGBA64At(b.Min.X+x, b.Min.Y+y))
			for to, share := range covering(x, b.Dx(), width) {
				line[to] += share * v
			}
		}
		for to, share := range covering(y, b.Dy(), height) {
			for x, v := range line {
				out[to*width+x] += share * v
			}
		}
	}
	for i, v := range out {
		out[i] = math.Round(v*0xffff) / 0xffff // shares add up to 1 but for rounding
	}
	return out
}

// luma of ITU-R BT.601, from 0 to 1, of a colour over black.
func luma(c color.RGBA64) float64 {
	return (299*float64(c.R) + 587*float64(c.G) + 114*float64(c.B)) / (1000 * 0xffff)
}

// covering are those of n new pixels, in one direction, that cover a part of one of the old
// pixels, with the share that it has of each.
func covering(from, old, n int) iter.Seq2[int, float64] {
	return func(yield func(to int, share float64) bool) {
		// In units of 1/n of an old pixel the old is [from·n, (from+1)·n), and the new is
		// [to·old, (to+1)·old).
		for to := from * n / old; to < n && to*old < (from+1)*n; to++ {
			low, high := max(from*n, to*old), min((from+1)*n, (to+1)*old)
			if high > low && !yield(to, float64(high-low)/float64(old)) {
				return
			}
		}
	}
}

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
	"math"
	"path/filepath"
	"strconv"

	"privkern/experiments/dataset"
)

// MaxPixels bounds a picture before it is decoded, in pixels: a file of a few bytes may
// announce any size.
const MaxPixels = 1 << 25

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
	case config.Width > MaxPixels/config.Height:
		return nil, fmt.Errorf("the picture has %d×%d pixels; at most %d are read", config.Width, config.Height, MaxPixels)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	picture, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	return resize(picture, width, height), nil
}

// resize brings a picture to a size: a pixel is the mean of the luma of what it covers of
// the picture, whose width and height are stretched to the new ones, rounded to 16 bits.
func resize(picture image.Image, width, height int) []float64 {
	b := picture.Bounds()
	columns, rows := covered(b.Dx(), width), covered(b.Dy(), height)
	out := make([]float64, width*height)
	line := make([]float64, width)
	source := make([]float64, b.Dx())
	for y, parts := 0, rows; y < b.Dy(); y++ {
		for x := range source {
			source[x] = luma(picture.At(b.Min.X+x, b.Min.Y+y))
		}
		clear(line)
		for _, p := range columns {
			line[p.to] += p.share * source[p.from]
		}
		for ; len(parts) > 0 && parts[0].from == y; parts = parts[1:] {
			for x, v := range line {
				out[parts[0].to*width+x] += parts[0].share * v
			}
		}
	}
	for i, v := range out {
		out[i] = math.Round(v*0xffff) / 0xffff // shares add up to 1 but for rounding
	}
	return out
}

// luma of ITU-R BT.601, from 0 to 1, of a colour over black.
func luma(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	return (299*float64(r) + 587*float64(g) + 114*float64(b)) / (1000 * 0xffff)
}

// part is the share that one of the old pixels has of a new one.
type part struct {
	from, to int
	share    float64
}

// covered are the parts of n new pixels over old ones, in one direction, by the old.
func covered(old, n int) []part {
	var out []part
	for from := range old {
		// In units of 1/n of an old pixel the old is [from·n, (from+1)·n), and the new is
		// [to·old, (to+1)·old).
		for to := from * n / old; to < n && to*old < (from+1)*n; to++ {
			low, high := max(from*n, to*old), min((from+1)*n, (to+1)*old)
			if high > low {
				out = append(out, part{from: from, to: to, share: float64(high-low) / float64(old)})
			}
		}
	}
	return out
}

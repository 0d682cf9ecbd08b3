package readers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Freiburg is one official split of the Freiburg Groceries images.
type Freiburg struct {
	Classes     []string // name of class 0, 1, ...
	Train, Test LabelledFeatures
}

// LabelledFeatures are the features of images and their classes.
type LabelledFeatures struct {
	Features *mat.Dense // n × d, one image per row
	Labels   []int      // n, class of each image, from 0
	Images   []string   // n, path of each image as in the split lists
}

// FreiburgSplits is the number of official splits, which are numbered from 0.
const FreiburgSplits = 5

// The files of the set "freiburg-features".
const (
	FreiburgFeaturesFile     = "features.npy"
	FreiburgFeatureNamesFile = "images.txt"
)

// LoadFreiburg reads a split, 0 to 4, from the folder of the set "freiburg" and
// the features of its images from the folder of the set "freiburg-features":
// features.npy, a NumPy array of float32 or float64 in C order with one row of
// finite numbers per image, and images.txt, which names the image of each row
// as the split lists do, one per line. Features of other images are passed
// over.
//
// Images come in the order of the split's lists. A training list repeats images
// until all classes have as many lines; here each image comes once.
func LoadFreiburg(splitsFolder, featuresFolder string, split int) (*Freiburg, error) {
	if split < 0 || split >= FreiburgSplits {
		return nil, fmt.Errorf("split %d of the Freiburg Groceries; there are 0 to %d", split, FreiburgSplits-1)
	}
	f := new(Freiburg)
	err := readFile(filepath.Join(splitsFolder, "classid.txt"), func(r io.Reader) (err error) {
		f.Classes, err = readClasses(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	parts := []struct {
		list string
		to   *LabelledFeatures
	}{{"test", &f.Test}, {"train", &f.Train}}
	wanted := map[string]bool{}
	for _, part := range parts {
		path := filepath.Join(splitsFolder, "splits", part.list+strconv.Itoa(split)+".txt")
		err := readFile(path, func(r io.Reader) (err error) {
			part.to.Images, part.to.Labels, err = readSplit(r, len(f.Classes))
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, name := range part.to.Images {
			if wanted[name] {
				return nil, fmt.Errorf("%s: the image %s is in the test list too", path, name)
			}
			wanted[name] = true
		}
	}
	rows, err := featureRows(filepath.Join(featuresFolder, FreiburgFeatureNamesFile), wanted)
	if err != nil {
		return nil, err
	}
	if err := f.readFeatures(filepath.Join(featuresFolder, FreiburgFeaturesFile), rows); err != nil {
		return nil, err
	}
	return f, nil
}

// readClasses reads lines "NAME id" with the ids 0, 1, ... in their order.
func readClasses(r io.Reader) (names []string, err error) {
	seen := map[string]bool{}
	err = forLines(r, func(text string) error {
		name, id, err := nameAndNumber(text)
		switch {
		case err != nil:
			return err
		case id != len(names):
			return fmt.Errorf("the class %s has the id %d, expected %d: ids count up from 0", name, id, len(names))
		case seen[name]:
			return fmt.Errorf("the class %s comes twice", name)
		}
		seen[name] = true
		names = append(names, name)
		return nil
	})
	if err == nil && len(names) == 0 {
		err = errors.New("the file is empty, expected lines such as: CANDY 0")
	}
	return names, err
}

// readSplit reads lines "PATH class" and returns every image once.
func readSplit(r io.Reader, classes int) (images []string, labels []int, err error) {
	seen := map[string]int{}
	err = forLines(r, func(text string) error {
		name, label, err := nameAndNumber(text)
		if err != nil {
			return err
		}
		if label < 0 || label >= classes {
			return fmt.Errorf("the image %s has class %d, expected 0 to %d", name, label, classes-1)
		}
		if before, ok := seen[name]; ok {
			if before != label {
				return fmt.Errorf("the image %s has class %d, but class %d before", name, label, before)
			}
			return nil
		}
		seen[name] = label
		images, labels = append(images, name), append(labels, label)
		return nil
	})
	if err == nil && len(images) == 0 {
		err = errors.New("the file is empty, expected lines such as: TEA/TEA0123.png 16")
	}
	return images, labels, err
}

// nameAndNumber splits "name number".
func nameAndNumber(text string) (string, int, error) {
	name, number, found := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if !found || name == "" || err != nil {
		return "", 0, fmt.Errorf("%q, expected a name, a space and a number", text)
	}
	return name, n, nil
}

// featureRows reads the list of the images that have features and returns the
// row of each. All wanted ones must be there.
func featureRows(path string, wanted map[string]bool) (rows map[string]int, err error) {
	rows = map[string]int{}
	err = readFile(path, func(r io.Reader) error {
		return forLines(r, func(text string) error {
			if text == "" {
				return errors.New("the line is empty, expected the path of an image such as TEA/TEA0123.png")
			}
			if first, ok := rows[text]; ok {
				return fmt.Errorf("the image %s comes twice, first in line %d", text, first+1)
			}
			rows[text] = len(rows)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	missing, example := 0, ""
	for name := range wanted {
		if _, ok := rows[name]; !ok {
			if missing++; example == "" || name < example {
				example = name
			}
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("%s: %d of the %d images of the split are not in the list, such as %s; write their paths as "+
			"in the split lists", path, missing, len(wanted), example)
	}
	return rows, nil
}

// readFeatures reads the features of the images of f; rowOf gives the row of
// every image in the file.
func (f *Freiburg) readFeatures(path string, rowOf map[string]int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err // names the path
	}
	return readFile(path, func(r io.Reader) error {
		in, err := newNPYRows(r, info.Size())
		if err != nil {
			return err
		}
		if in.rows != len(rowOf) {
			return fmt.Errorf("%d rows, but %s names %d images; they must be as many", in.rows,
				FreiburgFeatureNamesFile, len(rowOf))
		}
		place := make([][]float64, in.rows) // where each row of the file goes; nil for none
		for _, part := range []*LabelledFeatures{&f.Train, &f.Test} {
			part.Features = mat.NewDense(len(part.Images), in.cols, nil)
			for i, name := range part.Images {
				place[rowOf[name]] = part.Features.RawRowView(i)
			}
		}
		unwanted := make([]float64, in.cols)
		for _, to := range place {
			if to == nil {
				to = unwanted // read all the same: the numbers must be finite
			}
			if err := in.next(to); err != nil {
				return err
			}
		}
		return nil
	})
}

// forLines calls parse with every line and adds its number to the error.
func forLines(r io.Reader, parse func(text string) error) error {
	scan := bufio.NewScanner(r)
	line := 0
	for scan.Scan() {
		line++
		if err := parse(strings.TrimSuffix(scan.Text(), "\r")); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("line %d: %w", line+1, err)
	}
	return nil
}

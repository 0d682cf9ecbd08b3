package readers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// idx writes the idx format: numbers of the header, then bytes.
func idx(header []uint32, content ...byte) []byte {
	var b bytes.Buffer
	for _, n := range header {
		b.Write(binary.BigEndian.AppendUint32(nil, n))
	}
	b.Write(content)
	return b.Bytes()
}

func TestReadIDX(t *testing.T) {
	images := idx([]uint32{0x803, 2, 1, 3}, 0, 51, 255, 1, 2, 3)
	labels := idx([]uint32{0x801, 2}, 9, 0)
	for name, pack := range map[string]func([]byte) []byte{
		"plain":      func(b []byte) []byte { return b },
		"compressed": func(b []byte) []byte { return filetest.Gzipped(t, b) },
	} {
		t.Run(name, func(t *testing.T) {
			im, err := ReadIDXImages(bytes.NewReader(pack(images)))
			if err != nil || im.Len() != 2 || im.Rows != 1 || im.Cols != 3 {
				t.Fatalf("%+v, %v", im, err)
			}
			if !bytes.Equal(im.Image(1), []byte{1, 2, 3}) {
				t.Errorf("the second image is %v", im.Image(1))
			}
			m := im.Matrix([]int{1, 0})
			if r, c := m.Dims(); r != 2 || c != 3 || m.At(0, 2) != 3./255 || m.At(1, 1) != 0.2 || m.At(1, 2) != 1 {
				t.Errorf("the matrix is %v", m)
			}
			if !im.Matrix(nil).IsEmpty() {
				t.Error("a matrix without rows has elements")
			}
			got, err := ReadIDXLabels(bytes.NewReader(pack(labels)))
			if err != nil || !bytes.Equal(got, []byte{9, 0}) {
				t.Errorf("labels %v, %v", got, err)
			}
		})
	}
}

func TestReadIDXErrors(t *testing.T) {
	readImages := func(r io.Reader) error { _, err := ReadIDXImages(r); return err }
	readLabels := func(r io.Reader) error { _, err := ReadIDXLabels(r); return err }
	images := idx([]uint32{0x803, 2, 1, 3}, 0, 51, 255, 1, 2, 3)
	packed := filetest.Gzipped(t, images)
	damaged := bytes.Clone(packed)
	damaged[len(damaged)-8] ^= 1 // the checksum
	for _, c := range []struct {
		name string
		read func(io.Reader) error
		file []byte
		want string
	}{
		{"empty", readImages, nil, "the header of 16 bytes: unexpected EOF"},
		{"header cut off", readImages, images[:15], "the header of 16 bytes"},
		{"labels in place of images", readImages, idx([]uint32{0x801, 20, 1, 1}, 1),
			"the magic number is 0x801, expected 0x803 (idx with images)"},
		{"images in place of labels", readLabels, images, "the magic number is 0x803, expected 0x801 (idx with labels)"},
		{"no images", readImages, idx([]uint32{0x803, 0, 1, 3}), "number of images is 0"},
		{"no columns", readImages, idx([]uint32{0x803, 2, 1, 0}), "number of columns is 0"},
		{"cut off", readImages, images[:20], "cut off: 4 of the 6 bytes of images"},
		{"too long", readImages, append(bytes.Clone(images), 0), "goes on after the 6 bytes"},
		{"four billion images", readImages, idx([]uint32{0x803, 1<<32 - 1, 28, 28}, 1, 2), "number of images is 4294967295"},
		{"sizes whose product overflows", readImages, idx([]uint32{0x803, 1 << 16, 1 << 24, 1 << 24}),
			"number of rows is 16777216"},
		{"a thousand million labels", readLabels, idx([]uint32{0x801, 1 << 30}, 1), "cut off: 1 of the 1073741824 bytes"},
		{"label out of range", readLabels, idx([]uint32{0x801, 3}, 0, 10, 0), "label 2 of 3 is 10, expected 0 to 9"},
		{"compressed, cut off", readImages, packed[:len(packed)-10], "cut off"},
		{"compressed, without its checksum", readImages, packed[:len(packed)-8], "its checksum is missing"},
		{"compressed, damaged", readImages, damaged, "checksum"},
		{"compressed, header cut off", readImages, packed[:5], "the compressed file: unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) { filetest.MustFail(t, c.read(bytes.NewReader(c.file)), c.want) })
	}
}

func TestLoadImages(t *testing.T) {
	folder := t.TempDir()
	images := filetest.WriteFile(t, idx([]uint32{0x803, 2, 1, 1}, 7, 8), folder, "images")
	labels := filetest.WriteFile(t, idx([]uint32{0x801, 2}, 3, 4), folder, "labels")
	im, err := loadImages(images, labels)
	if err != nil || im.Len() != 2 || im.Labels[1] != 4 {
		t.Errorf("%+v, %v", im, err)
	}
	three := filetest.WriteFile(t, idx([]uint32{0x801, 3}, 3, 4, 5), folder, "three")
	_, err = loadImages(images, three)
	filetest.MustFail(t, err, "three has 3 labels")
	_, err = loadImages(labels, images)
	filetest.MustFail(t, err, "labels: the magic number")
	if _, err := loadImages(images, filepath.Join(folder, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// For any file the readers return its content or an error.
func FuzzReadIDX(f *testing.F) {
	f.Add(idx([]uint32{0x803, 2, 1, 3}, 0, 51, 255, 1, 2, 3))
	f.Add(idx([]uint32{0x801, 2}, 9, 0))
	f.Add(idx([]uint32{0x803, 1<<32 - 1, 28, 28}, 1))
	f.Add(filetest.Gzipped(f, idx([]uint32{0x801, 1}, 5)))
	f.Add([]byte(strings.Repeat("\x00", 16)))
	f.Fuzz(func(t *testing.T, file []byte) {
		if im, err := ReadIDXImages(bytes.NewReader(file)); err == nil {
			if n := im.Len(); n < 1 || n*im.Rows*im.Cols != len(im.Pixels) || len(im.Image(n-1)) != im.Rows*im.Cols {
				t.Errorf("%d images of %d×%d in %d bytes", n, im.Rows, im.Cols, len(im.Pixels))
			}
		}
		if labels, err := ReadIDXLabels(bytes.NewReader(file)); err == nil && len(labels) == 0 {
			t.Error("no labels and no error")
		}
	})
}

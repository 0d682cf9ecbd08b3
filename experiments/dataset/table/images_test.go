package table

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
)

// grey is a picture of one shade but for a white pixel at the top left.
func grey(width, height int, shade uint8) image.Image {
	p := image.NewGray(image.Rect(0, 0, width, height))
	for i := range p.Pix {
		p.Pix[i] = shade
	}
	p.Pix[0] = 255
	return p
}

func encoded(t testing.TB, p image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, p)
	case "jpeg":
		err = jpeg.Encode(&b, p, &jpeg.Options{Quality: 100})
	case "gif":
		err = gif.Encode(&b, p, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// folderOf writes files with their folders.
func folderOf(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Pictures of different sizes and formats become rows of one width, a class a folder.
func TestPictures(t *testing.T) {
	dir := folderOf(t, map[string][]byte{
		"dog/b.PNG": encoded(t, grey(2, 2, 0), "png"), "dog/a.gif": encoded(t, grey(4, 4, 255), "gif"),
		"cat/x.jpeg": encoded(t, grey(7, 3, 255), "jpeg"), "cat/.DS_Store": []byte("hidden"),
	})
	d, err := loadFrom(dir, Spec{Dataset: "images:my@2x2", Inputs: "*", Others: []string{"label"}})
	if err != nil {
		t.Fatal(err)
	}
	labels, classes, err := d.Labels("label")
	if err != nil || !slices.Equal(labels, []int{0, 1, 1}) || !slices.Equal(classes, []string{"cat", "dog"}) {
		t.Errorf("%v of %v, %v", labels, classes, err)
	}
	if !slices.Equal(d.Names, []string{"p1", "p2", "p3", "p4"}) {
		t.Errorf("%v", d.Names)
	}
	for i, want := range [][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 0, 0, 0}} {
		for j, v := range d.X.RawRowView(i) {
			if math.Abs(v-want[j]) > 0.01 {
				t.Errorf("row %d is %v, want %v", i, d.X.RawRowView(i), want)
				break
			}
		}
	}
	if d, err = loadFrom(dir, Spec{Dataset: "images:my", Inputs: "*", Others: []string{"label[dog|cat]"}}); err != nil ||
		len(d.Names) != 28*28 {
		t.Fatalf("%v", err)
	}
	if labels, _, _ := d.Labels("label"); !slices.Equal(labels, []int{1, 0, 0}) {
		t.Errorf("%v", labels)
	}
}

// Folders that are named by digits are in the order of numbers; without folders there are
// no labels.
func TestClassesOfPictures(t *testing.T) {
	one := encoded(t, grey(1, 1, 9), "png")
	dir := folderOf(t, map[string][]byte{"10/a.png": one, "9/a.png": one})
	d, err := loadFrom(dir, Spec{Dataset: "images:my", Inputs: "p1", Others: []string{"label"}})
	if err != nil {
		t.Fatal(err)
	}
	if labels, classes, _ := d.Labels("label"); !slices.Equal(classes, []string{"9", "10"}) ||
		!slices.Equal(labels, []int{1, 0}) {
		t.Errorf("%v of %v", labels, classes)
	}
	dir = folderOf(t, map[string][]byte{"a.png": one, "b.png": one})
	if d, err = loadFrom(dir, Spec{Dataset: "images:my", Inputs: "*"}); err != nil || len(d.Names) != 28*28 {
		t.Errorf("%v", err)
	}
	_, err = loadFrom(dir, Spec{Dataset: "images:my", Inputs: "*", Others: []string{"label"}})
	filetest.MustFail(t, err, `my: unknown column "label"`)
}

// A new pixel is the mean of the area that it covers; the luma of colours is that of BT.601.
func TestResize(t *testing.T) {
	p := image.NewGray(image.Rect(5, 7, 8, 9)) // 3×2, away from the origin
	copy(p.Pix, []uint8{0, 255, 0, 255, 0, 255})
	for _, c := range []struct {
		width, height int
		want          []float64
	}{
		{3, 2, []float64{0, 1, 0, 1, 0, 1}},
		{1, 1, []float64{0.5}},
		{3, 1, []float64{0.5, 0.5, 0.5}},
		{1, 2, []float64{1. / 3, 2. / 3}},
		// Each of two takes one pixel and half of the middle one.
		{2, 2, []float64{1. / 3, 1. / 3, 2. / 3, 2. / 3}},
		{6, 2, []float64{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}},
		{3, 4, []float64{0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1}},
	} {
		got := resize(p, c.width, c.height)
		for i, v := range got {
			if len(got) != len(c.want) || math.Abs(v-c.want[i]) > 0.6/0xffff {
				t.Errorf("%d×%d: %v, want %v", c.width, c.height, got, c.want)
				break
			}
		}
	}
	for _, c := range []struct {
		colour color.Color
		want   float64
	}{
		{color.RGBA{255, 0, 0, 255}, 0.299}, {color.RGBA{0, 255, 0, 255}, 0.587}, {color.RGBA{0, 0, 255, 255}, 0.114},
		{color.RGBA{255, 255, 255, 255}, 1}, {color.NRGBA{255, 255, 255, 51}, 0.2}, {color.Gray16{0x8000}, 0x8000 / 65535.},
	} {
		if got := luma(color.RGBA64Model.Convert(c.colour).(color.RGBA64)); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v has luma %g, want %g", c.colour, got, c.want)
		}
	}
}

// To make a picture smaller takes no memory that grows with it.
func TestMemoryOfResize(t *testing.T) {
	for _, p := range []image.Image{grey(MaxSide, 1, 9), grey(1, MaxSide, 9),
		image.NewNRGBA64(image.Rect(0, 0, 300, 300))} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resize(p.(image.RGBA64Image), 4, 3)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<16 {
			t.Errorf("%v: %d bytes were taken", p.Bounds(), took)
		}
	}
}

// hugePNG announces a number of pixels that it does not have.
func hugePNG(t testing.TB, width, height uint32) []byte {
	b := encoded(t, grey(1, 1, 0), "png")
	binary.BigEndian.PutUint32(b[16:], width)
	binary.BigEndian.PutUint32(b[20:], height)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// emptyGIF has the header of a GIF alone, with any size.
func emptyGIF(width, height byte) []byte {
	return append([]byte("GIF89a"), width, 0, height, 0, 0, 0, 0, ';')
}

func TestWrongPictures(t *testing.T) {
	one := encoded(t, grey(8, 8, 9), "png")
	photo := encoded(t, grey(64, 64, 9), "jpeg")
	for _, c := range []struct {
		name    string
		files   map[string][]byte
		dataset string
		want    string
	}{
		{"truncated", map[string][]byte{"c/a.png": one, "c/b.png": one[:40]}, "images:my",
			"my/c/b.png: the picture cannot be read"},
		{"truncated JPEG", map[string][]byte{"c/b.jpg": photo[:len(photo)/2]}, "images:my",
			"my/c/b.jpg: the picture cannot be read"},
		{"broken", map[string][]byte{"c/b.png": append(slices.Clone(one[:45]), "nonsense"...)}, "images:my",
			"my/c/b.png: the picture cannot be read"},
		{"empty file", map[string][]byte{"c/b.png": {}}, "images:my", "my/c/b.png: "},
		{"text", map[string][]byte{"c/b.png": []byte("a,b\n")}, "images:my", "my/c/b.png: it is no PNG, JPEG or GIF"},
		{"bomb", map[string][]byte{"c/b.png": hugePNG(t, 1<<15, 1<<10+1)}, "images:my",
			"my/c/b.png: the picture has 32768×1025 pixels; at most 33554432 are read, and 65535 of a side; make it smaller"},
		{"wide bomb", map[string][]byte{"c/b.png": hugePNG(t, 1<<16, 1)}, "images:my",
			"my/c/b.png: the picture has 65536×1 pixels; at most 33554432 are read, and 65535 of a side"},
		{"tall bomb", map[string][]byte{"c/b.png": hugePNG(t, 1, 1<<16)}, "images:my",
			"my/c/b.png: the picture has 1×65536 pixels"},
		{"widest", map[string][]byte{"c/b.png": hugePNG(t, MaxSide, 1)}, "images:my",
			"my/c/b.png: the picture cannot be read"},
		{"no row of pixels", map[string][]byte{"c/b.gif": emptyGIF(8, 0)}, "images:my",
			"my/c/b.gif: the picture has no pixels"},
		{"no column of pixels", map[string][]byte{"c/b.gif": emptyGIF(0, 8)}, "images:my",
			"my/c/b.gif: the picture has no pixels"},
		{"other file", map[string][]byte{"c/b.png": one, "c/notes.txt": {}}, "images:my",
			"my/c/notes.txt: its name does not end like that of a picture"},
		{"file beside folders", map[string][]byte{"c/b.png": one, "a.png": one}, "images:my",
			"my: beside the folders, one a class, is the file a.png"},
		{"folders in folders", map[string][]byte{"c/d/b.png": one}, "images:my", "my/c/d: it is a folder in that of a class"},
		{"nothing", nil, "images:my", "my: the folder is empty"},
		{"size zero", map[string][]byte{"c/b.png": one}, "images:my@0x8", "the size is width x height"},
		{"huge size", map[string][]byte{"c/b.png": one}, "images:my@8x5000", "the size is width x height"},
		{"no column of that number", map[string][]byte{"c/b.png": one}, "images:my@1x1", `my: unknown column "p2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadFrom(folderOf(t, c.files), Spec{Dataset: c.dataset, Inputs: "p1+p2"})
			filetest.MustFail(t, err, c.want)
		})
	}
	_, err := loadFrom(t.TempDir()+"/none", Spec{Dataset: "images:my", Inputs: "*"})
	filetest.MustFail(t, err, "the file my is not there")
}

package store

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/store/disk"
)

// releaseFile is a file of a release.
type releaseFile struct {
	path    string // for pictures relative to their folder: class/number.png
	content []byte
}

// releaseFiles returns the files of a release, without its description.
func releaseFiles(path string, rel *experiment.Release) ([]releaseFile, error) {
	form := experiment.FormOf(path)
	both := rel.Model != nil && rel.Columns != nil
	switch {
	case rel.Model != nil && (!both || form == experiment.FormModel || form == ""):
		content, err := encodeReleaseModel(rel)
		return []releaseFile{{path, content}}, err
	case !both || form == experiment.FormTable:
		content, err := encodeReleaseTable(rel)
		return []releaseFile{{path, content}}, err
	case form == experiment.FormArrays:
		// The classes first, so that both exist when the named file appears.
		return []releaseFile{{classesPath(path), encodeTexts(rel.Classes)}, {path, encodeArray(rel.Rows)}}, nil
	}
	return releasePictures(rel)
}

// npyStart returns the start of a NumPy array in C order, format 1.0.
func npyStart(kind, shape string) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, shape)
	// Magic, version and length of the header have 10 bytes; the array starts at a
	// multiple of 64.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(out[8:], uint16(len(header)))
	return append(out, header...)
}

// encodeArray writes rows as an array of N×p float64.
func encodeArray(rows [][]float64) []byte {
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	out := npyStart("<f8", fmt.Sprintf("%d, %d", len(rows), columns))
	out = slices.Grow(out, 8*len(rows)*columns)
	for _, row := range rows {
		for _, v := range row {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	return out
}

// encodeTexts writes N texts as an array of Unicode strings of one length, as NumPy does.
func encodeTexts(texts []string) []byte {
	longest := 1
	for _, s := range texts {
		longest = max(longest, len([]rune(s)))
	}
	out := npyStart(fmt.Sprintf("<U%d", longest), fmt.Sprintf("%d,", len(texts)))
	for _, s := range texts {
		runes := []rune(s)
		for i := range longest {
			r := rune(0)
			if i < len(runes) {
				r = runes[i]
			}
			out = binary.LittleEndian.AppendUint32(out, uint32(r))
		}
	}
	return out
}

// releasePictures returns a picture for each row, numbered from 1 in the folder of its class.
// Grey values are clipped to the range from black to white, which depends on the released
// values alone.
func releasePictures(rel *experiment.Release) ([]releaseFile, error) {
	if rel.Picture == nil {
		return nil, errors.New("a defect: rows that are no pictures are to be written as such")
	}
	count := map[string]int{}
	files := make([]releaseFile, len(rel.Rows))
	for i, row := range rel.Rows {
		class := rel.Classes[i]
		if class != filepath.Base(class) || strings.ContainsAny(class, `/\`) || class == "." || class == ".." {
			return nil, fmt.Errorf("the class %q cannot be the name of a folder", class)
		}
		count[class]++
		grey := image.NewGray(image.Rect(0, 0, rel.Picture.Width, rel.Picture.Height))
		for j, v := range row {
			grey.SetGray(j%rel.Picture.Width, j/rel.Picture.Width,
				color.Gray{Y: uint8(math.Round(255 * max(0, min(1, v))))})
		}
		var b bytes.Buffer
		if err := png.Encode(&b, grey); err != nil {
			return nil, err
		}
		files[i] = releaseFile{filepath.Join(class, fmt.Sprintf("%06d.png", count[class])), b.Bytes()}
	}
	return files, nil
}

// createFolder makes a folder with files, durably, under a temporary name first, so that it is
// complete when it gets its own name. It fails where the name exists.
func createFolder(d disk.Disk, path string, files []releaseFile) (err error) {
	if _, err := d.Lstat(path); err == nil {
		return &ExistsError{path}
	}
	made := []string{filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".tmp")}
	defer func() {
		if err != nil {
			for _, p := range slices.Backward(made) {
				_ = d.Remove(p) // otherwise leftovers have a temporary name
			}
		}
	}()
	if err := d.Mkdir(made[0], 0o755); err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, f := range files {
		at := filepath.Join(made[0], f.path)
		if folder := filepath.Dir(at); !folders[folder] {
			folders[folder] = true
			if err := d.Mkdir(folder, 0o755); err != nil {
				return err
			}
			made = append(made, folder)
		}
		if err := disk.CreateFile(d, at, f.content); err != nil {
			return err
		}
		made = append(made, at)
	}
	for folder := range folders {
		if err := d.SyncDir(folder); err != nil {
			return err
		}
	}
	if err := d.SyncDir(made[0]); err != nil {
		return err
	}
	if err := d.Rename(made[0], path); err != nil {
		return err
	}
	if err := d.SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, d.Rename(path, made[0])) // and then removed
	}
	return nil
}

// Maximum numbers of bytes of the parts of a release.
const (
	roomForRest    = 1 << 20 // texts, the description, numbers outside of lists
	bytesOfBlock   = 4096    // files take whole ones
	bytesOfName    = 32      // each byte of a name: it stands in several places, in escapes
	bytesInTable   = 25      // a number: 24 digits and letters, and a separator
	bytesInModel   = 32      // a number: 25 digits and letters, its comma, and its indentation
	bytesOfList    = 16      // its brackets, with their indentation
	bytesInArray   = 8       // a number
	bytesOfLetter  = 4       // of the name of a class, in an array
	bytesOfPicture = 1024    // in addition to two for each pixel, because each row has one more
)

// roomForRelease returns the maximum number of bytes of a release in a form; formed releases have
// several forms.
func roomForRelease(form experiment.Form, formed bool, s experiment.Size) int64 {
	rows, columns, class := int64(s.Rows), int64(s.Columns), int64(s.Class)
	table := rows * (bytesInTable*columns + 2*class + 4) // quotes may be doubled
	model := bytesInModel*int64(s.Numbers) + bytesOfList*int64(s.Lists)
	room := int64(roomForRest) + bytesOfName*int64(s.Names)
	switch {
	case !formed:
		return room + table + model // one of them is 0
	case form == experiment.FormArrays:
		return room + rows*(bytesInArray*columns+bytesOfLetter*max(1, class))
	case form == experiment.FormModel:
		return room + model
	case form == experiment.FormPictures:
		file := 2*columns + bytesOfPicture
		return room + rows*((file+bytesOfBlock-1)/bytesOfBlock+1)*bytesOfBlock // with its entry in the folder
	}
	return room + table
}

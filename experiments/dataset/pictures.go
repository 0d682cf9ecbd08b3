package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PictureSize is the width and height of pictures of a user's own that have no other.
const PictureSize = 28

// MaxPictures is how many pictures a folder may have.
const MaxPictures = 1 << 20

// cutSize takes the size off the end of a path: FOLDER@32x24.
func cutSize(text string) (path string, width, height int, ok bool) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text, 0, 0, false
	}
	w, h, cut := strings.Cut(text[at+1:], "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if !cut || errors.Join(errW, errH) != nil {
		return text, 0, 0, false
	}
	return text[:at], width, height, true
}

// SizeOfPictures returns the size to which the pictures of the name "images:FOLDER" or
// "images:FOLDER@WxH" are brought.
func SizeOfPictures(name string) (width, height int, err error) {
	_, text, _ := strings.Cut(name, ":")
	_, width, height, given := cutSize(text)
	const largest = 1024
	switch {
	case !given:
		return PictureSize, PictureSize, nil
	case min(width, height) < 1 || max(width, height) > largest:
		return 0, 0, fmt.Errorf("%s: the size is width x height in pixels, from 1 to %d each, such as @32x32", name, largest)
	}
	return width, height, nil
}

// Picture is a file in a folder of pictures.
type Picture struct {
	Class string // the name of its folder; empty where there are no classes
	File  string // its name in that folder
}

// Path is that below the folder of all pictures.
func (p Picture) Path() string { return filepath.Join(p.Class, p.File) }

// isPicture reports whether a file has the extension of a readable picture format.
func isPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif"}, strings.ToLower(filepath.Ext(name)))
}

// ListPictures returns the pictures of a folder: of its folders, one a class, or, where it has
// none, its own. Both are sorted by name. Names that begin with a point are passed over.
// Errors name the folder as shown.
func ListPictures(folder, shown string) ([]Picture, error) {
	files, folders, err := listFolder(folder, shown)
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		return pictures("", files, shown)
	}
	if len(files) > 0 {
		return nil, fmt.Errorf("%s: beside the folders, one a class, is the file %s; move it away, or into one of them",
			shown, files[0])
	}
	var out []Picture
	for _, class := range folders {
		inside := filepath.Join(shown, class)
		files, deeper, err := listFolder(filepath.Join(folder, class), inside)
		if err != nil {
			return nil, err
		}
		if len(deeper) > 0 {
			return nil, fmt.Errorf("%s: it is a folder in that of a class; pictures are expected there",
				filepath.Join(inside, deeper[0]))
		}
		found, err := pictures(class, files, inside)
		if err != nil {
			return nil, err
		}
		if out = append(out, found...); len(out) > MaxPictures {
			return nil, fmt.Errorf("%s: it has more than %d pictures", shown, MaxPictures)
		}
	}
	return out, nil
}

func pictures(class string, files []string, shown string) ([]Picture, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the folder is empty; pictures (PNG, JPEG, GIF) are expected in it", shown)
	}
	if len(files) > MaxPictures {
		return nil, fmt.Errorf("%s: it has more than %d pictures", shown, MaxPictures)
	}
	out := make([]Picture, len(files))
	for i, file := range files {
		if !isPicture(file) {
			return nil, fmt.Errorf("%s: its name does not end like that of a picture (.png, .jpg, .jpeg, .gif)",
				filepath.Join(shown, file))
		}
		out[i] = Picture{Class: class, File: file}
	}
	return out, nil
}

// listFolder returns the names of files and folders, sorted.
func listFolder(folder, shown string) (files, folders []string, err error) {
	entries, err := os.ReadDir(folder)
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, &MissingFileError{Path: shown}
	case errors.As(err, &in):
		return nil, nil, fmt.Errorf("%s: %w", shown, in.Err)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", shown, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, e.Name())) // of the target of a link
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: it cannot be looked at", filepath.Join(shown, e.Name()))
		case info.IsDir():
			folders = append(folders, e.Name())
		default:
			files = append(files, e.Name())
		}
	}
	return files, folders, nil
}

// findPictures finds a folder of pictures. Its digest is of their names and contents.
func findPictures(path string) (absolute, sha string, err error) {
	list, err := ListPictures(path, path)
	if err != nil {
		return "", notSupplied, err
	}
	lines := make([]string, len(list))
	for i, p := range list {
		_, sum, err := findFile(filepath.Join(path, p.Path()))
		if err != nil {
			return "", notSupplied, err
		}
		lines[i] = sum + "  " + filepath.ToSlash(p.Path())
	}
	if absolute, err = filepath.Abs(path); err != nil {
		return "", notSupplied, fmt.Errorf("%s: %w", path, err)
	}
	return absolute, together(lines...), nil
}

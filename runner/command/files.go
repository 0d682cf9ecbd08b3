package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"privkern/runner/experiment"
)

// FilePrefix begins the name of a data set that is a file of a program's version.
const FilePrefix = "file:"

// Find returns the path and the SHA-256 of a file of a program, by the name of its data
// set, where programs run in this folder.
func Find(folder, name string) (path, digest string, err error) {
	file := strings.TrimPrefix(name, FilePrefix)
	if folder == "" {
		return "", "", fmt.Errorf("the file %q is part of a command, and the plan has no folder for commands", file)
	}
	path = filepath.Join(folder, filepath.FromSlash(file))
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file; name the files in it that the result depends on", path)
	}
	if err == nil {
		digest, err = sum(path)
	}
	if err != nil {
		return path, "", fmt.Errorf("the file %q of a command cannot be read, and without it there is no version: %w",
			file, err)
	}
	return path, digest, nil
}

// sum returns the SHA-256 of a file.
func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// stamp is the state of a file, by which a change is seen without reading it.
type stamp struct {
	size     int64
	modified time.Time
}

// verified has the stamps of files whose digests this process has verified.
var verified struct {
	sync.Mutex
	files map[string]stamp // by path and digest
}

// unchanged refuses a trial whose files are not those of its plan any more. Each process
// reads a file once, and again where its size or time has changed.
func unchanged(t *experiment.Trial, names []string) error {
	verified.Lock()
	defer verified.Unlock()
	for _, name := range names {
		path, want := t.Dataset(name), t.Datasets[name]
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("a file of the command's version is gone: %w", err)
		}
		now, id := stamp{info.Size(), info.ModTime()}, path+"\x00"+want
		if verified.files[id] == now {
			continue
		}
		digest, err := sum(path)
		if err != nil {
			return fmt.Errorf("a file of the command's version cannot be read: %w", err)
		}
		if digest != want {
			return fmt.Errorf("the file %s was changed after the plan was made; go on with `run sweep FILE --replan`",
				strings.TrimPrefix(name, FilePrefix))
		}
		if verified.files == nil {
			verified.files = map[string]stamp{}
		}
		verified.files[id] = now
	}
	return nil
}

// InFolder returns the arguments that name regular files in the folder: the version of a
// program that names no files. An argument that is the place of a setting counts where all
// of its texts are files. The program itself counts where it has a path, since a bare name
// is looked for elsewhere.
func InFolder(folder string, command []string, texts map[string][]string) []string {
	isFile := func(file string) bool {
		if CheckFile(file) != nil {
			return false
		}
		info, err := os.Stat(filepath.Join(folder, file))
		return err == nil && info.Mode().IsRegular()
	}
	var out []string
	for i, text := range command {
		t, err := Parse(text)
		if err != nil || slices.Contains(out, text) {
			continue
		}
		names, files := t.Names(), []string{}
		switch {
		case len(names) == 1 && text == "{"+names[0]+"}":
			files = texts[names[0]]
		case len(names) == 0:
			file, _ := Fill(text, nil)
			if i > 0 || strings.ContainsAny(file, `/\`) {
				files = []string{file}
			}
		}
		if len(files) > 0 && !slices.ContainsFunc(files, func(file string) bool { return !isFile(file) }) {
			out = append(out, text)
		}
	}
	return out
}

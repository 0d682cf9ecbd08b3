package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// build is a platform that the program is built for, with its tags.
type build struct{ os, arch, tags string }

// builds are the builds of the README and the images; another one may link other
// modules.
var builds = []build{
	{os: "linux", arch: "amd64"},
	{os: "linux", arch: "arm64"},
	{os: "darwin", arch: "amd64"},
	{os: "darwin", arch: "arm64"},
	{os: "windows", arch: "amd64"},
	{os: "linux", arch: "amd64", tags: "cu"},
	{os: "linux", arch: "arm64", tags: "cu"},
}

// A work is a module that is linked, the program itself, or Go's library.
type work struct {
	name    string // the module's path
	version string // empty for the program and Go's library
	texts   []text // its licences, at least one
}

// The names of the works that are no third party's module.
const (
	program = "privkern"
	library = "Go standard library and runtime"
)

// linked returns the works that the builds of a package link: the program, then Go's
// library, then modules by path.
func linked(pkg string, builds []build) ([]work, error) {
	folders := map[string]map[string]bool{} // by module@version; each with the module's own
	roots := map[string]string{}
	for _, b := range builds {
		packages, err := list(pkg, b)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			name, root := p.work()
			if root == "" {
				return nil, fmt.Errorf("%s is not in the module cache: run `go mod download` first", name)
			}
			roots[name] = root
			if folders[name] == nil {
				folders[name] = map[string]bool{}
			}
			for dir := p.Dir; name != library && len(dir) > len(root); dir = filepath.Dir(dir) {
				folders[name][dir] = true
			}
			folders[name][root] = true
		}
	}
	var works []work
	for name, root := range roots {
		w := work{name: name}
		w.name, w.version, _ = strings.Cut(name, "@")
		for dir := range folders[name] {
			texts, err := textsIn(w.name, root, dir)
			if err != nil {
				return nil, err
			}
			w.texts = append(w.texts, texts...)
		}
		if len(w.texts) == 0 {
			return nil, fmt.Errorf("%s is linked and has no licence text in %s", name, root)
		}
		slices.SortFunc(w.texts, func(a, b text) int { return strings.Compare(a.file, b.file) })
		works = append(works, w)
	}
	slices.SortFunc(works, func(a, b work) int { return strings.Compare(a.order(), b.order()) })
	return works, nil
}

func (w work) order() string {
	switch w.name {
	case program:
		return ""
	case library:
		return " "
	}
	return w.name
}

// packageInfo is a package in the output of `go list`.
type packageInfo struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Replace            *struct{ Path, Version, Dir string }
	}
	Error *struct{ Err string }
}

// work names the module of a package, with its version, and gives its folder.
func (p packageInfo) work() (name, root string) {
	switch {
	case p.Module == nil:
		return library, goroot()
	case p.Module.Version == "":
		return p.Module.Path, p.Module.Dir
	}
	return p.Module.Path + "@" + p.Module.Version, p.Module.Dir
}

// list returns a package and all that it needs in a build.
func list(pkg string, b build) ([]packageInfo, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module,Error", "-tags", b.tags, pkg)
	cgo := "0"
	if b.tags != "" {
		cgo = "1" // or files that use it are left out
	}
	cmd.Env = append(os.Environ(), "GOOS="+b.os, "GOARCH="+b.arch, "CGO_ENABLED="+cgo)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s/%s: %w\n%s", b.os, b.arch, err, problem.Bytes())
	}
	var packages []packageInfo
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p packageInfo
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list for %s/%s: %w", b.os, b.arch, err)
		}
		if p.Module == nil && !p.Standard {
			return nil, fmt.Errorf("package %s belongs to no module", p.ImportPath)
		}
		packages = append(packages, p)
	}
}

// goroot is Go's own folder.
func goroot() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// textsIn reads the licence texts that lie in a folder of a work, and in its
// folders of licences.
func textsIn(name, root, dir string) ([]text, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && isFolderOfLicences(e.Name()):
			inside, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, f := range inside {
				if texts, err = appendText(texts, name, root, filepath.Join(path, f.Name()), f); err != nil {
					return nil, err
				}
			}
		case isLicence(e.Name()):
			if texts, err = appendText(texts, name, root, path, e); err != nil {
				return nil, err
			}
		}
	}
	return texts, nil
}

// appendText reads a licence text, unless by the work's judgement it concerns no linked
// code.
func appendText(texts []text, name, root, path string, e fs.DirEntry) ([]text, error) {
	if !e.Type().IsRegular() {
		return texts, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	t, err := identify(name, filepath.ToSlash(file), raw)
	if err != nil || t.ids == nil {
		return texts, err
	}
	return append(texts, t), nil
}

// isLicence reports whether a file is named like a licence: LICENSE,
// LICENCE.md, LICENSE-SIL, COPYING, NOTICE.txt, PATENTS.
func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	if ext := filepath.Ext(upper); ext != "" && ext != ".MD" && ext != ".TXT" {
		return false
	}
	for _, prefix := range []string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "PATENTS", "UNLICENSE"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return false
}

func isFolderOfLicences(name string) bool {
	return slices.Contains([]string{"LICENSES", "LICENCES", "THIRD_PARTY_LICENSES"}, strings.ToUpper(name))
}

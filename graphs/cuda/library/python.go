//go:build linux && (amd64 || arm64)

package library

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// interpreter returns the folders of NVIDIA's wheels of the python3 of the PATH. The interpreter
// looks for its packages below the folder with pyvenv.cfg, the file of a virtual environment, which
// is its own or the one above, or else where its last symbolic link leads. A script in its place, as
// version managers have one, is asked for the interpreter.
func interpreter() (folders []string) {
	path, err := exec.LookPath("python3")
	for range 20 { // links and environments, which may go in circles
		if err != nil || path == "" {
			return folders
		}
		folder := filepath.Dir(path)
		prefix, home := environment(folder)
		switch link, notLink := os.Readlink(path); {
		case prefix != "":
			folders = append(folders, below(prefix)...)
			path = home
		case notLink == nil && filepath.IsAbs(link):
			path = link
		case notLink == nil:
			path = filepath.Join(folder, link)
		case isScript(path):
			path = executable(path)
		default:
			return append(folders, below(filepath.Dir(folder))...)
		}
	}
	return folders
}

// below are the folders of wheels below an interpreter's prefix. Debian has packages of its own
// in dist-packages, and Fedora libraries in lib64.
func below(prefix string) (folders []string) {
	for _, packages := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages",
		"lib/python3*/dist-packages"} {
		folders = append(folders, wheels(filepath.Join(prefix, packages))...)
	}
	return folders
}

var (
	homeSetting   = regexp.MustCompile(`(?mi)^\s*home\s*=\s*(\S.*?)\s*$`)
	systemSetting = regexp.MustCompile(`(?mi)^\s*include-system-site-packages\s*=\s*true\s*$`)
)

// environment returns the folder of the virtual environment of an interpreter in a folder, and the
// interpreter whose packages it has too. They are empty where there is none.
func environment(folder string) (prefix, base string) {
	for _, prefix := range []string{folder, filepath.Dir(folder)} {
		text, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg"))
		if err != nil {
			continue
		}
		if home := homeSetting.FindSubmatch(text); home != nil && systemSetting.Match(text) {
			base = filepath.Join(string(home[1]), "python3")
		}
		return prefix, base
	}
	return "", ""
}

// isScript reports whether a file begins as a script.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, 2)
	_, err = f.Read(start)
	return err == nil && string(start) == "#!"
}

// started are the interpreters that scripts start, once they were asked.
var started sync.Map

// executable asks a script for the interpreter that it starts, which takes a tenth of a second. It is
// empty where there is none.
func executable(script string) string {
	if path, ok := started.Load(script); ok {
		return path.(string)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, script, "-I", "-c", "import sys; print(sys.executable)")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == script {
		path = ""
	}
	started.Store(script, path)
	return path
}

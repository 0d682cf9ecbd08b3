package cli

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"privkern/graphs/cpublas"
	"privkern/runner/record"
)

// version is the version of the next release; a release build sets it with
// -ldflags "-X privkern/cmd/cli.version=...".
var version = "0.1.0-dev"

// stamp is the commit that a build was made from, which it sets with -ldflags
// "-X privkern/cmd/cli.stamp=..." where the go command may see no repository, as in a linked
// worktree.
var stamp string

// module is the path of this module.
const module = "privkern"

// host returns the provenance of this program's results, on a device if
// there is one.
func host(gpu string) record.Provenance {
	return record.Provenance{
		Version: version, Revision: revision(), Go: record.Toolchain(),
		CPU: cpuModel(), GPU: gpu, BLAS: cpublas.Setup().String(),
	}
}

// revision returns the commit that the program was built from: the stamp, if there is
// one. The go command records it in builds, but not under `go run`; then it is asked of
// git, where the current folder is a checkout of this module. A program that was built
// without it has none: by the time it runs, the checkout may be at another commit.
func revision() string {
	if stamp != "" {
		return stamp
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if built := builtFrom(info); built != "" {
			return built
		}
	}
	executable, err := os.Executable()
	if err != nil || !underGoRun(executable, os.Getenv("GOCACHE")) {
		return "unknown"
	}
	dir, err := os.Getwd()
	for err == nil {
		if b, readErr := os.ReadFile(filepath.Join(dir, "go.mod")); readErr == nil {
			if !strings.HasPrefix(string(b), "module "+module+"\n") {
				return "unknown"
			}
			out, gitErr := exec.Command("git", "-C", dir, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*").
				Output()
			if gitErr != nil {
				return "unknown"
			}
			return strings.TrimSpace(string(out))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "unknown"
}

// builtFrom returns the commit that the go command has recorded, behind the name of another
// module if the program belongs to one; empty where only git may know it.
func builtFrom(info *debug.BuildInfo) string {
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if info.Main.Path != module && info.Main.Path != "" {
		return info.Main.Path + "@" + cmp.Or(rev, "unknown") + dirty
	}
	return rev + dirty
}

// underGoRun reports whether the go command built a program to run it at once: it lies in a
// folder go-build…, of temporary files or the cache, or in the cache that GOCACHE names.
func underGoRun(executable, cache string) bool {
	if cache != "" {
		if rel, err := filepath.Rel(cache, executable); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(executable)), "/")
	return slices.ContainsFunc(dirs, func(d string) bool { return strings.HasPrefix(d, "go-build") })
}

// cpuModel names the processor.
func cpuModel() string {
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

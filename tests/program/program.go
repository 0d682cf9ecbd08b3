// Package program gives tests the command as a user runs it, from outside: an executable, and
// sweeps that it runs.
package program

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Variable is the environment variable that may name an executable to test, instead of one
// that is built.
const Variable = "PRIVKERN_TEST_PROGRAM"

// devices is CUDA's variable of the devices that a program sees.
const devices = "CUDA_VISIBLE_DEVICES"

// Devices are the devices that were visible before [Main] hid them.
var Devices = os.Getenv(devices)

// folder holds the executable and files that tests share; [Main] removes it.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "privkern-tests-") })

// Main runs the tests of a package, without any GPU, because the machine should not decide on
// results, and removes their shared files.
func Main(m *testing.M) {
	if err := os.Setenv(devices, ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if dir, err := folder(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

// Shared returns a new folder that lasts until the tests of the package have ended.
func Shared(name string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, name+"-")
}

// Path returns the path of the executable, which the first call builds, with the race detector
// where the test has it.
func Path(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	if err := look(); err != nil {
		return "", err
	}
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "run")
	// Unlike go build, go run takes an executable that it linked before from the cache.
	args := append(append([]string{"run"}, flags...), "-exec", "cp", "privkern/cmd/run", path)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the command cannot be built: %w\n%s", err, out)
	}
	return path, nil
})

// flags of go run: the race detector where the tests have it.
var flags []string

// look calls Stat for every file that the executable is built from, because go test repeats a
// package only if a file changed that its own process looked at.
func look() error {
	for _, dir := range []string{"cmd", "configs", "experiments", "graphs", "runner"} {
		err := filepath.WalkDir(filepath.Join(root(), dir), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Command returns the command with arguments.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(Path(t), args...)
}

// OnTerminal returns a command of the shell that runs the executable, in which $RUN is its path, on a
// terminal of that width, whose screen is the standard output. It skips the test where there is
// nothing to make a terminal with.
func OnTerminal(t testing.TB, columns int, line string) *exec.Cmd {
	t.Helper()
	script, err := exec.LookPath("script") // of util-linux
	if err != nil {
		t.Skip("no script command to make a terminal with")
	}
	// The terminal that script makes has no size of its own.
	cmd := exec.Command(script, "-qec", fmt.Sprintf("stty cols %d; %s", columns, line), "/dev/null")
	cmd.Env = append(os.Environ(), "RUN="+Path(t), "NO_COLOR=")
	return cmd
}

// Root returns the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	return root()
}

// root is the nearest folder above the test's own that has a go.mod.
func root() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	panic("the tests do not run in a folder of the module")
}

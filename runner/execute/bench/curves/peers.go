package curves

import (
	"context"
	_ "embed" // the program
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

//go:embed peers.py
var peers string

// ErrAbsent is the error where no peers are installed.
var ErrAbsent = errors.New("no python3 of PATH has NumPy and scikit-learn")

// Python is a program with the libraries of the peers.
type Python struct{ path, Libraries string }

// FindPython returns the program named python, or the first python3 of PATH. The error is [ErrAbsent] where it has no
// scikit-learn.
func FindPython(ctx context.Context, python string) (*Python, error) {
	named := python != ""
	if !named {
		python = "python3"
	}
	out, err := command(ctx, python, "-c", "import platform, numpy, sklearn; "+
		"print('Python', platform.python_version() + ', NumPy', numpy.__version__ + ', scikit-learn', sklearn.__version__)").
		Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !named:
		return nil, ErrAbsent
	case err != nil:
		return nil, errors.New(python + " has no NumPy with scikit-learn: " + err.Error())
	}
	return &Python{python, strings.TrimSpace(string(out))}, nil
}

// Work is the process of a peer, that fits a file some times.
func (p *Python) Work(ctx context.Context, work, file string, fits int) *exec.Cmd {
	return command(ctx, p.path, "-c", peers, work, file, strconv.Itoa(fits))
}

func command(ctx context.Context, python string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, python, append([]string{"-B"}, args...)...)
	cmd.Env = append(cmd.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "PYTHONSAFEPATH=1")
	return cmd
}

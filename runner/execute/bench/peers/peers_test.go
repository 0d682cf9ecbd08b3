package peers

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// begin starts the process, or skips where there is no NumPy.
func begin(t *testing.T) *Process {
	t.Helper()
	p, err := Start(t.Context(), "")
	if errors.Is(err, ErrNone) {
		t.Skip("no python3 with NumPy is installed: peers are not measured")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Every work answers in both element types, with the same result to rounding.
func TestWorks(t *testing.T) {
	p := begin(t)
	if !strings.Contains(p.Libraries, "NumPy") {
		t.Errorf("the libraries are %q", p.Libraries)
	}
	for work, sizes := range map[string][]int{
		"kernel": {30, 4}, "laplacian": {30, 4}, "hull": {9, 8, 2, 5}, "eigenpairs": {12, 3}, "gradient": {20, 3},
		"features": {40, 7, 5, 3},
		"product":  {16}, "cholesky": {16}, "exponential": {100},
	} {
		t.Run(work, func(t *testing.T) {
			var double float64
			for _, dtype := range []string{"float64", "float32"} {
				m, err := p.Measure(experiment.Peer{Work: work, DType: dtype, Sizes: sizes}, 3)
				if missing := (*MissingError)(nil); errors.As(err, &missing) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				}
				if m.Library == "" || !(m.CPUSeconds >= 0) || !(m.Result > 0) {
					t.Errorf("%s: measured %+v", dtype, m)
				}
				if dtype == "float64" {
					double = m.Result
				} else if math.Abs(m.Result-double) > 1e-3*double {
					t.Errorf("the norm is %v, and %v in float64", m.Result, double)
				}
			}
		})
	}
}

// The answer is known: eˣ of ten numbers of the formula.
func TestResult(t *testing.T) {
	m, err := begin(t).Measure(experiment.Peer{Work: "exponential", DType: "float64", Sizes: []int{10}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.
	for k := 1; k <= 10; k++ {
		want += math.Exp(20 * math.Sin(1e-3*float64(k*k)))
	}
	if want = math.Sqrt(want); math.Abs(m.Result-want) > 1e-12*want {
		t.Errorf("the norm is %v, want %v", m.Result, want)
	}
}

// The error of a process that ends is the last line of its output, here a Python
// exception.
func TestUnknownWork(t *testing.T) {
	_, err := begin(t).Measure(experiment.Peer{Work: "nothing"}, 1)
	if err == nil || !strings.Contains(err.Error(), "peer nothing: KeyError") {
		t.Errorf("the error is %v", err)
	}
}

// stand writes a program in Python's place.
func stand(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartMistakes(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no NumPy": {"echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1", "No module named 'numpy'"},
		"silence":  {"exit 0", "unexpected EOF"},
		"no JSON":  {"echo hello", `answered "hello"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(t.Context(), stand(t, c.script))
			if err == nil {
				p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
	if _, err := Start(t.Context(), "/nowhere/python3"); err == nil {
		t.Error("a program that is not there was started")
	}
}

// The first python3 of PATH that can import NumPy serves.
func TestSearch(t *testing.T) {
	without := stand(t, "exit 1")
	with := stand(t, `[ "$1" = -c ] && exit 0; echo '{"libraries": "NumPy of a stand-in"}'`)
	t.Setenv("PATH", filepath.Dir(without)+":/nowhere")
	if _, err := Start(t.Context(), ""); !errors.Is(err, ErrNone) {
		t.Errorf("the error is %v", err)
	}
	t.Setenv("PATH", filepath.Dir(without)+":"+filepath.Dir(with))
	p, err := Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if p.Libraries != "NumPy of a stand-in" {
		t.Errorf("the libraries are %q", p.Libraries)
	}
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/graphs/backend"
	"privkern/graphs/cpublas"
	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/runner/show/tables"
)

func (a *app) doctorCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: processor, BLAS, CUDA, data sets",
		Long: `Report the parts of this machine, and how to install missing ones: processor and
cores, the BLAS in use and its speed, CUDA or why it is unavailable, and the data
sets. The exit status is 1 if something that was requested cannot be used.`,
		Example: "  run doctor\n  PRIVKERN_BLAS=gonum run doctor\n  run doctor --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			findings := a.examine()
			if output == "json" {
				if err := a.printJSON(findings); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					mark := map[string]string{"ok": "ok  ", "none": "--  ", "problem": "!!  "}[f.State]
					label := fmt.Sprintf("%s%-10s ", mark, f.What)
					for line := range strings.Lines(f.Text) {
						if _, err := io.WriteString(a.out, tables.Hang(label, line, bound(a.out))); err != nil {
							return err
						}
						label = strings.Repeat(" ", len(label))
					}
				}
			}
			for _, f := range findings {
				if f.State == "problem" {
					return errors.New(f.What + ": " + f.Text)
				}
			}
			return nil
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	return cmd
}

// finding is one thing that was looked at.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, none (not there, and not needed) or problem
	Text  string `json:"text"`
}

// examine checks one part of the machine after the other. Nothing is changed.
func (a *app) examine() []finding {
	h := host("")
	out := []finding{
		{"privkern", "ok", fmt.Sprintf("%s, revision %s, %s", h.Version, h.Revision, h.Go)},
		{"processor", "ok", fmt.Sprintf("%s, %d cores", h.CPU, runtime.NumCPU())},
	}
	blas := cpublas.Setup()
	state, text := "ok", blas.String()
	switch {
	case blas.Err != "":
		state, text = "problem", blas.Err
	default:
		text += fmt.Sprintf(
			", float64 product at %.0f GFLOP/s on one core\nBLAS class: %s",
			productSpeed(),
			h.Class(),
		)
		if blas.Name == "gonum" {
			text += "\nfaster with the program's own kernels: unset PRIVKERN_BLAS"
		}
		if blas.Note != "" {
			text += "\n" + blas.Note
		}
	}
	out = append(out, finding{"BLAS", state, text})
	out = append(out, examineCUDA()...)
	for _, s := range dataset.All() {
		folder, digest, err := a.locator().Find(s.Name)
		var missing *dataset.MissingError
		f := finding{"data", "ok", fmt.Sprintf("%s in %s (SHA-256 %.12s)", s.Name, folder, digest)}
		switch {
		case errors.As(err, &missing):
			f.State, f.Text = "none", fmt.Sprintf("%s is not there; %s", s.Name, missing.Advice())
		case err != nil:
			f.State, f.Text = "problem", err.Error()
		}
		out = append(out, f)
	}
	return out
}

// examineCUDA looks at the driver, the libraries and the devices, and computes on one. A
// missing part is a problem only where there is a driver with a device, or should be.
func examineCUDA() []finding {
	if !cuda.Built {
		return []finding{{"CUDA", "none", engine.ErrNoCUDA.Error()}}
	}
	var out []finding
	libraries := cuda.Libraries()
	driver := libraries[0]
	for _, l := range libraries {
		if l.Path != "" {
			out = append(out, finding{"CUDA", "ok", fmt.Sprintf("%s %s: %s", l.Name, l.Version, l.Path)})
		}
		switch {
		case l.Problem == "":
		case !driver.Absent:
			out = append(out, finding{"CUDA", "problem", l.Problem})
		default:
			out = append(out, finding{"CUDA", "none", l.Problem})
		}
		if driver.Path == "" {
			if text, err := os.ReadFile("/proc/driver/nvidia/version"); err == nil {
				first, _, _ := strings.Cut(string(text), "\n")
				out[0] = finding{"CUDA", "problem", l.Problem + "\nthe kernel's part of it is there: " + first}
			}
			return out // libraries do nothing without it
		}
	}
	if driver.Problem != "" {
		return out
	}
	devices, _ := cuda.Devices() // missing libraries are already reported
	for _, d := range devices {
		text := fmt.Sprintf("device %d: %v, %.1f GiB", d.Index, d, float64(d.Memory)/(1<<30))
		out = append(out, finding{"CUDA", "ok", text})
	}
	if info, _, err := cuda.Look("float64"); err == nil {
		out = append(out, examineModel(info))
	}
	e, err := engine.Open("cuda", "float64", 1)
	var fellBack []string
	if err == nil {
		err = backend.Test(e)
		fellBack = e.Warnings()
		err = errors.Join(err, e.Close())
	}
	if text := cuda.Kernels(); text != "" {
		out = append(out, finding{"CUDA", "ok", text})
	}
	if problem := cuda.CacheProblem(); problem != nil {
		out = append(out, finding{"CUDA", "none", problem.Error()})
	}
	switch {
	case err != nil:
		return append(out, finding{"CUDA", "problem", err.Error()})
	case len(fellBack) > 0:
		return append(out, finding{"CUDA", "problem", "a test problem is solved, but not by the device alone: " +
			strings.Join(fellBack, "; ") + "\n--backend auto takes the cpu"})
	}
	return append(out, finding{"CUDA", "ok", "a test problem is solved on the device"})
}

// examineModel is how the times of a device are predicted. A file that cannot be used is a problem
// where a variable names it.
func examineModel(info cuda.Info) finding {
	m := backend.ModelOf(info)
	switch {
	case m.Refused != nil && os.Getenv(backend.CalibrationVariable) != "":
		return finding{"CUDA", "problem", m.Refused.Error()}
	case m.Refused != nil:
		return finding{"CUDA", "none", m.Refused.Error()}
	case !m.Calibrated:
		return finding{"CUDA", "none", "times are predicted by " + m.Source + "; `run bench calibrate` measures the device"}
	}
	return finding{"CUDA", "ok", "times are predicted by " + m.Source}
}

// productSpeed measures a 512×512 matrix product in GFLOP/s.
func productSpeed() float64 {
	const n = 512
	data := func() []float64 {
		d := make([]float64, n*n)
		for i := range d {
			d[i] = 1 / float64(i+1)
		}
		return d
	}
	x, y, z := mat.NewDense(n, n, data()), mat.NewDense(n, n, data()), mat.NewDense(n, n, nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	best := 0.0
	for range 3 {
		start := time.Now()
		z.Mul(x, y)
		best = max(best, 2*n*n*n/time.Since(start).Seconds()/1e9)
	}
	return best
}

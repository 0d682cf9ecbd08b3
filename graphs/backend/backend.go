// Package backend chooses the backend of trials: "cpu" or "cuda".
//
// The name [Auto] stands for cuda where a device is predicted to be faster ([ChooseFor]), can be
// opened and solves a test problem without the host, and for cpu elsewhere. The choice of the CPU
// gives a reason where the machine may have a device, but not where it has no NVIDIA driver,
// because most have none.
package backend

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/cuda"
	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Auto is the name of cuda where a device passes the test problem, of cpu elsewhere.
const Auto = "auto"

// Choice is the backend that a name stands for on this machine.
type Choice struct {
	Backend string // "cpu" or "cuda"
	Device  string // describes the device, its driver and its libraries; empty on the CPU
	// Refused is why [Auto] does not take a device. It is nil where one is taken, and
	// on a machine without an NVIDIA driver.
	Refused error
	// Why compares the predicted times, for people; empty where nothing was predicted.
	Why string
	// Host lists the operations that the host computes for a device that was requested by
	// name, because libraries are missing; it is empty where none is.
	Host string
}

// String is the backend, with the device where there is one.
func (c Choice) String() string {
	if c.Device == "" {
		return c.Backend
	}
	return c.Backend + "; " + c.Device
}

// Choose opens and tests the backend "cpu", "cuda" or [Auto] in an element type, "float64" or
// "float32". For "cuda" it fails where Auto takes the CPU. A device that is taken stays open
// for the engines of this process; see [cuda.Release].
func Choose(name, dtype string) (Choice, error) {
	if name != Auto {
		c, fellBack, err := open(name, dtype)
		c.Host = strings.Join(fellBack, "; ")
		return c, err
	}
	c, fellBack, refused := open("cuda", dtype)
	if refused == nil && len(fellBack) > 0 {
		refused = fmt.Errorf("backend cuda: libraries are missing, see run doctor: %s", strings.Join(fellBack, "; "))
	}
	if refused == nil {
		return c, nil
	}
	// A device that fails may fail to be released, which does not concern the trials.
	_ = cuda.Release()
	c, _, err := open("cpu", dtype)
	if !absent(refused) {
		c.Refused = refused
	}
	return c, err
}

// open opens and tests a backend. fellBack are the warnings about operations that the host
// computed.
func open(name, dtype string) (c Choice, fellBack []string, err error) {
	e, err := engine.Open(name, dtype, 1)
	if err != nil {
		return c, nil, err
	}
	if name != "cpu" {
		if err = Test(e); err != nil {
			err = fmt.Errorf("backend %s: %w", name, err)
		}
	}
	return Choice{Backend: name, Device: e.Accelerator()}, e.Warnings(), errors.Join(err, e.Close())
}

// kernelModule is a file that the NVIDIA driver of this machine makes, inside of
// containers too.
var kernelModule = "/proc/driver/nvidia/version"

// absent reports whether a device is not taken because there is nothing of CUDA: no
// library of the driver, or a build without it, and no driver in the system's kernel.
func absent(refused error) bool {
	if !errors.Is(refused, engine.ErrNoCUDA) && !errors.Is(refused, engine.ErrNoDriver) {
		return false
	}
	_, err := os.Stat(kernelModule)
	return err != nil
}

// Test solves 2·I X = B for 2×2 matrices on an engine: kernels compile, and the
// libraries work. It fails where that fails, and where X or log|2·I| are wrong.
func Test(e *engine.Engine) error {
	x, logdet, err := linalg.SolveSPD(
		e,
		mat.NewDense(2, 2, []float64{2, 0, 0, 2}),
		mat.NewDense(2, 2, []float64{2, 4, 6, 8}),
	)
	if err != nil {
		return fmt.Errorf("a test problem: %w", err)
	}
	tolerance := 1e-12
	if e.DType() == "float32" {
		tolerance = 1e-6
	}
	want := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	// Written so that a logarithm that is not a number is wrong.
	if !mat.EqualApprox(x, want, tolerance) || !(math.Abs(logdet-2*math.Ln2) <= tolerance) {
		return fmt.Errorf(
			"a test problem: the device computes %v and a log-determinant of %g, want %v and %g",
			mat.Formatted(x, mat.FormatMATLAB()), logdet, mat.Formatted(want, mat.FormatMATLAB()), 2*math.Ln2)
	}
	return nil
}

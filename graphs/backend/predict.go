package backend

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"privkern/graphs/cost"
	"privkern/graphs/cuda"
)

// CalibrationVariable is the environment variable with the path of a calibration file, in place of
// the one in the user's cache folder.
const CalibrationVariable = "PRIVKERN_CALIBRATION"

// Model is how the times of a device are predicted.
type Model struct {
	cost.Device
	// Source is the calibration file, or the constants that are used without one.
	Source     string
	Calibrated bool
	// Refused is why a calibration file is not used; nil where none is there.
	Refused error
}

// CalibrationFile returns the path of the calibration file of a device, by its driver and
// libraries, too, where no path is given: that of [CalibrationVariable], or one in the user's
// cache folder.
func CalibrationFile(device string) (string, error) {
	if set := os.Getenv(CalibrationVariable); set != "" {
		return set, nil
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the user's cache folder cannot be found: %w; set %s", err, CalibrationVariable)
	}
	return filepath.Join(folder, "privkern", "calibration", fmt.Sprintf("%.12x.json", sha256.Sum256([]byte(device)))), nil
}

// ModelOf returns the model of a device: by its calibration file, or where there is none that can
// be used by the constants of package cost.
func ModelOf(i cuda.Info) Model {
	m := Model{Device: cost.ModelOf(i.Name, i.Minor, i.Processors)}
	m.Source = "the constants of " + m.Name
	path, err := CalibrationFile(i.String())
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) && os.Getenv(CalibrationVariable) == "" {
		return m
	}
	var c *cost.Calibration
	if err == nil {
		c, err = cost.ReadCalibration(content, i.String())
	}
	if err != nil {
		m.Refused = fmt.Errorf("the calibration file %s is not used: %w; times are predicted by %s; "+
			"`run bench calibrate` writes one", path, err, m.Source)
		return m
	}
	m.Device, m.Source, m.Calibrated = c.Model, path, true
	return m
}

// ChooseFor is [Choose] of [Auto] for a plan, which plan makes after [cost.SetOwn] where there is
// a device: the device is taken if it is predicted to be faster. Nothing is predicted, and the
// device is taken where it passes the test problem, if no trial could be tried or libraries are
// missing. notice is a problem that costs no result.
func ChooseFor(dtype string, plan func() (cost.Plan, error)) (c Choice, notice error, err error) {
	info, cold, refused := cuda.Look(dtype)
	if refused != nil || info.Products == "" || info.Solver == "" {
		c, err = Choose(Auto, dtype) // with the reasons against the device
		return c, nil, err
	}
	m := ModelOf(info)
	cost.SetOwn(m.Device)
	p, err := plan()
	if err != nil {
		return c, m.Refused, err
	}
	if len(p.Tried) == 0 {
		if c, err = Choose(Auto, dtype); c.Backend == "cuda" {
			c.Why = "nothing is predicted, because no trial could be tried, or none ran a program in the time for that"
		}
		return c, m.Refused, err
	}
	p.Cold = cold
	predicted := p.Predict(m.Device)
	name := "cpu"
	if predicted.Pays() {
		name = Auto
	}
	if c, err = Choose(name, dtype); err == nil && c.Refused == nil {
		c.Why = explain(predicted, info.Name, m.Source)
	}
	return c, m.Refused, err
}

// explain puts a prediction into words.
func explain(p cost.Prediction, device, source string) string {
	what := "one trial takes"
	if n := math.Round(p.Trials); n > 1 {
		what = fmt.Sprintf("%.0f trials, of %s each, take", n, seconds(p.Trial))
	}
	return fmt.Sprintf("%s %s on the CPU and %s predicted on %s, %s of it to start (by %s)", what, seconds(p.CPU),
		seconds(p.Device), device, seconds(p.Start), source)
}

// seconds writes a time with two digits.
func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.2g s", s)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

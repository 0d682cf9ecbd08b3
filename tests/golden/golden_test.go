package golden

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/experiments/dataset"
	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/tests/tier"
)

var update = flag.Bool("update", false, "write the files of experiments whose result version was raised")

// madeOn is the BLAS class on which the files are made, and compared to the
// last bit.
const madeOn = "privkern"

// otherClass is how far results of another BLAS class may be away. Without
// fused multiply-add formulas move by 1e-12, the noise of cloaking, whose solver
// stops at a tolerance, by 3e-8, and condition numbers of 1e9 by 1e-7.
const otherClass = 1e-6

func TestMain(m *testing.M) {
	// Before anything computes: the program's own kernels, for any environment.
	if err := os.Setenv(cpublas.EnvVar, "privkern"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var err error
	if testdata, err = filepath.Abs("testdata"); err != nil { // tests change the folder
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestGolden runs the settings of every experiment with one worker and with two,
// and compares them with each other and with the files.
func TestGolden(t *testing.T) {
	registry := experiment.RegistryOf(experiments.Papers())
	class := record.Provenance{Go: record.Toolchain(), BLAS: cpublas.Setup().String()}.Class()
	tolerance := 0.0
	if class != madeOn {
		tolerance = otherClass
		t.Logf("this machine computes with %s, the files were made on %s: numbers are compared within %g, not to the "+
			"last bit",
			class, madeOn, otherClass)
	}
	for name := range settings {
		if _, err := registry.Lookup(name); err != nil {
			t.Errorf("settings of an experiment that there is not: %v", err)
		}
	}
	t.Run("to the last bit", func(t *testing.T) {
		if class != madeOn {
			t.Skipf("this machine computes with %s, and the files were made on %s", class, madeOn)
		}
	})
	folder := dataFolder(t)
	for _, name := range registry.Names() {
		t.Run(name, func(t *testing.T) {
			e, err := registry.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			if long[name] {
				tier.Night(t, "it takes a minute")
			}
			now := file{Experiment: name, ResultVersion: e.Version, Class: class, Tolerance: tolerance}
			for _, s := range settingsOf(name) {
				now.Trials = append(now.Trials, compute(t, e, s, folder))
			}
			was, err := read(name)
			switch {
			case errors.Is(err, errAbsent) && *update && class == madeOn:
				err = now.write()
			case err == nil && *update:
				if err = rewrite(was, now); err == nil {
					err = now.write()
				}
			case err == nil:
				err = compare(was, now)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// compute runs a setting with one worker and with two, and returns its golden
// trial. It skips the test where data are missing.
func compute(t *testing.T, e *experiment.Experiment, setting, folder string) goldenTrial {
	t.Helper()
	given := map[string]any{}
	for assignment := range strings.FieldsSeq(setting) {
		param, value, ok := strings.Cut(assignment, "=")
		if !ok {
			t.Fatalf("the setting %q: %q is not name=value", setting, assignment)
		}
		given[param] = value
	}
	params, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 1
	planned, folders, absent, err := plan.Single(sweep.Assignment{Experiment: e, Params: params, Seed: seed},
		plan.NewDatasets(dataset.NewLocator(folder)), plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	var missing plan.MissingDataset
	switch {
	case errors.As(absent, &missing):
		t.Skipf("it reads real data: %v", absent)
	case absent != nil:
		t.Fatal(absent)
	}
	job := trial.Job{Key: planned.Key, Identity: planned.Identity, Folders: folders}
	realData := false
	for name := range folders {
		realData = realData || !strings.HasPrefix(name, "csv:")
	}
	var out goldenTrial
	for workers := 1; workers <= 2; workers++ {
		job.Workers = workers
		r, err := trial.Execute(t.Context(), e, job, engine.Opener, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != record.OK {
			t.Fatalf("%q: %s: %s", setting, r.Status, *r.Error)
		}
		k, err := keep(e, setting, r, realData)
		if err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			out = k
			continue
		}
		for _, d := range differences(out, k, 0) {
			t.Errorf("%q depends on the number of workers: with %d %s %s", setting, workers, d.path, d.text)
		}
	}
	return out
}

package experiments

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Every experiment on own data that learns from them is a case, and its settings resolve.
func TestScalingCasesAreAllMethods(t *testing.T) {
	cases := map[string]bool{}
	for _, c := range ScalingCases() {
		cases[c.Experiment] = true
	}
	file := filepath.Join(t.TempDir(), "d.csv")
	if err := os.WriteFile(file, []byte("x1,y\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := map[string]*experiment.Experiment{}
	for _, p := range Papers() {
		for _, e := range p.Experiments {
			found[e.Name] = e
			i := slices.IndexFunc(e.Params, func(p experiment.Param) bool { return p.Name == "dataset" })
			own := i >= 0 && strings.Contains(e.Params[i].Doc, "csv:") && e.Name != "stats/columns" // which learns nothing
			if own != cases[e.Name] {
				t.Errorf("%s: own data %v, measured %v", e.Name, own, cases[e.Name])
			}
		}
	}
	for _, c := range ScalingCases() {
		for _, inner := range []int{0, 3} {
			if inner > 0 && c.Inner == "" {
				continue
			}
			given := map[string]any{}
			for _, s := range c.Arguments(file, inner) {
				name, value, _ := strings.Cut(s, "=")
				if _, twice := given[name]; twice {
					t.Errorf("%s: %s is given twice", c.Name(), name)
				}
				given[name] = value
			}
			p, err := found[c.Experiment].Resolve(given)
			if err != nil {
				t.Errorf("%s: %v", c.Name(), err)
				continue
			}
			if name, _, ok := NewOwnSizes().Of(found[c.Experiment], p); !ok || name != c.Name() {
				t.Errorf("%s has the size of %q", c.Name(), name)
			}
		}
	}
}

func TestScalingDataGrow(t *testing.T) {
	write := func(kind ScalingData, seed uint64, rows int) []byte {
		var b bytes.Buffer
		if err := WriteScalingData(&b, kind, seed, rows, 3); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, kind := range []ScalingData{values, classes, persons} {
		small, large := write(kind, 0, 20), write(kind, 0, 40)
		if !bytes.HasPrefix(large, small) || bytes.Count(large, []byte("\n")) != 41 {
			t.Errorf("%s: 40 rows do not begin with the 20", kind)
		}
		if bytes.Equal(small, write(kind, 1, 20)) {
			t.Errorf("%s: another seed gives the same rows", kind)
		}
	}
	if text := string(write(classes, 0, 40)); !strings.Contains(text, ",a\n") || !strings.Contains(text, ",b\n") {
		t.Error("a class is missing")
	}
}

func TestOwnSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteScalingData(f, values, 0, 500, 4); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	sizes := NewOwnSizes()
	for _, c := range []struct {
		experiment, settings, name string
		fits                       float64
	}{
		{"baseline/ridge", "inputs=* output=y low=-1 high=1 input_low=0 input_high=1 delta=1e-6", "baseline/ridge", 1},
		{"baseline/ridge", "inputs=x1+x2+x3+x4 output=y low=-1 high=1 input_low=0 input_high=1 delta=1e-6 repeats=5",
			"baseline/ridge", .5},
		{"cloaking/regression", "inputs=x1+x2+x3+x4 output=y low=-1 high=1 delta=1e-6 method=sparse",
			"cloaking/regression sparse", 1},
		{"cloaking/regression", "inputs=x1+x2+x3+x4 output=y low=-1 high=1 delta=1e-6 method=nonstationary", "", 0},
		{"privacygp/regression", "", "", 0}, // simulated
	} {
		var e *experiment.Experiment
		for _, p := range Papers() {
			for _, x := range p.Experiments {
				if x.Name == c.experiment {
					e = x
				}
			}
		}
		given := map[string]any{}
		if c.settings != "" {
			given["dataset"] = "csv:" + file
		}
		for s := range strings.FieldsSeq(c.settings) {
			name, value, _ := strings.Cut(s, "=")
			given[name] = value
		}
		p, err := e.Resolve(given)
		if err != nil {
			t.Fatalf("%s: %v", c.experiment, err)
		}
		name, size, ok := sizes.Of(e, p)
		if ok != (c.name != "") || ok && (name != c.name || size.Fits != c.fits || size.Inputs != 4 || size.Rows < 450 ||
			size.Rows > 550) {
			t.Errorf("%s %s: %q %+v %v", c.experiment, c.settings, name, size, ok)
		}
	} // The file is read once for settings that differ in others.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, p := range Papers() {
		for _, e := range p.Experiments {
			if e.Name != "baseline/ridge" {
				continue
			}
			settings, err := e.Resolve(map[string]any{"dataset": "csv:" + file, "inputs": "*", "output": "y", "low": "-1",
				"high": "1", "input_low": "0", "input_high": "1", "delta": "1e-6", "epsilon": "7"})
			if _, size, ok := sizes.Of(e, settings); err != nil || !ok || size.Inputs != 4 {
				t.Errorf("with another epsilon: %+v %v %v", size, ok, err)
			}
		}
	}
}

package memory

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"privkern/experiments"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// aboveMost bounds an estimate as a multiple of the measured peak, because one
// that is too large leaves workers idle.
const aboveMost = 2

// trialSize is a trial of an experiment, at its defaults but for args.
type trialSize struct {
	experiment string
	args       map[string]any
}

func (s trialSize) name() string {
	name := s.experiment
	for _, key := range slices.Sorted(maps.Keys(s.args)) {
		name += " " + key + "=" + experiment.FormatValue(s.args[key])
	}
	return strings.ReplaceAll(name, "/", " ")
}

// sizes are trials of experiments that are not measured at their defaults alone: at sizes
// whose memory exceeds that of any process, where that needs few seconds, or at short ones.
var sizes = []trialSize{
	{"cloaking/stripes", map[string]any{"points": 1000}},
	{"cloaking/stripes", map[string]any{"points": 1000, "method": "sparse"}},
	{"cloaking/mnist", map[string]any{"train": 500, "method": "standard"}},
	{"cloaking/mnist", nil},
	{"dpgp/calibration", map[string]any{"repeats": 5}},
	{"dpgp/classification", map[string]any{"n": 100000, "repeats": 1}},
	{"dpgp/hyperparameters", map[string]any{"repeats": 5}},
	{"dpgp/inference", nil},
	{"dpgp/inference", map[string]any{"n": 200000}},
	{"dpgp/regularisation", map[string]any{"repeats": 10}},
	{"dpgp/scenarios", map[string]any{"repeats": 5}},
	{"dpgp/search-time", map[string]any{"repeats": 5}},
	{"kahm/classifier", map[string]any{"train": 2000, "test": 1000}},
	{"kahm/fabrication", map[string]any{"images": 200}},
	{"kahm/fabrication", map[string]any{"images": 1000}},
	{"kahm/federated", map[string]any{"train": 2000, "test": 500}},
	{"kahm/layers", map[string]any{"images": 1000, "layers": 5}},
	{"kahm/reference", nil},
	{"kahm/reference", map[string]any{"rows": 1000}},
	{"kahm/stress", map[string]any{"history": 100}},
	{"kahm/stress", nil},
	{"kahm/timing", map[string]any{"rows": 200, "dim": 20000, "repeats": 1}},
	{"kahm/timing", map[string]any{"rows": 1500, "dim": 300, "repeats": 1}},
	{"kahm/toy", nil},
	{"kahm/toy", map[string]any{"samples": 1000}},
	{"multikernel/har", map[string]any{"dataset": "har-reconstructed"}},
	{"multikernel/mhealth", map[string]any{"dataset": "mhealth-6ch"}},
	{"multikernel/eigenproblem", map[string]any{"dataset": "har-surrogate"}},
	{"multikernel/eigenproblem", map[string]any{"dataset": "har-surrogate", "samples": 1200}},
	{"multikernel/reference", nil},
	{"multikernel/reference", map[string]any{"rows": 1500}},
	{"privacygp/example1", nil},
	{"privacygp/example1", map[string]any{"points": 600}},
	{"privacygp/example2", map[string]any{"points": 100}},
	{"privacygp/nested", map[string]any{"points": 600}},
	{"privacygp/satellite", map[string]any{"points": 600}},
	{"privacygp/scaling", map[string]any{"points": 600}},
	{"privacygp/scaling", map[string]any{"points": 40, "method": "general"}},
	{"privacygp/strong", map[string]any{"points": 300, "noise_variance": 0.001}},
	{"privacygp/uniform", map[string]any{"points": 600}},
	{"privacygp/weak", map[string]any{"points": 350, "noise_variance": 0.001}},
	{"cloaking/design", map[string]any{"inputs": "synthetic"}},
	{"cloaking/hmeq", map[string]any{"rows": 2000}},
	{"cloaking/regression", map[string]any{"inputs": "age+weight"}},
	{"dpgp/sensitivity", map[string]any{"inducing": 80}},
}

// unknown has experiments whose memory is not known before they run, and why.
var unknown = map[string]string{
	"kahm/freiburg": "the user's features have as many columns as they have",
}

// measured returns the trials of every experiment that estimates its memory, or of every one that
// does not, at the defaults where sizes has none.
func measured(estimates bool) []trialSize {
	var out []trialSize
	for _, p := range experiments.Papers() {
		for _, e := range p.Experiments {
			if _, open := unknown[e.Name]; open || (e.Memory != nil) != estimates {
				continue
			}
			listed := slices.DeleteFunc(slices.Clone(sizes), func(s trialSize) bool { return s.experiment != e.Name })
			if len(listed) == 0 {
				listed = []trialSize{{experiment: e.Name}}
			}
			out = append(out, listed...)
		}
	}
	return out
}

// The estimate of a trial's memory is at least its peak, and not much more.
func TestMemoryEstimates(t *testing.T) {
	oneByOne(t)
	for _, c := range measured(true) {
		t.Run(c.name(), c.compare)
	}
}

// oneByOne skips tests that measure the memory of many processes one after the other.
func oneByOne(t *testing.T) {
	t.Helper()
	tier.Night(t, "it measures one process after the other")
}

// compare compares the estimate of a trial with its peak.
func (s trialSize) compare(t *testing.T) {
	e := lookup(t, s.experiment)
	params, err := e.Resolve(s.args)
	if err != nil {
		t.Fatal(err)
	}
	estimate, peak := e.Memory(params), s.peak(t)
	t.Logf("estimated %d MiB, measured %d MiB", estimate>>20, peak>>20)
	if estimate < peak || estimate > aboveMost*peak {
		t.Errorf("%d MiB are estimated and %d MiB measured, of which it may be once to %d times",
			estimate>>20, peak>>20, aboveMost)
	}
}

// An experiment that estimates nothing takes little.
func TestSmallMemory(t *testing.T) {
	for _, c := range measured(false) {
		t.Run(c.name(), func(t *testing.T) {
			peak := c.peak(t)
			t.Logf("measured %d MiB", peak>>20)
			if peak > experiment.SmallMemory {
				t.Errorf("%d MiB are measured, more than %d: it needs an estimate", peak>>20, experiment.SmallMemory>>20)
			}
		})
	}
}

// The lists name experiments that there are, and an estimate of 0 is one that is not known.
func TestMemoryOfEveryExperiment(t *testing.T) {
	for _, s := range sizes {
		lookup(t, s.experiment)
	}
	for name := range unknown {
		e := lookup(t, name)
		params, err := e.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.Memory == nil || e.Memory(params) != 0 {
			t.Errorf("%s estimates its memory, which is not known", name)
		}
	}
}

// peak runs a trial and returns its peak memory in bytes; it skips the test where
// there are no data.
func (s trialSize) peak(t *testing.T) int64 {
	t.Helper()
	args := []string{"trial", s.experiment}
	for name, v := range s.args {
		args = append(args, name+"="+experiment.FormatValue(v))
	}
	cmd := program.Command(t, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // the memory of further cores is not estimated
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	var r record.Record
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Status == record.Skipped {
		t.Skip(*r.Error)
	}
	return r.Timing.PeakRSSBytes
}

func lookup(t *testing.T, name string) *experiment.Experiment {
	t.Helper()
	for _, p := range experiments.Papers() {
		for _, e := range p.Experiments {
			if e.Name == name {
				return e
			}
		}
	}
	t.Fatalf("there is no experiment %s", name)
	return nil
}

// A trial that does not fit is not started, in its control group too.
func TestTrialThatDoesNotFit(t *testing.T) {
	group := program.SmallGroup(t, 400<<20)
	run := func(args ...string) (string, error) {
		// The shell enters the group and becomes the program.
		script := `echo $$ > "$0/cgroup.procs" && exec "$@"`
		out, err := exec.Command("sh", append([]string{"-c", script, group, program.Path(t), "trial", "cloaking/stripes"},
			args...)...).CombinedOutput()
		return string(out), err
	}
	out, err := run("points=2000")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out, "needs about 0.6 GiB, 0.") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run("points=50"); err != nil {
		t.Errorf("a small one: %v\n%s", err, out)
	}
	if out, err := run("points=50", "--ignore-memory"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"privkern/runner/experiment"
)

// roleVariable makes this test's program one that a trial runs.
const roleVariable = "PRIVKERN_COMMAND_TEST"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		return
	}
	os.Exit(m.Run())
}

// play is a program of a user's.
func play(role string) {
	switch role {
	case "environment":
		fmt.Printf(`{"seed": %s, "workers": %s, "omp": %s, "arguments": %d}`+"\n", os.Getenv("PRIVKERN_SEED"),
			os.Getenv("PRIVKERN_WORKERS"), os.Getenv("OMP_NUM_THREADS"), len(os.Args)-1)
	case "stdin":
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Print(line)
	case "file":
		_ = os.WriteFile(filepath.Join(os.Getenv("PRIVKERN_SCRATCH"), "m.json"), []byte("{\n \"x\": 4\n}\n"), 0o600)
	case "two":
		fmt.Println("{\"x\": 1}\nnoise\n{\"x\": 2}\nbye")
	case "nothing":
		fmt.Fprintln(os.Stderr, "oh\ndear")
	case "status":
		fmt.Println(`{"x": 1}`)
		fmt.Fprintln(os.Stderr, "Traceback\nValueError: no such loss")
		os.Exit(7)
	case "much":
		block := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000))
		for range 60 {
			_, _ = os.Stdout.Write(block)
		}
		fmt.Println(`{"x": 5}`)
	case "long":
		_, _ = os.Stdout.WriteString(`{"x": ` + strings.Repeat(" ", 3*maxResult) + "5}\n")
	case "child":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), roleVariable+"=sleep")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // as it would inherit them
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Printf(`{"child": %d}`+"\n", child.Process.Pid)
	case "sleep":
		time.Sleep(time.Hour)
	case "killed":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Hour)
	}
}

// trialOf returns a trial of this program in a role, in a folder of its own.
func trialOf(t *testing.T, d Definition, settings experiment.Params) (*experiment.Trial, experiment.Params) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.Command = append([]string{program}, d.Command...)
	p := experiment.Params{Name: d.Text()}
	for name, v := range settings {
		p[name] = v
	}
	return &experiment.Trial{
		Identity: experiment.Identity{Seed: 11, Backend: "cpu", DType: "float64", Params: p, Datasets: map[string]string{}},
		Workers:  3, Folder: t.TempDir(), Spent: new(experiment.Usage),
	}, p
}

func show(r *experiment.Result) string { return fmt.Sprint(r.Metrics, r.Series, r.Warnings) }

func TestRun(t *testing.T) {
	for _, c := range []struct {
		role, want string
		definition Definition
		settings   experiment.Params
	}{
		{role: "environment", want: "map[arguments:2 omp:3 seed:11 workers:3] map[] []",
			definition: Definition{Command: []string{"{lr}", ""}}, settings: experiment.Params{"lr": 0.1}},
		{role: "stdin", want: "map[layers:2 lr:0.25] map[] []", definition: Definition{Stdin: StdinJSON},
			settings: experiment.Params{"lr": 0.25, "layers": 2}},
		{role: "file", want: "map[x:4] map[] []", definition: Definition{Output: "m.json"}},
		{role: "two", want: "map[x:2] map[] []"},
		{role: "much", want: "map[x:5] map[] []"},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Setenv(roleVariable, c.role)
			trial, p := trialOf(t, c.definition, c.settings)
			got, err := run(context.Background(), trial, p)
			if err != nil {
				t.Fatal(err)
			}
			if show(got) != c.want {
				t.Errorf("%s, want %s", show(got), c.want)
			}
		})
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct {
		role, want, detail string
		definition         Definition
	}{
		{"nothing", "no line of JSON on standard output, such as {\"metrics\": {\"loss\": 0.5}}; its last line on standard " +
			"error: dear", "oh\ndear\n", Definition{}},
		{"status", "ended with exit status 7: ValueError: no such loss", "Traceback\nValueError: no such loss\n",
			Definition{}},
		{"two", "did not write m.json into its scratch folder", "", Definition{Output: "m.json"}},
		{"long", "no line of JSON in the last 16 MiB", "", Definition{}},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Setenv(roleVariable, c.role)
			trial, p := trialOf(t, c.definition, nil)
			got, err := run(context.Background(), trial, p)
			var failed *failure
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) || failed.Detail() != c.detail {
				t.Errorf("%+v, %v (%+v), want an error with %q and %q", got, err, failed, c.want, c.detail)
			}
		})
	}
}

func TestRunOfNoProgram(t *testing.T) {
	trial, _ := trialOf(t, Definition{}, nil)
	for _, name := range []string{"no-such-program-anywhere", "./absent.sh"} {
		d := Definition{Command: []string{name}}
		_, err := run(context.Background(), trial, experiment.Params{Name: d.Text()})
		if err == nil || !strings.Contains(err.Error(), "cannot be started") {
			t.Errorf("%s: %v", name, err)
		}
	}
	trial.Folder = ""
	if _, err := run(context.Background(), trial, trial.Params); err == nil || !strings.Contains(err.Error(),
		"run sweep") {
		t.Errorf("a program runs without a folder: %v", err)
	}
}

// A program that others kill has no result, which is the machine's doing.
func TestRunOfKilledProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	t.Setenv(roleVariable, "killed")
	trial, p := trialOf(t, Definition{}, nil)
	_, err := run(context.Background(), trial, p)
	var machine interface{ MachineAdvice() string }
	if !errors.As(err, &machine) || !strings.Contains(err.Error(), "SIGKILL") {
		t.Errorf("%v", err)
	}
}

// The end of the context is the end of the program.
func TestRunIsCancelled(t *testing.T) {
	t.Setenv(roleVariable, "sleep")
	trial, p := trialOf(t, Definition{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := run(ctx, trial, p); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A process that a program leaves behind is killed, and holds up nothing by the standard
// output that it has inherited.
func TestRunEndsWhatIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the runner ends the group of the worker")
	}
	t.Setenv(roleVariable, "child")
	trial, p := trialOf(t, Definition{}, nil)
	began := time.Now()
	got, err := run(context.Background(), trial, p)
	if err != nil {
		t.Fatal(err)
	}
	metrics := got.Metrics
	child, err := os.FindProcess(int(metrics["child"]))
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Signal(syscall.Signal(0)); err == nil {
		t.Errorf("process %d is alive", child.Pid)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "left processes behind") {
		t.Errorf("warnings %q", got.Warnings)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it is awaited for %v", took)
	}
	if Remained() {
		t.Error("processes may be left")
	}
}

// Time and memory are those of the program.
func TestRunAddsUsage(t *testing.T) {
	t.Setenv(roleVariable, "two")
	trial, p := trialOf(t, Definition{}, nil)
	if _, err := run(context.Background(), trial, p); err != nil {
		t.Fatal(err)
	}
	if trial.Spent.CPU <= 0 {
		t.Errorf("%v of processor time", trial.Spent.CPU)
	}
	if runtime.GOOS != "windows" && trial.Spent.PeakRSS < 1<<20 {
		t.Errorf("a peak of %d bytes", trial.Spent.PeakRSS)
	}
}

// A file that is not that of the plan fails the trial, before the program runs and after it.
func TestRunRefusesChangedFiles(t *testing.T) {
	t.Setenv(roleVariable, "two")
	trial, _ := trialOf(t, Definition{}, nil)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := Definition{Command: []string{program}, Files: []string{"train.py"}}
	p := experiment.Params{Name: d.Text()}
	path := filepath.Join(trial.Folder, "train.py")
	trial.Dataset = func(string) string { return path }
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	if _, trial.Datasets["file:train.py"], err = Find(trial.Folder, "file:train.py"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(context.Background(), trial, p); err != nil {
		t.Fatal(err)
	}
	write("another")
	if _, err := run(context.Background(), trial, p); err == nil || !strings.Contains(err.Error(),
		"train.py was changed after") {
		t.Errorf("a changed file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := run(context.Background(), trial, p); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("no file: %v", err)
	}
}

// Settings on standard input are JSON of their types.
func TestSettingsJSON(t *testing.T) {
	raw, err := settingsJSON(experiment.Params{Name: "{}", "a": 1, "b": 0.5, "c": "x", "d": true, "e": []float64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil || len(got) != 5 || got["d"] != true || got["c"] != "x" {
		t.Errorf("%s, %v", raw, err)
	}
}

// A worker's device is the only one that a program sees.
func TestEnvironmentOfDevice(t *testing.T) {
	for _, c := range []struct{ device, visible, backend, want string }{
		{"", "2,3", "cuda", "2,3"}, {"1", "", "cuda", "1"}, {"1", "2,3", "cuda", "3"}, {"1", "2,3", "cpu", "2,3"},
		{"4", "2,3", "cuda", "4"},
	} {
		t.Setenv("PRIVKERN_DEVICE", c.device)
		t.Setenv("CUDA_VISIBLE_DEVICES", c.visible)
		got := ""
		for _, v := range environment(&experiment.Trial{Identity: experiment.Identity{Backend: c.backend}}, "") {
			if value, ok := strings.CutPrefix(v, "CUDA_VISIBLE_DEVICES="); ok {
				got = value // the last one holds
			}
		}
		if got != c.want {
			t.Errorf("device %q of %q on %s: %q, want %q", c.device, c.visible, c.backend, got, c.want)
		}
	}
}

func TestLabel(t *testing.T) {
	script := Definition{Command: []string{"python3", "-u", "src/train.py"}, Files: []string{"src/train.py", "a.csv"}}
	if got := script.Label(); got != "train.py" {
		t.Errorf("a script is %q", got)
	}
	alone := Definition{Command: []string{"/usr/bin/true", "0.5"}}
	if got := alone.Label(); got != "true" {
		t.Errorf("a program without files is %q", got)
	}
}

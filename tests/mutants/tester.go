package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"privkern/tests/tier"
)

// limit is how long the tests of one mutant may run: a mutant that makes a loop
// endless dies of it.
const limit = 5 * time.Minute

// tester runs tests, with or without a mutant.
type tester struct {
	simulator string
	limit     time.Duration
}

// baseline runs the tests of the mutants on the code as it is, those of a package
// together. Of tests that fail anyway, none dies.
func (t *tester) baseline(ctx context.Context, of []Mutant) error {
	type suite struct {
		folder, env string
		device      bool
	}
	var order []suite
	tests := map[suite][]string{}
	for _, m := range of {
		at := suite{m.Package, m.Env, m.Device}
		if tests[at] == nil {
			order = append(order, at)
		}
		if !slices.Contains(tests[at], m.Tests) {
			tests[at] = append(tests[at], m.Tests)
		}
	}
	for _, at := range order {
		all := strings.Join(tests[at], "|")
		if slices.Contains(tests[at], "") {
			all = ""
		}
		what := strings.TrimSpace(at.env + " " + at.folder)
		output, err := t.test(ctx, Mutant{Package: at.folder, Env: at.env, Device: at.device, Tests: all}, "")
		if err != nil {
			return fmt.Errorf("the tests of %s %s fail without any mutant: %w\n%s", what, all, err, output)
		}
		for _, one := range tests[at] {
			if !passes(output, one) {
				return fmt.Errorf("%s %s: none of its tests runs and passes:\n%s", what, one, output)
			}
		}
	}
	return nil
}

var passing = regexp.MustCompile(`(?m)^\s*--- PASS: (\S+)`)

// passes tells whether one of the tests passed that a pattern for -run names: names of
// tests and subtests between slashes, and alternatives of them.
func passes(output, pattern string) bool {
	for _, name := range passing.FindAllStringSubmatch(output, -1) {
		parts := strings.Split(name[1], "/")
		for alternative := range strings.SplitSeq(pattern, "|") {
			levels := strings.Split(alternative, "/")
			found := len(levels) <= len(parts)
			for i := 0; found && i < len(levels); i++ {
				found = regexp.MustCompile(levels[i]).MatchString(parts[i])
			}
			if found {
				return true
			}
		}
	}
	return false
}

// atOnce bounds the mutants that are looked at together: to build one is a while of one
// processor, and their tests take memory.
const atOnce = 4

// outcome is the result of the tests of a mutant: the name of a test that fails, "" for none,
// and an error where the tests did not run.
type outcome struct {
	by   string
	err  error
	took time.Duration
}

// outcomes tests the mutants, some at once, and yields their outcomes in order.
func (t *tester) outcomes(ctx context.Context, of []Mutant) iter.Seq2[Mutant, outcome] {
	return func(yield func(Mutant, outcome) bool) {
		outcomes, free := make([]chan outcome, len(of)), make(chan struct{}, min(atOnce, runtime.NumCPU()))
		for i := range of {
			outcomes[i] = make(chan outcome, 1)
		}
		go func() {
			for i, m := range of {
				free <- struct{}{}
				go func() {
					start := time.Now()
					by, err := t.deathOf(ctx, m)
					outcomes[i] <- outcome{by, err, time.Since(start)}
					<-free
				}()
			}
		}()
		for i, m := range of {
			if !yield(m, <-outcomes[i]) {
				return
			}
		}
	}
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// deathOf returns which test dies of the mutant; it is empty where none does. A
// mutant that does not compile is an error, and shows nothing.
func (t *tester) deathOf(ctx context.Context, m Mutant) (string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	output, err := t.test(ctx, m, overlay)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	switch by := failed.FindStringSubmatch(output); {
	case err == nil:
		return "", nil
	case !errors.As(err, &exit):
		return "", err
	case by != nil:
		return by[1], nil
	case strings.Contains(output, "panic: test timed out"):
		return "the time limit", nil
	case strings.Contains(output, "panic: ") || strings.Contains(output, "fatal error: "):
		return "a panic", nil
	default:
		return "", fmt.Errorf("its tests did not run:\n%s", output)
	}
}

// overlay writes the file by which the go command reads the mutant instead of the
// real file.
func (m Mutant) overlay(dir string) (string, error) {
	text, err := m.mutated(".")
	if err != nil {
		return "", err
	}
	real, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.Base(m.File))
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {real: file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(overlay, raw, 0o600))
}

// test runs the tests that are to notice m, with the overlay unless it is "".
func (t *tester) test(ctx context.Context, m Mutant, overlay string) (output string, err error) {
	args := []string{"test", "-count=1", "-v", "-failfast", "-vet=off", "-timeout", t.limit.String(),
		"-run", m.Tests}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if m.Device {
		args = append(args, "-exec", "env PRIVKERN_CUDA="+t.simulator+" PRIVKERN_TEST_BACKEND=cuda")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, m.Package)...)
	// By night tests take all of a list. They draw as by day, because a mutant should die again.
	cmd.Env = append(os.Environ(), tier.Variable+"=night", tier.SeedVariable+"=1", tier.DrawsVariable+"=500", m.Env)
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

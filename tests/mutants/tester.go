package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// baseline runs the tests of the mutants on the code as it is. Of tests that
// fail anyway, none dies.
func (t *tester) baseline(ctx context.Context, of []Mutant) error {
	done := map[string]bool{}
	for _, m := range of {
		what := strings.TrimSpace(m.Env + " " + m.Package + " " + m.Tests)
		if done[what] {
			continue
		}
		done[what] = true
		output, err := t.test(ctx, m, "")
		if err != nil {
			return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", what, err, output)
		}
		if strings.Contains(output, "no tests to run") || !strings.Contains(output, "--- PASS") {
			return fmt.Errorf("%s: none of its tests runs and passes:\n%s", what, output)
		}
	}
	return nil
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

// overlay writes the file that shows the go command the mutant in place of the
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

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"privkern/tests/tier"
)

// test is a test or subtest of a package.
type test struct{ pkg, name string }

func (t test) String() string { return strings.TrimPrefix(t.pkg, "privkern/") + " " + t.name }

// verdict is the outcome of a test.
type verdict string

const (
	passed  verdict = "pass"
	failed  verdict = "fail"
	skipped verdict = "skip"
)

// events holds the report of a run of tests.
type events struct {
	verdicts map[test]verdict
	output   map[test][]string // by test; that of a package under an empty name
	other    []string          // output of the go command: errors of a build
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
}

// read reads the lines of `go test -json`. A line that is not JSON is the go command's own.
func read(r io.Reader) (*events, error) {
	e := &events{verdicts: map[test]verdict{}, output: map[test][]string{}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			e.add(line)
		}
		if errors.Is(err, io.EOF) {
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (e *events) add(line []byte) {
	var one event
	if json.Unmarshal(line, &one) != nil {
		e.other = append(e.other, string(line))
		return
	}
	t := test{one.Package, one.Test}
	switch v := verdict(one.Action); {
	case one.Action == "output":
		e.output[t] = append(e.output[t], one.Output)
	case one.Action == "build-output":
		e.other = append(e.other, one.Output)
	case v == passed || v == failed || v == skipped:
		e.verdicts[t] = v
	}
}

// names returns the tests with that verdict, in order; a package counts under an
// empty name where packages is set.
func (e *events) names(v verdict, packages bool) []test {
	var all []test
	for t, got := range e.verdicts {
		if got == v && (packages || t.name != "") {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) })
	return all
}

// leaf reports whether a test has no subtests. A test with subtests passes without a check
// when all of them are skipped.
func (e *events) leaf(t test) bool {
	for other := range e.verdicts {
		if other.pkg == t.pkg && strings.HasPrefix(other.name, t.name+"/") {
			return false
		}
	}
	return true
}

// position matches the position that begins a line of a test's log.
var position = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)

// reason returns the reason why a test was skipped: the last of its own lines.
func (e *events) reason(t test) string {
	for _, line := range slices.Backward(e.output[t]) {
		text := strings.TrimSpace(position.ReplaceAllString(line, ""))
		if text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			return text
		}
	}
	return "no reason given"
}

// step prints the failures of a run in full, and the skipped tests with their reasons. It
// fails where a test failed, where none passed, and where no test has one of the names
// given by -run (separated by |).
func step(out io.Writer, run string, e *events) error {
	for _, text := range e.other {
		_, _ = io.WriteString(out, text)
	}
	for _, t := range e.names(failed, true) {
		_, _ = fmt.Fprintf(out, "FAILED: %s\n%s", t, strings.Join(e.output[t], ""))
	}
	for _, t := range e.names(skipped, false) {
		_, _ = fmt.Fprintf(out, "skipped: %s: %s\n", t, e.reason(t))
	}
	done := slices.DeleteFunc(e.names(passed, false), func(t test) bool { return !e.leaf(t) })
	_, _ = fmt.Fprintf(out, "%d tests passed, %d were skipped\n", len(done), len(e.names(skipped, false)))
	switch {
	case len(e.names(failed, true)) > 0:
		return errors.New("tests failed")
	case len(e.verdicts) == 0 && len(e.other) > 0:
		return errors.New("nothing could be tested")
	}
	for _, name := range strings.Split(run, "|") {
		known, err := named(name)
		if err != nil {
			return fmt.Errorf("-run %q: names with | between them are understood: %w", run, err)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(e.verdicts)), known) {
			return fmt.Errorf("no test is named %s", cmp.Or(name, "anything"))
		}
	}
	if len(done) == 0 {
		return errors.New("all tests were skipped: nothing was checked")
	}
	return nil
}

// named returns a function that reports whether go test -run selects a test by the name:
// each element between slashes is a regular expression for that element of the test's name.
func named(name string) (func(test) bool, error) {
	var elements []*regexp.Regexp
	for _, text := range strings.Split(name, "/") {
		element, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
	}
	return func(t test) bool {
		parts := strings.Split(t.name, "/")
		if t.name == "" || len(parts) < len(elements) {
			return false
		}
		for i, element := range elements {
			if !element.MatchString(parts[i]) {
				return false
			}
		}
		return true
	}, nil
}

// withCUDA is the suffix of packages whose tests .ci/cuda runs on the simulated device.
const withCUDA = " with CUDA"

// again returns expressions for the names, and the packages, of the tests and subtests that
// were skipped for a reason that matches an expression.
func again(reason string, runs []*events) (names, packages []string, err error) {
	matching, err := regexp.Compile(reason)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range runs {
		for _, t := range e.names(skipped, false) {
			if matching.MatchString(e.reason(t)) && !strings.HasSuffix(t.pkg, withCUDA) {
				name := strings.ReplaceAll(regexp.QuoteMeta(t.name), "/", "$/^")
				names, packages = append(names, "^"+name+"$"), append(packages, t.pkg)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("no test was skipped because %s", reason)
	}
	slices.Sort(names)
	slices.Sort(packages)
	return slices.Compact(names), slices.Compact(packages), nil
}

// unchecked lists, with reasons, the tests that one of the runs skipped and none
// passed, except tests of the night and tests that the race detector leaves out.
func unchecked(runs []*events) []string {
	var lines []string
	seen := map[test]bool{}
	for _, e := range runs {
		for _, t := range e.names(skipped, false) {
			onDevice := test{t.pkg + withCUDA, t.name}
			elsewhere := slices.ContainsFunc(runs, func(o *events) bool {
				return o.verdicts[t] == passed || o.verdicts[onDevice] == passed
			})
			later := strings.Contains(e.reason(t), tier.ForNight) || strings.HasPrefix(e.reason(t), tier.InShort)
			if !seen[t] && !elsewhere && !later {
				lines = append(lines, fmt.Sprintf("%s: %s", t, e.reason(t)))
			}
			seen[t] = true
		}
	}
	return lines
}

// readFile reads the events in a file.
func readFile(path string) (*events, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return read(f)
}

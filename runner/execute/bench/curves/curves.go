// Package curves measures how the processor time and the peak memory of methods grow with the
// size of their data, fits laws to the measurements, and predicts other sizes from these.
//
// Every measurement is a process of its own on one core. Along each of three axes (rows, inputs,
// and a method's own number, such as its inducing inputs) sizes grow until the time of a method is
// used up, or until it refuses one. Measurements are kept in a file as they are made ([Log]), so
// that an interrupted run goes on. A [Law] is a fixed cost and a power; the laws of all methods
// are the table of costs that the program holds ([Embedded]).
package curves

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Size is the size of a problem.
type Size struct {
	Rows, Inputs int
	Inner        int // a method's own number; 0 for its default
}

// Axis is what grows while the rest of a size stays.
type Axis string

// The axes.
const (
	Rows   Axis = "rows"
	Inputs Axis = "inputs"
	Inner  Axis = "inner"
)

// Usual is the number of inputs while the rows grow, and UsualRows the most rows while others do.
const (
	Usual     = 10
	UsualRows = 1000
)

// of returns the number along an axis.
func (s Size) of(a Axis) int {
	switch a {
	case Inputs:
		return s.Inputs
	case Inner:
		return s.Inner
	}
	return s.Rows
}

func (s Size) String() string {
	text := fmt.Sprintf("%s × %d", thousands(s.Rows), s.Inputs)
	if s.Inner > 0 {
		text += fmt.Sprintf(", %d", s.Inner)
	}
	return text
}

// Subject is a method, or a peer of some, that is measured.
type Subject struct {
	Name   string // that of its experiment, and a word where that is measured in several ways
	Family string // the panel of its curves
	Inner  string // the setting that is the axis [Inner]; empty for none
	Peer   bool   // of which rows alone grow
	// Command returns the process that does its work once. That of a peer prints the processor time of its start, which
	// is not counted.
	Command func(context.Context, Size) (*exec.Cmd, error)
}

// Point is one measurement.
type Point struct {
	Subject string
	Size
	CPU  float64 // processor time of the process in s, user and system; of one that was refused, too
	Peak int64   // its largest resident set in bytes; 0 where the system does not tell
	// Stopped is the reason for which there is none; empty where there is one.
	Stopped string
}

// Options configure a run.
type Options struct {
	Limit time.Duration // processor time of a method, of which rows have half
	Quick bool          // few small sizes
	Say   func(format string, args ...any)
}

// sizes returns the sizes along an axis, in the steps 1, 2, 5 of three decades, around a number of rows.
func sizes(a Axis, rows int, quick bool) (out []Size) {
	first := map[Axis]int{Rows: 100, Inputs: 1, Inner: 1}[a]
	steps := []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
	if quick {
		steps = steps[:4]
	}
	for _, k := range steps {
		s := Size{Rows: rows, Inputs: Usual}
		switch a {
		case Rows:
			s.Rows = first * k
		case Inputs:
			s.Inputs = first * k
		case Inner:
			s.Inner = first * k
		}
		out = append(out, s)
	}
	return out
}

// Run measures subjects one after another. What the log has is not measured again.
func Run(ctx context.Context, subjects []Subject, log *Log, o Options) error {
	for _, s := range subjects {
		if err := measureSubject(ctx, s, log, o); err != nil {
			return err
		}
	}
	return nil
}

func measureSubject(ctx context.Context, s Subject, log *Log, o Options) error {
	limit := o.Limit.Seconds()
	growing := sizes(Rows, 0, o.Quick)
	if s.Peer { // every other, as the start of each is long
		for k := range growing[:len(growing)/2] {
			growing[k] = growing[2*k]
		}
		growing = growing[:len(growing)/2]
	}
	if err := along(ctx, s, growing, limit/2, log, o); err != nil || s.Peer {
		return err
	}
	rows := base(log.Points(), s.Name, limit)
	if rows == 0 {
		return nil
	}
	err := along(ctx, s, sizes(Inputs, rows, o.Quick), limit/4, log, o)
	if err == nil && s.Inner != "" {
		err = along(ctx, s, sizes(Inner, rows, o.Quick), limit/4, log, o)
	}
	return err
}

// base is the number of rows while other numbers grow: the largest that leaves time for several.
func base(points []Point, subject string, limit float64) (rows int) {
	for _, p := range points {
		if p.Subject == subject && p.Stopped == "" && p.Inputs == Usual && p.Inner == 0 && p.Rows <= UsualRows &&
			(rows == 0 || p.CPU <= limit/20) {
			rows = max(rows, p.Rows)
		}
	}
	return rows
}

// along measures a subject at growing sizes while seconds of processor time are left, each of them only where it is
// expected to fit. Rows end where more are refused; other numbers go on, as some methods refuse a range of them.
func along(ctx context.Context, s Subject, sizes []Size, seconds float64, log *Log, o Options) error {
	var done []Point
	left := seconds
	for _, size := range sizes {
		p, kept := log.find(s.Name, size)
		if !kept {
			if n := len(done); n > 0 && expected(done, size) > left {
				return nil
			}
			var err error
			p, err = measure(ctx, s, size, left)
			if errors.Is(err, errOver) {
				o.Say("%s: %v: over the limit", s.Name, size)
				return nil
			}
			if err != nil {
				return err
			}
			if err := log.append(p); err != nil {
				return err
			}
		}
		o.Say("%s: %v: %s%s", s.Name, size, p.outcome(), map[bool]string{true: " (kept)"}[kept])
		left -= p.CPU
		if p.Stopped == "" {
			done = append(done, p)
		} else if len(done) > 0 && size.Inputs == Usual && size.Inner == 0 {
			return nil
		}
	}
	return nil
}

// expected extrapolates the processor time of the last points, which grows at least as the size does.
func expected(done []Point, size Size) float64 {
	last := done[len(done)-1]
	ratio := func(a, b Size) float64 {
		return float64(a.Rows*a.Inputs*max(a.Inner, 1)) / float64(b.Rows*b.Inputs*max(b.Inner, 1))
	}
	exponent := 1.
	if n := len(done); n > 1 {
		exponent = max(1, math.Log(last.CPU/done[n-2].CPU)/math.Log(ratio(last.Size, done[n-2].Size)))
	}
	return last.CPU * math.Pow(ratio(size, last.Size), exponent)
}

// outcome is the measurement for people.
func (p *Point) outcome() string {
	if p.Stopped != "" {
		return p.Stopped
	}
	return Seconds(p.CPU) + ", " + Bytes(float64(p.Peak))
}

// errOver is the error of a process that was ended, as it took too long.
var errOver = errors.New("over the limit")

// A process may take patience times the processor time that is left, and grace, on a busy machine.
const (
	patience = 3
	grace    = 10 * time.Second
)

// measure runs the process of a subject.
func measure(ctx context.Context, s Subject, size Size, left float64) (Point, error) {
	p := Point{Subject: s.Name, Size: size}
	limited, cancel := context.WithTimeout(ctx, grace+time.Duration(patience*left*float64(time.Second)))
	defer cancel()
	cmd, err := s.Command(limited, size)
	if err != nil {
		return p, fmt.Errorf("%s: %w", s.Name, err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if s.Peer {
		cmd.Stdout = &stdout
	}
	err = cmd.Run()
	if cmd.ProcessState != nil {
		p.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case limited.Err() != nil:
		return p, errOver
	case errors.As(err, &status) && status.ExitCode() > 0: // it refuses the size, or fails
		p.Stopped = reason(stderr.String())
		return p, nil
	case err != nil:
		return p, fmt.Errorf("%s: %v: %w", s.Name, size, err)
	}
	p.Peak = peak(cmd.ProcessState)
	if s.Peer {
		start, err := strconv.ParseFloat(strings.TrimSpace(stdout.String()), 64)
		if err != nil {
			return p, fmt.Errorf("%s: %v: the time of its start: %w", s.Name, size, err)
		}
		p.CPU -= start
	}
	return p, nil
}

// reason is the last line of messages, without the settings that it begins with.
func reason(messages string) string {
	lines := strings.Split(strings.TrimSpace(messages), "\n")
	text := strings.TrimPrefix(lines[len(lines)-1], "run: ")
	if _, after, found := strings.Cut(text, " failed: "); found {
		text = after
	}
	const long = 160
	if r := []rune(text); len(r) > long {
		text = string(r[:long-1]) + "…"
	}
	if text == "" {
		return "it failed without a message"
	}
	return text
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Seconds writes a time for people.
func Seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.2g s", s)
	case s < 120:
		return fmt.Sprintf("%.3g s", two(s))
	case s < 7200:
		return fmt.Sprintf("%.0f min", two(s/60))
	case s < 200*3600:
		return fmt.Sprintf("%.0f h", two(s/3600))
	}
	return thousands(int(two(min(s/86400, 1e15)))) + " days"
}

// Bytes writes an amount of memory for people.
func Bytes(b float64) string {
	if b < 995e6 {
		return fmt.Sprintf("%.0f MB", two(b/1e6))
	}
	return fmt.Sprintf("%.3g GB", two(b/1e9))
}

// two rounds to two digits.
func two(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/unit) * unit
}

// ByAxis returns the points along an axis that were not stopped, by size.
func ByAxis(points []Point, subject string, a Axis) (out []Point) {
	rows := 0 // at which others grow
	for _, p := range points {
		if p.Subject == subject && p.Stopped == "" && (p.Inputs != Usual || p.Inner > 0) {
			rows = max(rows, p.Rows)
		}
	}
	for _, p := range points {
		usual := p.Inputs == Usual && p.Inner == 0
		on := map[Axis]bool{Rows: usual, Inputs: p.Rows == rows && p.Inner == 0, Inner: p.Inner > 0}[a]
		if p.Subject == subject && p.Stopped == "" && on {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(p, q Point) int { return p.of(a) - q.of(a) })
	return out
}

// Package curves measures how the processor time and the peak memory of methods grow with the size of their data, fits
// laws to the measurements, and predicts other sizes from these.
//
// Every measurement is a process of its own on one core. Along each axis sizes grow until the time of a method is used
// up, or until it refuses one. Measurements are kept in a file as they are made ([Log]), so that an interrupted run
// goes on. A [Law] is a fixed cost and a power; the laws of all methods are the [Costs] that the program holds
// ([Embedded]).
package curves

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Axis is the number in a size that grows while the others stay.
type Axis string

// The axes: rows, inputs, and a number of the method's own, such as its inducing inputs.
const (
	Rows   Axis = "rows"
	Inputs Axis = "inputs"
	Inner  Axis = "inner"
)

// Usual is the number of inputs while others grow, and usualRows the most rows.
const (
	Usual     = 10
	usualRows = 1000
)

// Size is the size of a problem. Inner is 0 for the method's default.
type Size struct{ Rows, Inputs, Inner int }

// along returns the number along an axis.
func (s *Size) along(a Axis) *int {
	return map[Axis]*int{Rows: &s.Rows, Inputs: &s.Inputs, Inner: &s.Inner}[a]
}

func (s Size) String() string {
	text := fmt.Sprintf("%s × %d", thousands(s.Rows), s.Inputs)
	if s.Inner > 0 {
		text += fmt.Sprintf(", %d", s.Inner)
	}
	return text
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// Subject is a method, or a peer of some, that is measured.
type Subject struct {
	Name   string // that of its experiment, and a word where that is measured in several ways
	Family string // the panels of its curves
	Inner  string // the setting that is the axis [Inner]; empty for none
	Peer   bool   // of which rows alone grow
	// Command returns the process that does its work once. That of a peer prints the processor time of its start, which
	// is not counted.
	Command func(context.Context, Size) (*exec.Cmd, error)
}

// Point is one measurement.
type Point struct {
	Subject string
	Axis    Axis
	Size
	CPU     float64 // processor time of the process in s, user and system
	Peak    int64   // its largest resident set in bytes; 0 where the system does not tell
	Stopped string  // the reason for which the size was refused; empty where it was not
}

// at is the number along the point's axis.
func (p *Point) at() float64 { return float64(*p.along(p.Axis)) }

// Options configure a run.
type Options struct {
	Limit time.Duration // processor time of a method, of which rows have half
	Quick bool          // few small sizes
	Say   func(format string, args ...any)
}

// steps are the sizes along an axis in those of its first, over three decades.
var steps = []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

// Run measures subjects one after another, but no size that the log has.
func Run(ctx context.Context, subjects []Subject, log *Log, o Options) error {
	for _, s := range subjects {
		err := o.grow(ctx, s, Rows, Size{Rows: 100, Inputs: Usual}, o.Limit.Seconds()/2, log)
		if err != nil {
			return err
		}
		rows := 0 // the most that leave time for several sizes
		for _, p := range log.along(s.Name, Rows) {
			if rows == 0 || p.Rows <= usualRows && p.CPU <= o.Limit.Seconds()/20 {
				rows = p.Rows
			}
		}
		if s.Peer || rows == 0 {
			continue
		}
		err = o.grow(ctx, s, Inputs, Size{Rows: rows, Inputs: 1}, o.Limit.Seconds()/4, log)
		if err == nil && s.Inner != "" {
			err = o.grow(ctx, s, Inner, Size{Rows: rows, Inputs: Usual, Inner: 1}, o.Limit.Seconds()/4, log)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enough is how many sizes of rows are measured in any case, of each regime, as a law needs them.
const enough = 3

// steep is the exponent beyond which one more size of rows is tried that is not expected to fit, as methods go about
// large data in another way just where the cost of the first one grows fast.
const steep = 1.5

// grow measures a subject at growing sizes while some seconds of processor time are left, each only where it is
// expected to fit. Rows end where more are refused; other numbers go on, as some methods refuse a range of them.
func (o Options) grow(ctx context.Context, s Subject, a Axis, first Size, seconds float64, log *Log) error {
	tried := s.Peer || a != Rows
	for i, step := range steps {
		if o.Quick && i > 3 || s.Peer && i%2 > 0 { // the start of each process of a peer is long
			continue
		}
		size := first
		*size.along(a) *= step
		p, kept := log.find(s.Name, a, size)
		if !kept {
			done, limit := log.regime(s.Name, a), seconds
			left := seconds
			for _, q := range done {
				left -= q.CPU
			}
			if (a != Rows || len(done) >= enough) && expected(done, *size.along(a)) > left {
				if tried || growth(done) < steep {
					return nil
				}
				tried, limit = true, max(left, 0)
			}
			var err error
			p, err = measure(ctx, s, size, limit)
			if errors.Is(err, errOver) {
				o.Say("%s: %v: %v", s.Name, size, err)
				return nil
			}
			p.Axis = a
			if err = errors.Join(err, ctx.Err()); err == nil {
				err = log.append(p)
			}
			if err != nil {
				return err
			}
		}
		text := map[bool]string{true: " (kept)"}[kept]
		if p.Stopped != "" {
			text = p.Stopped + text
		} else {
			text = Seconds(p.CPU) + ", " + Bytes(float64(p.Peak)) + text
		}
		o.Say("%s: %v: %s", s.Name, size, text)
		if p.Stopped != "" && a == Rows && len(log.along(s.Name, a)) > 0 {
			return nil
		}
	}
	return nil
}

// expected extrapolates the processor time of the last points; 0 of none.
func expected(done []Point, x int) float64 {
	if len(done) == 0 {
		return 0
	}
	last := done[len(done)-1]
	return last.CPU * math.Pow(float64(x)/last.at(), growth(done))
}

// growth is the exponent of the last two points, at least 1.
func growth(done []Point) float64 {
	n := len(done)
	if n < 2 {
		return 1
	}
	last, before := done[n-1], done[n-2]
	return max(1, math.Log(last.CPU/before.CPU)/math.Log(last.at()/before.at()))
}

// errOver is the error of a process that was ended.
var errOver = errors.New("it took too long, and was ended")

// A process may take patience times the processor time of its axis, and grace, as other programs may be busy.
const (
	patience = 3
	grace    = 10 * time.Second
)

// measure runs the process of a subject.
func measure(ctx context.Context, s Subject, size Size, seconds float64) (Point, error) {
	p := Point{Subject: s.Name, Size: size}
	limited, cancel := context.WithTimeout(ctx, grace+time.Duration(patience*seconds*float64(time.Second)))
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
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case limited.Err() != nil:
		return p, errOver
	case bytes.Contains(stderr.Bytes(), []byte("\ngoroutine ")):
		return p, fmt.Errorf("%s: %v: it panicked: %s", s.Name, size, stderr.Bytes())
	case errors.As(err, &status) && status.ExitCode() > 0: // it refuses the size, or fails
		p.Stopped = reason(stderr.String())
	case err != nil:
		return p, fmt.Errorf("%s: %v: %w", s.Name, size, err)
	case s.Peer:
		start, err := strconv.ParseFloat(strings.TrimSpace(stdout.String()), 64)
		if err != nil {
			return p, fmt.Errorf("%s: %v: the time of its start: %w", s.Name, size, err)
		}
		p.CPU = -start
	}
	p.CPU += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	p.Peak = peak(cmd.ProcessState)
	return p, nil
}

// reason is the last line of messages, without the settings that it begins with.
func reason(messages string) string {
	lines := strings.Split(strings.TrimSpace(messages), "\n")
	text := strings.TrimPrefix(lines[len(lines)-1], "run: ")
	if _, after, found := strings.Cut(text, " failed: "); found {
		text = after
	}
	if text == "" {
		return "it failed without a message"
	}
	return text
}

// Seconds writes a time for people.
func Seconds(s float64) string {
	if s < 99 {
		return fmt.Sprintf("%.2g s", s)
	}
	return strings.TrimSuffix(time.Duration(min(s, 1e9)*1e9).Round(time.Minute).String(), "0s")
}

// Bytes writes an amount of memory for people.
func Bytes(b float64) string {
	if b < 995e6 {
		return fmt.Sprintf("%.0f MB", b/1e6)
	}
	return fmt.Sprintf("%.1f GB", b/1e9)
}

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// ShareMeter is an engine that compares the processor time of its runs of programs with that
// of the process, in seconds. ok is false where it cannot.
type ShareMeter interface {
	StartCPU()
	CPUTimes() (process, graphs float64, ok bool)
}

// ShareCase is an experiment with settings that its share is measured at.
type ShareCase struct {
	experiment.Share
	Of  *experiment.Experiment
	Job trial.Job
	// Missing names missing data; empty where all are there.
	Missing string
}

// ShareRow is how much of an experiment's processor time is inside runs of programs.
type ShareRow struct {
	Experiment string   `json:"experiment"`
	Settings   []string `json:"settings"` // other than defaults
	Trials     int      `json:"trials"`
	CPU        float64  `json:"cpu_s"`                     // of a trial
	Share      *float64 `json:"share_in_graphs,omitempty"` // nil: not measured
	NotRun     string   `json:"not_run,omitempty"`         // why
	Outside    string   `json:"outside"`                   // computations outside of programs, with the reason
}

// A share is measured over trials of enoughCPU seconds of processor time, or maxTrials.
const (
	enoughCPU = .5
	maxTrials = 30
)

// Shares measures the cases one after another, in this process.
func Shares(ctx context.Context, cases []ShareCase, open trial.Opener, started func(name string)) ([]ShareRow, error) {
	rows := make([]ShareRow, 0, len(cases))
	for _, c := range cases {
		started(strings.Join(append([]string{c.Experiment}, c.Settings...), " "))
		row, err := c.measure(ctx, open)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.Experiment, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measure runs trials of a case, each with an engine of its own, as a sweep does.
func (c ShareCase) measure(ctx context.Context, open trial.Opener) (ShareRow, error) {
	row := ShareRow{Experiment: c.Experiment, Settings: append([]string{}, c.Settings...), Outside: c.Outside}
	if c.Missing != "" {
		row.NotRun = c.Missing
		return row, nil
	}
	var process, graphs float64
	for row.Trials < maxTrials && process < enoughCPU {
		var meter ShareMeter
		r, err := trial.Execute(ctx, c.Of, c.Job, func(backend, dtype string, workers int) (io.Closer, error) {
			opened, err := open(backend, dtype, workers)
			if m, ok := opened.(ShareMeter); err == nil && ok {
				meter = m
				meter.StartCPU()
			}
			return opened, err
		}, nil)
		switch {
		case err != nil:
			return row, err
		case r.Status != record.OK:
			return row, fmt.Errorf("the trial failed: %s", *r.Error)
		case meter == nil:
			return row, fmt.Errorf("its engine measures no processor time")
		}
		p, g, ok := meter.CPUTimes()
		if !ok {
			row.NotRun = "threads have no clocks on this system"
			return row, nil
		}
		process, graphs = process+p, graphs+g
		row.Trials++
	}
	share := graphs / process
	row.CPU, row.Share = process/float64(row.Trials), &share
	return row, nil
}

// measured returns the columns of the measured values.
func (r ShareRow) measured() (cpu, share string) {
	if r.Share == nil {
		return "", "not run"
	}
	cpu = fmt.Sprintf("%.2g s", r.CPU)
	if r.CPU < .1 {
		cpu = fmt.Sprintf("%.2g ms", 1000*r.CPU)
	}
	return cpu, fmt.Sprintf("%.0f %%", 100**r.Share)
}

// settings returns the settings that are not defaults as text.
func (r ShareRow) settings() string {
	if len(r.Settings) == 0 {
		return "defaults"
	}
	return strings.Join(r.Settings, " ")
}

// SharesText writes the rows for a terminal.
func SharesText(w io.Writer, rows []ShareRow) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		cpu, share := r.measured()
		if r.NotRun != "" {
			share += ": " + r.NotRun
		}
		_, _ = fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", r.Experiment, r.settings(), cpu, share)
	}
	return columns.Flush()
}

// SharesMarkdown writes the rows as a table with the computations outside of programs.
// The line on top names the machine.
func SharesMarkdown(w io.Writer, on string, rows []ShareRow) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# What runs inside graphs

The share of a trial's processor time inside runs of programs, which the CPU and CUDA compute alike, in float64 with one
worker. How it is measured is in [engine](engine.md#what-a-program-asks-of-a-device). This page is what
`+"`run bench shares --output markdown`"+` writes, measured on
%s.

| experiment | settings | CPU time | inside | what stays outside, and why |
|---|---|---|---|---|
`, on)
	for _, r := range rows {
		cpu, share := r.measured()
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Experiment, r.settings(), cpu, share, r.Outside)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SharesJSON writes the rows as one JSON object.
func SharesJSON(w io.Writer, rows []ShareRow) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "shares": rows})
}

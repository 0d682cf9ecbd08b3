package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"privkern/runner/experiment"
	"privkern/runner/show/summary"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// line is a metric of a setting, as tables/summary.csv has it; metric is empty for a setting without a result.
type line struct {
	experiment, params, metric string
	mean                       float64
	failed, skipped, notRun    int
}

// currentTable returns the lines of tables/summary.csv; nil where there is none, or plan or records are newer.
func currentTable(d disk.Disk, dir string) ([]line, error) {
	path := filepath.Join(dir, "tables", "summary.csv")
	table, err := d.Stat(path)
	if err != nil {
		return nil, nil //nolint:nilerr // a table that is not there is not current
	}
	for _, of := range []string{store.PlanFile, store.TrialsDir} {
		if info, err := d.Stat(filepath.Join(dir, of)); err != nil || info.ModTime().After(table.ModTime()) {
			return nil, nil //nolint:nilerr // as above
		}
	}
	raw, err := d.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := []line{}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		l, err := parseLine(row)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// parseLine reads a row of the table that [summary.CSV] writes.
func parseLine(row []string) (l line, err error) {
	if len(row) < 9 {
		return l, errors.New("too few columns")
	}
	l = line{experiment: row[0], params: row[1], metric: row[2]}
	if row[3] != "" {
		if l.mean, err = strconv.ParseFloat(row[3], 64); err != nil {
			return l, err
		}
	}
	if l.failed, err = strconv.Atoi(row[6]); err != nil {
		return l, err
	}
	if l.skipped, err = strconv.Atoi(row[7]); err != nil {
		return l, err
	}
	l.notRun, err = strconv.Atoi(row[8])
	return l, err
}

// fromRecords returns the lines that the table would have.
func fromRecords(d disk.Disk, dir string, experiments *experiment.Registry) ([]line, error) {
	all, err := tabulate(d, dir, experiments)
	if err != nil {
		return nil, err
	}
	out := []line{}
	for _, t := range all {
		for _, r := range t.Rows {
			params, err := json.Marshal(r.Params)
			if err != nil {
				return nil, err
			}
			l := line{experiment: t.Experiment, params: string(params), failed: r.Failed, skipped: r.Skipped, notRun: r.NotRun}
			if len(r.Metrics) == 0 {
				out = append(out, l)
			}
			for _, m := range t.Metrics {
				if e, ok := r.Metrics.Of(m); ok {
					l.metric, l.mean = m, e.Mean
					out = append(out, l)
				}
			}
		}
	}
	return out, nil
}

// tabulate returns the means of all settings of a run.
func tabulate(d disk.Disk, dir string, experiments *experiment.Registry) ([]*summary.MetricTable, error) {
	s, p, err := store.OpenPlan(d, dir, experiments)
	if err != nil {
		return nil, err
	}
	m := summary.NewTabulator(experiments)
	for _, t := range p.Trials {
		rec, _, err := s.Get(t.Key)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := m.Add(t, rec); err != nil {
			return nil, err
		}
	}
	return m.Tables(), nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

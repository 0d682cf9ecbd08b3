package summary

import (
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// commonTitle stands where a table of one experiment has its name.
const commonTitle = "all together"

// Columns of a common table.
const (
	commonExperiment = "experiment"
	commonSettings   = "settings"
)

// Common returns one table of the settings of several experiments, by the metrics that two of
// them report at least; nil where there is none. A row has the same trials as that of its
// experiment's own table.
func Common(all []*MetricTable) *MetricTable {
	out := &MetricTable{Experiment: commonTitle, Varying: []string{commonExperiment, commonSettings}}
	reported := map[string]int{}
	for _, t := range all {
		for _, m := range t.Metrics {
			if reported[m]++; reported[m] == 2 {
				out.Metrics = append(out.Metrics, m)
			}
		}
	}
	// Declarations by name come before those of families, which have no direction.
	for _, family := range []bool{false, true} {
		for _, t := range all {
			for _, m := range t.declared {
				if strings.HasSuffix(m.Name, "*") == family {
					out.declared = append(out.declared, m)
				}
			}
		}
	}
	for _, t := range all {
		if !slices.ContainsFunc(t.Metrics, func(m string) bool { return reported[m] > 1 }) {
			continue
		}
		for _, r := range t.Rows {
			row := *r
			row.Params = experiment.Params{commonExperiment: t.Experiment, commonSettings: t.settings(r)}
			out.Rows = append(out.Rows, &row)
		}
	}
	if len(out.Metrics) == 0 {
		return nil
	}
	return out
}

// settings names a row by the parameters that differ in its table.
func (t *MetricTable) settings(r *Row) string {
	var parts []string
	for _, name := range t.Varying {
		if v, set := r.Params[name]; set {
			parts = append(parts, name+"="+experiment.FormatValue(v))
		}
	}
	return strings.Join(parts, " ")
}

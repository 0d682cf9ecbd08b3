package cli

import (
	"github.com/spf13/cobra"

	"privkern/runner/experiment"
	"privkern/runner/plan/sweep"
	"privkern/runner/show"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
)

// viewOptions are the flags of tables as text.
type viewOptions struct {
	allVariants bool // of published tables

	sort       string
	allMetrics bool
}

func (o *viewOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.sort, "sort", "",
		"sort the rows of an own sweep by a metric, best first, or by a setting; with a minus before it in the other "+
			"order (default: the order of the plan)")
	cmd.Flags().BoolVar(&o.allMetrics, "all-metrics", false,
		"show all metrics of an own sweep rather than its results, or those that its file names")
}

// of returns the view of an output folder.
func (o viewOptions) of(r *show.Results) summary.View {
	return summary.View{Metrics: r.Plan.Metrics, All: o.allMetrics, Sort: o.sort}
}

// check refuses an order by a name that the experiments of the settings lack. It runs before any trial does.
func (o viewOptions) check(settings []sweep.Assignment) error {
	seen := map[*experiment.Experiment]bool{}
	var all []*experiment.Experiment
	for _, s := range settings {
		if !seen[s.Experiment] {
			seen[s.Experiment] = true
			all = append(all, s.Experiment)
		}
	}
	return usageOf(summary.View{Sort: o.sort}.Check(all))
}

// checkView is check for an output folder. late reports that some metrics were not known before the trials ran.
func (a *app) checkView(o viewOptions, r *show.Results) (late bool, err error) {
	var all []*experiment.Experiment
	for _, t := range r.Summary {
		e, err := a.Experiments.Lookup(t.Experiment)
		if err != nil {
			return false, err
		}
		if e.External && len(t.Metrics) > 0 {
			known := *e
			known.Metrics = metricsOf(t)
			e, late = &known, true
		}
		all = append(all, e)
	}
	return late, usageOf(summary.View{Sort: o.sort}.Check(all))
}

// metricsOf are the metrics that the trials of a program have reported, which declares none.
func metricsOf(t *summary.MetricTable) []experiment.Metric {
	out := make([]experiment.Metric, len(t.Metrics))
	for i, name := range t.Metrics {
		out[i].Name = name
	}
	return out
}

// usageOf makes a wrong --sort an error of usage.
func usageOf(err error) error {
	if err == nil {
		return nil
	}
	return usagef("--sort: %w", err)
}

// printSummary writes the summary of a sweep: for readers as the view shows it, for programs all metrics.
func (a *app) printSummary(all []*summary.MetricTable, format tables.Format, view summary.View) error {
	switch format {
	case tables.FormatJSON, tables.FormatCSV:
		view.All = true
	}
	shown := view.Of(all)
	switch format {
	case tables.FormatJSON:
		return summary.JSON(a.out, shown)
	case tables.FormatCSV:
		return summary.CSV(a.out, shown)
	case tables.FormatLaTeX:
		return summary.LaTeX(a.out, shown)
	case tables.FormatMarkdown:
		return summary.Markdown(a.out, shown)
	}
	width := columns(a.out)
	if !isTerminal(a.out) {
		width = min(width, summary.Width)
	}
	return summary.Text(a.out, shown, width)
}

package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/compare"
	"privkern/experiments/dataset"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/text"
)

func (a *app) listCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list [experiments | tables | data | NAME]",
		Short: "List experiments with their settings, tables, and data sets",
		Long: `List the experiments, one a line, with the names of tables and data sets. For an
experiment, or all those of a paper, show the settings with default, unit, bounds
or choices, and where they apply; the metrics; the data sets; and an example. A
setting has no effect where it does not apply.

tables lists the published tables and figures with their titles, data the data
sets; run list runs lists output folders. --output json prints all properties of the
listed entries.`,
		Example: `  run list
  run list privacygp/satellite
  run list cloaking
  run list tables
  run list --output json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(
				[]string{"experiments", "tables", "data"},
				a.Experiments.Names()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			what := ""
			if len(args) == 1 {
				what = args[0]
			}
			l, err := a.listing(what, output == "json")
			if err != nil {
				return err
			}
			if output == "json" {
				return a.printJSON(l)
			}
			page := &listPage{columns: columns(a.out)}
			if what == "" || what == "experiments" {
				page.overview(l)
			} else {
				page.details(l)
			}
			_, err = io.WriteString(a.out, page.String())
			return err
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	cmd.AddCommand(a.listRunsCommand())
	return cmd
}

// listing is the output of `run list`. Its JSON is public.
type listing struct {
	Experiments []experimentEntry `json:"experiments,omitempty"`
	Tables      []tableEntry      `json:"tables,omitempty"`
	Datasets    []datasetEntry    `json:"datasets,omitempty"`

	titles map[string]string // of the papers
}

// experimentEntry is an experiment as the list has it.
type experimentEntry struct {
	Name    string        `json:"name"`
	Summary string        `json:"summary"`
	Source  string        `json:"source"`
	Version int           `json:"result_version"`
	Params  []paramEntry  `json:"params"`
	Metrics []metricEntry `json:"metrics"`

	datasets []string // that a trial of the defaults reads
	example  string   // a command
	cost     []string // sentences on its time and memory
}

// paramEntry is a setting, with its default as the experiment takes it.
type paramEntry struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Default any      `json:"default"`
	Unit    string   `json:"unit"`
	Range   string   `json:"range,omitempty"`
	Values  []string `json:"values,omitempty"`
	Doc     string   `json:"doc"`
	Applies string   `json:"applies,omitempty"` // "where ..." or "nowhere: ..."
}

// metricEntry is a metric; see [experiment.Metric].
type metricEntry struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Doc    string `json:"doc"`
	Timing bool   `json:"timing"`
	Best   string `json:"best,omitempty"`
	Result bool   `json:"result"`
}

// suiteKind is the kind of a list of comparisons.
const suiteKind = "comparison"

// tableEntry is a published table, or a list of comparisons; Cells is how many values and statements it has, or
// comparisons.
type tableEntry struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Cells int    `json:"cells"`
}

// datasetEntry is a data set that can be fetched or found.
type datasetEntry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// listing returns the entries that a word selects: a kind, a paper, or one experiment or
// table; all for the empty word, of tables then the names only unless it is whole. An unknown word is an error with the
// nearest valid one.
func (a *app) listing(what string, whole bool) (*listing, error) {
	l := &listing{titles: map[string]string{}}
	all := what == ""
	valid := []string{"experiments", "tables", "data"}
	for _, name := range a.Experiments.Names() {
		e, err := a.Experiments.Lookup(name)
		if err != nil {
			return nil, err
		}
		paper, _, _ := strings.Cut(name, "/")
		valid = append(valid, name, paper)
		if all || what == "experiments" || what == name || what == paper {
			entry := describe(e)
			if entry.cost, err = costOf(name); err != nil {
				return nil, err
			}
			l.Experiments = append(l.Experiments, entry)
		}
	}
	contents, err := a.Contents()
	if err != nil {
		return nil, err
	}
	for _, c := range contents {
		l.titles[c.Paper] = c.Title
		for _, name := range c.Tables {
			valid = append(valid, name)
			if !all && what != "tables" && what != name {
				continue
			}
			entry := tableEntry{Name: name}
			if whole || !all {
				t, err := a.Table(name)
				if err != nil {
					return nil, err
				}
				entry = tableEntry{Name: t.Name, Kind: string(t.Kind), Title: t.Title, Cells: len(t.Cells)}
			}
			l.Tables = append(l.Tables, entry)
		}
	}
	for _, s := range compare.Suites() {
		valid = append(valid, s.Name)
		if all || what == "tables" || what == s.Name {
			l.Tables = append(l.Tables, tableEntry{Name: s.Name, Kind: suiteKind, Title: s.Title, Cells: len(s.Comparisons)})
		}
	}
	if all || what == "data" {
		for _, s := range dataset.All() {
			l.Datasets = append(l.Datasets, datasetEntry{Name: s.Name, Title: s.Title})
		}
	}
	if l.Experiments == nil && l.Tables == nil && l.Datasets == nil {
		return nil, experiment.Unknown("name", what, valid)
	}
	return l, nil
}

// describe returns the entry of an experiment.
func describe(e *experiment.Experiment) experimentEntry {
	out := experimentEntry{Name: e.Name, Summary: e.Summary, Source: e.Source, Version: e.Version}
	for i := range e.Params {
		p := &e.Params[i]
		var def any
		if p.Default != nil {
			// A registered default converts.
			v, _ := p.Convert(p.Default)
			if values, err := record.PlainParams(experiment.Params{p.Name: v}); err == nil {
				def = values[p.Name]
			}
		}
		values := append(append([]string(nil), p.Values...), p.Words...)
		if p.Infinite {
			values = append(values, "inf")
		}
		out.Params = append(out.Params, paramEntry{
			Name:    p.Name,
			Kind:    string(p.Kind),
			Default: def,
			Unit:    p.Unit,
			Range:   p.Range(),
			Values:  values,
			Doc:     p.Doc,
			Applies: e.Applies(p.Name),
		})
	}
	for _, m := range e.Metrics {
		out.Metrics = append(out.Metrics, metricEntry(m))
	}
	if params, err := e.Resolve(nil); err == nil {
		out.datasets = e.Reads(params)
	}
	out.example = exampleTrial(e)
	return out
}

// exampleTrial is a command that runs a trial: with all settings that have no
// default, and one that has.
func exampleTrial(e *experiment.Experiment) string {
	command := "run trial " + e.Name
	first := true
	for i := range e.Params {
		p := &e.Params[i]
		if p.Default == nil || first {
			command += " " + text.Quote(assignment(p))
		}
		first = first && p.Default == nil
	}
	return command
}

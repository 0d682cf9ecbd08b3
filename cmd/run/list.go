package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

func (a *app) listCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list [experiments|tables|data|NAME]",
		Short: "List experiments with their parameters, tables, and data sets",
		Long: `List what there is. With the name of an experiment (or of a paper), show its
parameters with defaults, units, permitted values and where they apply, and its
metrics. A parameter does nothing where it does not apply.`,
		Example: `  run list
  run list privacygp/satellite
  run list tables
  run list --output json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append([]string{"experiments", "tables", "data"}, a.Experiments.Names()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("output", output, "table", "json"); err != nil {
				return err
			}
			what := ""
			if len(args) == 1 {
				what = args[0]
			}
			l, err := a.listing(what)
			if err != nil {
				return err
			}
			if output == "json" {
				enc := json.NewEncoder(a.out)
				enc.SetIndent("", "  ")
				return enc.Encode(l)
			}
			return l.text(a.out, what != "" && what != "experiments")
		},
	}
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

type listing struct {
	Experiments []listedExperiment `json:"experiments,omitempty"`
	Tables      []listedTable      `json:"tables,omitempty"`
	Datasets    []listedDataset    `json:"datasets,omitempty"`
}

type listedExperiment struct {
	Name    string         `json:"name"`
	Summary string         `json:"summary"`
	Source  string         `json:"source"`
	Version int            `json:"result_version"`
	Params  []listedParam  `json:"params"`
	Metrics []listedMetric `json:"metrics"`
}

type listedParam struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Default any      `json:"default"`
	Unit    string   `json:"unit"`
	Range   string   `json:"range,omitempty"`
	Values  []string `json:"values,omitempty"`
	Doc     string   `json:"doc"`
	Applies string   `json:"applies,omitempty"` // "where ..." or "nowhere: ..."
}

type listedMetric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Doc    string `json:"doc"`
	Timing bool   `json:"timing"`
}

type listedTable struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Cells int    `json:"cells"`
}

type listedDataset struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

func (a *app) listing(what string) (*listing, error) {
	l := &listing{}
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
			l.Experiments = append(l.Experiments, describe(e))
		}
	}
	for _, ledger := range a.Book.Ledgers {
		for _, t := range ledger.Tables {
			valid = append(valid, t.Name)
			if !all && what != "tables" && what != t.Name {
				continue
			}
			l.Tables = append(l.Tables, listedTable{Name: t.Name, Kind: string(t.Kind), Title: t.Title, Cells: len(t.Cells)})
		}
	}
	if all || what == "data" {
		for _, s := range dataset.All() {
			l.Datasets = append(l.Datasets, listedDataset{Name: s.Name, Title: s.Title})
		}
	}
	if l.Experiments == nil && l.Tables == nil && l.Datasets == nil {
		return nil, experiment.Unknown("name", what, valid)
	}
	return l, nil
}

func describe(e *experiment.Experiment) listedExperiment {
	out := listedExperiment{Name: e.Name, Summary: e.Summary, Source: e.Source, Version: e.Version}
	for i := range e.Params {
		p := &e.Params[i]
		var def any
		if p.Default != nil {
			// A registered default converts.
			v, _ := p.Convert(p.Default)
			def = experiment.Params{"": v}
			if raw, err := json.Marshal(def); err == nil {
				var back map[string]any
				if json.Unmarshal(raw, &back) == nil {
					def = back[""]
				}
			}
		}
		values := append(append([]string(nil), p.Values...), p.Words...)
		if p.Infinite {
			values = append(values, "inf")
		}
		out.Params = append(out.Params, listedParam{
			Name: p.Name, Kind: string(p.Kind), Default: def, Unit: p.Unit, Range: p.Range(), Values: values, Doc: p.Doc,
			Applies: e.Applies(p.Name),
		})
	}
	for _, m := range e.Metrics {
		out.Metrics = append(out.Metrics, listedMetric(m))
	}
	return out
}

func (l *listing) text(w io.Writer, detailed bool) error {
	var b strings.Builder
	section := func(title string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, title)
	}
	if len(l.Experiments) > 0 {
		section("Experiments")
		for _, e := range l.Experiments {
			if detailed {
				e.text(&b)
				continue
			}
			names := make([]string, len(e.Params))
			for i, p := range e.Params {
				names[i] = p.Name + "=" + defaultText(p.Default)
				if p.Unit != "" {
					names[i] += " " + p.Unit
				}
			}
			fmt.Fprintf(&b, "  %-28s %s\n", e.Name, e.Summary)
			for _, line := range wrap(strings.Join(names, ", "), 68) {
				fmt.Fprintf(&b, "  %-28s   %s\n", "", line)
			}
		}
	}
	if len(l.Tables) > 0 {
		section("Tables (run table NAME)")
		for _, t := range l.Tables {
			fmt.Fprintf(&b, "  %-28s %s (%d values)\n", t.Name, t.Title, t.Cells)
		}
	}
	if len(l.Datasets) > 0 {
		section("Data sets (run data list)")
		for _, s := range l.Datasets {
			fmt.Fprintf(&b, "  %-28s %s\n", s.Name, s.Title)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e listedExperiment) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n  %s\n  %s\n\n  Parameters\n", e.Name, e.Summary, e.Source)
	for _, p := range e.Params {
		fmt.Fprintf(b, "    %s=%s", p.Name, defaultText(p.Default))
		if p.Unit != "" {
			fmt.Fprintf(b, " %s", p.Unit)
		}
		fmt.Fprintf(b, " (%s", p.Kind)
		if p.Range != "" {
			fmt.Fprintf(b, " in %s", p.Range)
		}
		if len(p.Values) > 0 {
			fmt.Fprintf(b, "; %s", strings.Join(p.Values, ", "))
		}
		b.WriteString(")\n")
		for _, line := range wrap(p.Doc, 90) {
			fmt.Fprintf(b, "        %s\n", line)
		}
		if p.Applies != "" {
			for _, line := range wrap("applies "+p.Applies, 90) {
				fmt.Fprintf(b, "        %s\n", line)
			}
		}
	}
	b.WriteString("\n  Metrics\n")
	for _, m := range e.Metrics {
		fmt.Fprintf(b, "    %s", m.Name)
		if m.Unit != "" {
			fmt.Fprintf(b, " [%s]", m.Unit)
		}
		b.WriteByte('\n')
		for _, line := range wrap(m.Doc, 90) {
			fmt.Fprintf(b, "        %s\n", line)
		}
	}
}

func defaultText(v any) string {
	if v == nil {
		return "(required)"
	}
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const long = 40
	if s := string(raw); len(s) <= long {
		return s
	}
	return string(raw[:long-3]) + "..."
}

// wrap breaks a text at spaces into lines of at most width characters.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

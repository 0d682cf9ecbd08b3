package score

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"privkern/runner/claims/judge"
	"privkern/runner/record"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// Source is the origin of a table: the trials whose records were read. A table whose values
// come from CSV alone has none.
type Source struct {
	Table  string `json:"table"`
	Trials int    `json:"trials"`
	Seeds  string `json:"seeds"` // such as 0..4, 7
	// CPUS is the processor time of the trials in seconds; a trial of several tables counts
	// in each.
	CPUS float64 `json:"cpu_s"`
	// ComputedBy lists program, machine and arithmetic of the trials.
	ComputedBy []Maker `json:"computed_by"`
	// Data lists the data sets that were read, each with the SHA-256 of the file.
	Data []Data `json:"data"`
}

// Maker is a program on a machine that computed trials.
type Maker struct {
	Version   string `json:"version"`
	Revision  string `json:"revision"`
	Go        string `json:"go"`
	Processor string `json:"processor"`
	GPU       string `json:"gpu"`
	Backend   string `json:"backend"`
	DType     string `json:"dtype"`
	Class     string `json:"class"` // the BLAS class, see [record.Provenance.Class]
}

// Data is a data set as it was read.
type Data struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// computed is the part of a record that sources need.
type computed struct {
	seed int64
	cpu  float64
	by   Maker
	data map[string]string
}

func computedOf(r *record.Record) computed {
	p := r.Provenance
	return computed{seed: r.Seed, cpu: r.Timing.CPUS, data: p.Datasets, by: Maker{Version: p.Version, Revision: p.Revision,
		Go: p.Go, Processor: p.CPU, GPU: p.GPU, Backend: r.Backend, DType: r.DType, Class: p.Class()}}
}

// source adds the source of a table, if any of its trials has a record.
func (b *Board) source(e *judge.Evaluation, trials map[string]computed) {
	used := map[string]bool{}
	for i := range e.Cells {
		for _, key := range e.Cells[i].TrialKeys {
			if _, known := trials[key]; known {
				used[key] = true
			}
		}
	}
	if len(used) == 0 {
		return
	}
	s := Source{Table: e.Table, Trials: len(used), Data: []Data{}}
	var seeds []int64
	data := map[Data]bool{}
	for _, key := range slices.Sorted(maps.Keys(used)) { // in one order, so that the sum has the same bits
		c := trials[key]
		s.CPUS += c.cpu
		seeds = append(seeds, c.seed)
		if !slices.Contains(s.ComputedBy, c.by) {
			s.ComputedBy = append(s.ComputedBy, c.by)
		}
		for name, digest := range c.data {
			data[Data{name, digest}] = true
		}
	}
	s.Seeds = strings.Join(text.Ranges(seeds), ", ")
	slices.SortFunc(s.ComputedBy, func(a, b Maker) int { return strings.Compare(a.words(), b.words()) })
	s.Data = append(s.Data, slices.SortedFunc(maps.Keys(data), func(a, b Data) int {
		return strings.Compare(a.words(), b.words())
	})...)
	b.Sources = append(b.Sources, s)
}

func (m *Maker) words() string {
	out := []string{"privkern " + m.Version}
	for _, part := range []struct{ title, value string }{
		{"revision ", m.Revision}, {"", m.Go}, {"", m.Processor}, {"", m.GPU}, {"", m.Backend + ", " + m.DType},
		{"BLAS ", m.Class},
	} {
		if part.value != "" {
			out = append(out, part.title+part.value)
		}
	}
	return strings.Join(out, "; ")
}

func (d *Data) words() string { return d.Name + ": SHA-256 " + d.SHA256 }

// sources returns the lines of all tables, and the lists that their numbers refer to.
func (b *Board) sources() (g grid, makers, data []string) {
	g.titles = []string{"table", "trials", "seeds", "processor time", "computed by", "data"}
	g.left = []bool{true, false, true, false, true, true}
	for i := range b.Sources {
		s := &b.Sources[i]
		var by, names []string
		for k := range s.ComputedBy {
			by = append(by, fmt.Sprintf("(%d)", 1+indexOf(&makers, s.ComputedBy[k].words())))
		}
		for k := range s.Data {
			indexOf(&data, s.Data[k].words())
			if !slices.Contains(names, s.Data[k].Name) {
				names = append(names, s.Data[k].Name)
			}
		}
		g.lines = append(g.lines, []string{s.Table, strconv.Itoa(s.Trials), s.Seeds, spent(s.CPUS),
			strings.Join(by, " "), strings.Join(names, ", ")})
	}
	slices.Sort(data)
	for i := range makers {
		makers[i] = fmt.Sprintf("(%d) %s", i+1, makers[i])
	}
	return g, makers, data
}

// indexOf returns the index of a text in a list, and appends it if it is new.
func indexOf(list *[]string, text string) int {
	if i := slices.Index(*list, text); i >= 0 {
		return i
	}
	*list = append(*list, text)
	return len(*list) - 1
}

// spent formats a duration: 0.4 s, 12 s, 5 min, 1.9 h.
func spent(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// WriteSources writes the sources of all tables as text, in lines of a width, or Markdown; the scoreboard's JSON
// includes them.
func WriteSources(w io.Writer, b *Board, f tables.Format, width int) error {
	var out strings.Builder
	g, makers, data := b.sources()
	switch {
	case f != tables.FormatText && f != tables.FormatMarkdown:
		return fmt.Errorf("what computed the tables is not written as %s", f)
	case len(g.lines) == 0:
		_, err := io.WriteString(w, "No folder has records of the trials of a table: what computed it is not known.\n")
		return err
	case f == tables.FormatText:
		out.WriteString(g.text(width))
	default:
		out.WriteString(g.markdown())
	}
	out.WriteString("\n")
	for _, list := range [][]string{makers, data} {
		for _, l := range list {
			if f == tables.FormatText {
				out.WriteString(tables.Hang("  ", l, width))
			} else {
				out.WriteString("- " + tables.EscapeMarkdown(l) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

package stats

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Columns is the experiment.
var Columns = experiment.Of(experiment.Declaration[*settings, metrics]{
	Name: "stats/columns",
	// 2: one bound for all columns is none of levels; 3: levels and truth values are known to be 0 and 1, a range
	// has all powers of two that clearly have values, and a quantile is one of those around a point of its grid
	Version: 3,
	Summary: "private counts, quantiles, means and ranges of the columns of your own data",
	Source: "Smith 2011, Section 4 (quantiles); Dwork, McSherry, Nissim and Smith 2006 (counts, sums); " +
		"package privkern/experiments/stats",
	Datasets:     (*settings).datasets,
	Tables:       func(s *settings) []experiment.InputTable { return s.spec().Tables() },
	Check:        (*settings).check,
	Run:          run,
	CheckRelease: (*settings).checkRelease,
	Written:      experiment.FormTable,
	Release:      release.Planned(plan),
})

// Experiments returns the experiments that belong to no paper.
func Experiments() experiment.Paper {
	return experiment.Paper{Name: "stats", Experiments: []*experiment.Experiment{Columns().Experiment}}
}

// Plan plans a release of a trial, for audits.
func Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return plan(ctx, t, Columns().Settings(t.Params))
}

// Asked returns the setting that names the columns of a release, and the columns that each of its names makes.
func Asked(params experiment.Params) (columns string, each []table.Input) {
	s := Columns().Settings(params)
	return s.Columns, s.spec().Asked()
}

// simulatedRows is the number of simulated values.
const simulatedRows = 1024

// run makes a release with the trial's own randomness, and compares it with exact statistics.
func run(ctx context.Context, t *experiment.Trial, s *settings) (*experiment.Outcome[metrics], error) {
	p, err := newProblem(t, s)
	if err != nil {
		return nil, err
	}
	private := p.plan().Private
	out, err := p.publish(ctx, private, release.Unbooked(&words{rng: t.Stream("mechanism")}))
	if err != nil {
		return nil, err
	}
	m := p.compare(private, out)
	m.publicMetrics = p.metrics()
	privacy := p.privacy()
	privacy.Notes = append([]string{"this record itself is not private: its metrics are computed from the data; what " +
		"may be published is what --release writes"}, privacy.Notes...)
	return &experiment.Outcome[metrics]{Metrics: m, Privacy: privacy, Warnings: append(p.suspect, out.Warnings...)}, nil
}

// compare returns the errors of a release of the rows.
func (p *problem) compare(private *mat.Dense, out *experiment.Release) (m metrics) {
	at := func(row []float64, name string) float64 { return row[slices.Index(out.Columns, name)] }
	share := 1 / float64(len(out.Rows))
	for j, row := range out.Rows {
		values := p.values(private, j)
		n := float64(len(values))
		if n == 0 {
			continue
		}
		for _, q := range p.Quantiles {
			c := at(row, "q"+experiment.FormatNumber(q))
			m.RankError -= share / float64(len(p.Quantiles)) * utility(values, c, math.Nextafter(c, math.Inf(1)), q) / n
		}
		if p.Mean {
			mean, sd := stat.PopMeanStdDev(values, nil)
			if sd == 0 {
				sd = math.Inf(1) // equal values have no error in this unit
			}
			m.MeanError = added(m.MeanError, share*math.Abs(at(row, "mean")-mean)/sd)
		}
		if slices.Contains(out.Columns, "low") {
			below, inside := ranks(values, at(row, "low")), ranks(values, math.Nextafter(at(row, "high"), math.Inf(1)))
			m.Outside = added(m.Outside, share*(n-float64(inside-below))/n)
		}
	}
	return m
}

func added(sum *float64, v float64) *float64 {
	if sum != nil {
		v += *sum
	}
	return &v
}

// words reads a stream as bytes.
type words struct {
	rng  *rand.Rand
	left []byte
}

func (w *words) Read(p []byte) (int, error) {
	for i := range p {
		if len(w.left) == 0 {
			w.left = binary.LittleEndian.AppendUint64(nil, w.rng.Uint64())
		}
		p[i], w.left = w.left[0], w.left[1:]
	}
	return len(p), nil
}

// simulate returns the simulated column.
func simulate(t *experiment.Trial) *mat.Dense {
	rng := t.Stream("data")
	out := mat.NewDense(simulatedRows, 1, nil)
	for i := range simulatedRows {
		out.Set(i, 0, rng.NormFloat64())
	}
	return out
}

// nameOf describes a query of a column.
func (p *problem) nameOf(what string, column int) string {
	return fmt.Sprintf("%s of %s", what, p.names[column])
}

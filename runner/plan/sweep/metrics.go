package sweep

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"privkern/runner/experiment"
)

// namedMetric is an entry of metrics, with its place in the file.
type namedMetric struct {
	name string
	at   *token.Token
}

// metrics reads the names of metrics. The experiments that have them may be named further below.
func (r *reader) metrics(n ast.Node) ([]namedMetric, error) {
	var out []namedMetric
	err := r.list(n, "metrics", func(e ast.Node) error {
		name, err := r.text(e, "a metric's name")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(out, func(m namedMetric) bool { return m.name == name }) {
			return r.errorAt(e.GetToken(), fmt.Errorf("the metric %q stands twice; leave one of them out", name))
		}
		out = append(out, namedMetric{name, e.GetToken()})
		return nil
	})
	return out, err
}

// checkMetrics returns the names. It refuses one that no experiment of the file has: a metric, a
// member of a family, or a family by its own name.
func (r *reader) checkMetrics(metrics []namedMetric, blocks []*block) ([]string, error) {
	var known []experiment.Metric
	for _, b := range blocks {
		known = append(known, b.exp.Metrics...)
	}
	var names []string
	for _, m := range metrics {
		switch {
		case len(blocks) == 0:
			return nil, r.errorAt(m.at, errors.New("metrics are those of an experiment, and the file names none; "+
				"published tables have their own"))
		case !slices.ContainsFunc(known, func(k experiment.Metric) bool { return k.Covers(m.name) }):
			return nil, r.errorAt(m.at, experiment.Unknown("metric", m.name, metricNames(known)))
		}
		names = append(names, m.name)
	}
	return names, nil
}

func metricNames(metrics []experiment.Metric) []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.Name
	}
	return names
}

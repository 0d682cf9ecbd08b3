package show

import (
	"bytes"
	"io"
	"path"
	"strings"

	"privkern/runner/show/export"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
)

// Artifacts returns the files of an exported sweep in addition to its trials: each evaluated
// table in every format, all metrics, and the plots.
func (r *Results) Artifacts() ([]export.Artifact, error) {
	var out []export.Artifact
	paper := func(name string) string { p, _, _ := strings.Cut(name, "/"); return p }
	for _, e := range r.Evaluated {
		files, err := tableFiles(e)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out = append(out, export.Artifact{Path: path.Join(TablesDir, f.name), Paper: paper(e.Table), Data: f.data})
		}
	}
	var metrics strings.Builder
	if err := summary.CSV(&metrics, r.Summary); err != nil {
		return nil, err
	}
	out = append(out, export.Artifact{Path: path.Join(TablesDir, "summary.csv"), Data: []byte(metrics.String())})
	err := r.eachPlotFile(func(f report.Plot, name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		out = append(out, export.Artifact{Path: path.Join(PlotsDir, name), Paper: paper(f.Name), Data: b.Bytes()})
		return err
	})
	return out, err
}

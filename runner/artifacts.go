package runner

import (
	"path"
	"strings"

	"privkern/runner/claims"
	"privkern/runner/export"
	"privkern/runner/summary"
)

// Artifacts returns what an exported sweep has beside its trials: each evaluated
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
			out = append(out, export.Artifact{Path: path.Join("tables", f.name), Paper: paper(e.Table), Data: f.data})
		}
	}
	var metrics strings.Builder
	if err := summary.CSV(&metrics, r.Summary); err != nil {
		return nil, err
	}
	out = append(out, export.Artifact{Path: "tables/summary.csv", Data: []byte(metrics.String())})
	for _, f := range r.Figures() {
		if f.SVG != nil {
			out = append(out, export.Artifact{Path: path.Join("plots", figureID(f.Name)+".svg"), Paper: paper(f.Name), Data: f.SVG})
		}
	}
	return out, nil
}

// tableFile is a table in one format.
type tableFile struct {
	name string
	data []byte
}

// tableFiles returns a table in the formats that are written to folders.
func tableFiles(e *claims.Evaluated) ([]tableFile, error) {
	var out []tableFile
	for _, f := range []claims.Format{claims.FormatMarkdown, claims.FormatCSV, claims.FormatLaTeX, claims.FormatJSON} {
		var b strings.Builder
		if err := claims.Write(&b, e, f, claims.TextOptions{}); err != nil {
			return nil, err
		}
		out = append(out, tableFile{strings.ReplaceAll(e.Table, "/", "-") + f.Extension(), []byte(b.String())})
	}
	return out, nil
}

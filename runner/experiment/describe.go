package experiment

import "strings"

// Describe lists the parameters that differ from their defaults as name=value,
// as one would write them on a command line.
func (e *Experiment) Describe(p Params) string {
	p = e.Whole(p)
	var parts []string
	for i := range e.Params {
		q := &e.Params[i]
		text := FormatValue(p[q.Name])
		if q.Default != nil {
			if d, err := q.Convert(q.Default); err == nil && FormatValue(d) == text {
				continue
			}
		}
		parts = append(parts, q.Name+"="+text)
	}
	return strings.Join(parts, " ")
}

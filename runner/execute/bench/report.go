package bench

import (
	"encoding/json"
	"io"
)

// Schema is the version of a report as JSON. Version 1 had no machine, no samples and no
// peers.
const Schema = 2

// Machine is where and with what a report was measured.
type Machine struct {
	CPU      string `json:"cpu"`
	BLAS     string `json:"blas"`
	Device   string `json:"device,omitempty"` // of --backend
	Revision string `json:"revision"`
	// Peers are the versions of the peers' libraries; empty without peers.
	Peers string `json:"peers,omitempty"`
}

// Report is what a run of benchmarks measured.
type Report struct {
	Schema       int           `json:"schema"`
	Machine      Machine       `json:"machine"`
	Measurements []Measurement `json:"measurements"`
	Comparison   *Comparison   `json:"comparison,omitempty"`
}

// JSON writes a report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	r.Schema = Schema
	return enc.Encode(r)
}

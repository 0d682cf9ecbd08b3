package plan

import (
	"encoding/json"
	"fmt"

	"privkern/runner/record"
)

// Head is a plan without the settings of its trials, which take most of the time of reading it.
type Head struct {
	Schema int `json:"schema"`
	Options
	Digest string      `json:"digest"`
	Trials []HeadTrial `json:"trials"`
}

// HeadTrial is a trial without its settings.
type HeadTrial struct {
	Key        string `json:"key"`
	Experiment string `json:"experiment"`
}

// ParseHead reads plan.json for a list of runs. It refuses a plan of another schema and a wrong digest of the file,
// and leaves everything else to [Parse].
func ParseHead(b []byte) (*Head, error) {
	if _, err := record.CheckDigest(b, DigestMember); err != nil {
		return nil, fmt.Errorf("the plan cannot be trusted: %w", err)
	}
	var h Head
	if err := json.Unmarshal(b, &h); err != nil {
		return nil, fmt.Errorf("not a plan: %w", err)
	}
	if h.Schema != Schema {
		return nil, fmt.Errorf("the plan has schema %d; this version reads %d", h.Schema, Schema)
	}
	return &h, nil
}

// Experiments returns the names of the experiments in the order of the trials.
func (h *Head) Experiments() []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range h.Trials {
		if !seen[t.Experiment] {
			seen[t.Experiment] = true
			out = append(out, t.Experiment)
		}
	}
	return out
}

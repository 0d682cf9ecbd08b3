package budget

import (
	"bytes"
	"encoding/json"
	"fmt"

	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// document1 is a file of the first schema. Its accounts added up either μ or ε and δ: the rule of
// each is read and has no meaning any more. Data were found by a SHA-256 of the columns that a
// release used, without a key; they are until a release of the same bytes teaches the ledger the rest.
type document1 struct {
	Schema   int         `json:"schema"`
	SHA256   string      `json:"sha256"`
	Default  *Limit      `json:"default,omitempty"`
	Accounts []*account1 `json:"accounts"`
}

type account1 struct {
	Data    string   `json:"data,omitempty"`
	Name    string   `json:"name,omitempty"`
	Label   string   `json:"label,omitempty"`
	Unit    string   `json:"unit"`
	Rows    int      `json:"n,omitempty"`
	Rule    string   `json:"rule,omitempty"`
	Limit   Limit    `json:"limit"`
	Entries []entry1 `json:"entries"`
}

type entry1 struct {
	Time       string  `json:"time"`
	Experiment string  `json:"experiment"`
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Mu         float64 `json:"mu"` // 0 where it has none
	Note       string  `json:"note,omitempty"`
}

// parse1 reads a file of the first schema, whose digest is right.
func parse1(raw []byte) (*State, error) {
	var doc document1
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	s := &State{Default: doc.Default}
	sources := map[string]*Source{} // by data or name
	for i, old := range doc.Accounts {
		switch {
		case old == nil:
			return nil, fmt.Errorf("account %d is null", i+1)
		case (old.Data == "") == (old.Name == "") || old.Data != "" && !isDigest(old.Data):
			return nil, fmt.Errorf("account %d: it has either a SHA-256 of data or a name", i+1)
		}
		source := sources[old.Data+old.Name]
		if source == nil {
			if source = s.addSource(); old.Name != "" {
				source.Names = []string{old.Name}
			} else {
				source.Bytes = []string{old.Data}
			}
			sources[old.Data+old.Name] = source
		}
		if source.Label == "" {
			source.Label = old.Label
		}
		a := s.add(&Account{Unit: old.Unit, Rows: old.Rows, Limit: old.Limit, Entries: []Entry{}}, source)
		for k, e := range old.Entries {
			entry, err := e.entry()
			if err != nil {
				return nil, fmt.Errorf("account %d: entry %d: %w", i+1, k+1, err)
			}
			a.Entries = append(a.Entries, entry)
		}
	}
	return s, nil
}

// entry returns what a release books that had a μ, or else only its guarantee. Releases with a μ
// and a δ were of Gaussian noise; those with a μ and no δ were pure, and had the μ of any pure one.
func (e entry1) entry() (Entry, error) {
	out := Entry{Time: e.Time, Experiment: e.Experiment, Epsilon: e.Epsilon, Delta: e.Delta, Note: e.Note}
	if err := out.check(); err != nil {
		return out, err
	}
	if !(e.Mu >= 0 && e.Mu <= maxAmount) {
		return out, fmt.Errorf("mu is %s; a number from 0 to %g is required", number(e.Mu), maxAmount)
	}
	var err error
	if e.Mu > 0 && e.Delta > 0 {
		out.Booked, err = loss.Book([]experiment.Loss{{Law: "gaussian", Size: e.Mu, Times: 1}}, 0)
	} else {
		out.Booked, err = loss.Stated(e.Epsilon, e.Delta)
	}
	return out, err
}

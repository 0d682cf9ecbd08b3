package trialtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"

	"privkern/runner/experiment"
)

// Exports is a register of exports in memory, of one set of data by any name.
type Exports struct {
	Key  string
	List []json.RawMessage
	Last experiment.Spending
}

// Secret implements [experiment.Exports].
func (r *Exports) Secret(text []byte) ([]byte, error) {
	mac := hmac.New(sha256.New, []byte(r.Key))
	mac.Write(text)
	return mac.Sum(nil), nil
}

// Register implements [experiment.Exports].
func (r *Exports) Register(s experiment.Spending, add func([]json.RawMessage) (json.RawMessage, error)) error {
	r.Last = s
	entry, err := add(r.List)
	if err == nil && entry != nil {
		r.List = append(r.List, entry)
	}
	return err
}

package budget

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"privkern/runner/experiment"
)

// Secret returns 32 bytes that follow from the ledger's key and a text, for the noise of exports and
// for digests of what they are made of.
func (l *Ledger) Secret(text []byte) ([]byte, error) {
	key, err := l.key()
	if err != nil {
		return nil, err
	}
	return key.NewMAC().Sum("export", string(text)), nil
}

// Register adds an export of data to those of the same people. The function gets the earlier ones,
// and returns the value that is kept of this one, nil for none, or a refusal; then nothing is
// written. The ledger is locked meanwhile, so that two exports at once know of each other. The parts
// of the data that the export publishes as they are end the accounts that protect them, as those of
// a release; a *[PublishedError] refuses it where these have spent.
func (l *Ledger) Register(
	spending experiment.Spending, d Data, add func(earlier []json.RawMessage) (json.RawMessage, error),
) error {
	return l.identify(d, func(s *State, d *seen) error {
		time := l.now().UTC().Format(time.RFC3339)
		sources, err := s.find(d, nil, Request{}, time)
		if err != nil {
			return err
		}
		var earlier []json.RawMessage
		for _, source := range sources { // of which some may have the same exports
			if err := s.checkPublished(source.Source, spending); err != nil {
				return err
			}
			for _, old := range source.Exports {
				if !slices.ContainsFunc(earlier, func(e json.RawMessage) bool { return bytes.Equal(e, old) }) {
					earlier = append(earlier, old)
				}
			}
		}
		entry, err := add(earlier)
		if err != nil {
			return err
		}
		for _, source := range sources {
			if source.learnsWith(sources) {
				source.learn(d)
			}
			if entry != nil {
				source.Exports = append(source.Exports, entry)
			}
			s.publish(source.Source, spending, time)
		}
		return s.publishPoints(spending, d, sources, time)
	})
}

package batch

import "privkern/graphs/engine"

// Keep copies values to the memory of an engine's backend, where they stay until the result is
// closed. After an error none stays.
func Keep(e *engine.Engine, values engine.Values) (engine.Values, error) {
	kept := make(engine.Values, len(values))
	for name, v := range values {
		r, err := e.Keep(v)
		if err != nil {
			kept.Close()
			return nil, err
		}
		kept[name] = r
	}
	return kept, nil
}

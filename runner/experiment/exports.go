package experiment

import "encoding/json"

// Exports is the register of the exports of data, which the operator keeps. Noise that follows
// from its secret is the same whenever an export is repeated, so that nothing averages away; and
// its entries determine how much several exports disclose together.
type Exports interface {
	// Secret returns 32 bytes, a pseudo-random function of the text under the key of the
	// register: without the key they cannot be told from random ones.
	Secret(text []byte) ([]byte, error)
	// Register calls add with the exports that are registered for the data of s, in their order,
	// and appends, durably, the export that add returns; nil appends none. Nothing else is
	// registered meanwhile. Of s the data set, its number of rows and the parts that the export
	// publishes as they are have a meaning: it spends nothing else. After an error, of add as of the
	// register, nothing may be exported. An export that fails later stays registered: an
	// observer may have its file.
	Register(s Spending, add func(earlier []json.RawMessage) (json.RawMessage, error)) error
}

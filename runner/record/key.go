package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"privkern/runner/experiment"
)

// Key returns the SHA-256 (hexadecimal) of an identity's canonical JSON:
// object members in the order of their names, no white space, the shortest
// digits that read back as the same number. Parameters of an experiment and those of
// its record give the same key.
func Key(id experiment.Identity) (string, error) {
	b, err := canonical(id)
	if err != nil {
		return "", err
	}
	return digest(b), nil
}

// HasKey reports whether key is the key of an identity that was read from JSON.
func HasKey(id experiment.Identity, key string) bool {
	b, err := canonical(id)
	if err != nil {
		return false
	}
	if digest(b) == key {
		return true
	}
	// Bytes that are not UTF-8, such as in the name of a file, become U+FFFD when JSON is
	// read, but were its escape when the key was made.
	const replacement = "\uFFFD"
	return bytes.Contains(b, []byte(replacement)) &&
		digest(bytes.ReplaceAll(b, []byte(replacement), []byte(`\ufffd`))) == key
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func canonical(id experiment.Identity) ([]byte, error) {
	// Written out by hand: a plan of 100,000 trials needs as many keys, and
	// encoding/json would take most of its time.
	b := make([]byte, 0, 512)
	b = append(b, `{"backend":`...)
	b = appendString(b, id.Backend)
	b = append(b, `,"datasets":`...)
	b = appendMembers(b, id.Datasets, func(b []byte, v string) ([]byte, error) { return appendString(b, v), nil }, nil)
	b = append(b, `,"dtype":`...)
	b = appendString(b, id.DType)
	b = append(b, `,"experiment":`...)
	b = appendString(b, id.Experiment)
	b = append(b, `,"params":`...)
	var err error
	b = appendMembers(b, id.Params, appendValue, &err)
	if err != nil {
		return nil, fmt.Errorf("the key of a trial of %s: %w", id.Experiment, err)
	}
	b = append(b, `,"result_version":`...)
	b = strconv.AppendInt(b, int64(id.ResultVersion), 10)
	if id.RNG != "" {
		b = append(b, `,"rng":`...)
		b = appendString(b, id.RNG)
	}
	b = append(b, `,"seed":`...)
	b = strconv.AppendInt(b, id.Seed, 10)
	return append(b, '}'), nil
}

// CanonicalParams returns the canonical JSON of parameters: equal settings
// give equal bytes.
func CanonicalParams(p experiment.Params) ([]byte, error) {
	var err error
	b := appendMembers(make([]byte, 0, 128), p, appendValue, &err)
	return b, err
}

func appendMembers[V any](b []byte, m map[string]V, value func([]byte, V) ([]byte, error), failed *error) []byte {
	b = append(b, '{')
	var few [32]string // a plan has a million maps
	names := few[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, k := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, k)
		b = append(b, ':')
		var err error
		if b, err = value(b, m[k]); err != nil && failed != nil {
			*failed = fmt.Errorf("%q: %w", k, err)
		}
	}
	return append(b, '}')
}

func appendValue(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case string:
		return appendString(b, x), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case int:
		return strconv.AppendInt(b, int64(x), 10), nil
	case float64:
		return appendFloat(b, x)
	case experiment.Points:
		switch {
		case x.Word != "":
			return appendString(b, x.Word), nil
		case x.Values == nil:
			return strconv.AppendInt(b, int64(x.Count), 10), nil
		}
		return appendValue(b, x.Values)
	case []float64:
		return appendList(b, x, appendFloat)
	case []any: // as a record holds a list
		return appendList(b, x, appendValue)
	}
	return b, fmt.Errorf("a %T cannot be part of a key", v)
}

func appendList[E any](b []byte, list []E, element func([]byte, E) ([]byte, error)) ([]byte, error) {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = element(b, e); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// appendFloat writes numbers as encoding/json does, and an infinity as text.
func appendFloat(b []byte, f float64) ([]byte, error) {
	switch {
	case math.IsNaN(f):
		return b, fmt.Errorf("NaN cannot be part of a key")
	case math.IsInf(f, 0):
		return appendString(b, experiment.FormatNumber(f)), nil
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 becomes e-9
		b = b[:n-1]
	}
	return b, nil
}

// appendString writes a JSON text.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			raw, _ := json.Marshal(s) // a text always has a JSON form
			return append(b, raw...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

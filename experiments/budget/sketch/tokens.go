package sketch

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
)

// Tokens are ascending numbers, which are written as base64.
type Tokens []uint64

// MarshalText writes the numbers, 8 bytes each.
func (t Tokens) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(t))
	for _, x := range t {
		raw = binary.BigEndian.AppendUint64(raw, x)
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads them.
func (t *Tokens) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw)%8 != 0 {
		return errors.New("hashes are expected in base64, 8 bytes each")
	}
	out := make(Tokens, len(raw)/8)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(raw[8*i:])
		if i > 0 && out[i] <= out[i-1] {
			return errors.New("hashes are expected in ascending order")
		}
	}
	*t = out
	return nil
}

// Shared reports whether a number is in both.
func (t Tokens) Shared(other Tokens) bool {
	for len(t) > 0 && len(other) > 0 {
		switch {
		case t[0] < other[0]:
			t = t[1:]
		case t[0] > other[0]:
			other = other[1:]
		default:
			return true
		}
	}
	return false
}

// Union has the numbers of both.
func (t Tokens) Union(other Tokens) Tokens {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(t, other))))
}

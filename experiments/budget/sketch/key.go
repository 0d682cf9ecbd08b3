package sketch

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"maps"
	"slices"

	"privkern/experiments/dataset/table"
)

// Key is the secret of the hashes of a ledger.
type Key [32]byte

// Read reads the data of a name that lie at a path, and returns their sketch and the HMACs of the
// persons in a column; none for "".
func (k Key) Read(name, path string, reading table.Reading, person string) (*Sketch, Tokens, error) {
	persons, mac := map[uint64]struct{}{}, k.NewMAC()
	w, err := table.ReadWhole(name, path, reading, person, k.text, func(name string) {
		persons[mac.short("person", name)] = struct{}{}
	})
	if err != nil {
		return nil, nil, err
	}
	return k.sketch(w), slices.Sorted(maps.Keys(persons)), nil
}

// sketch sketches a table whose texts were hashed by [Key.text].
func (k Key) sketch(w *table.Whole) *Sketch {
	m := newMaker(k, w)
	m.measure()
	var out Sketch
	for _, set := range m.sets() {
		out.Sets = append(out.Sets, m.store(set))
	}
	return &out
}

// text is the hash of a text in a table.
func (k Key) text(s string) uint64 {
	h := binary.BigEndian.Uint64(k[:]) // FNV-1a, which the key starts
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return k.mix(h, 1)
}

// mix scatters a number (the finaliser of MurmurHash3), with a key for each purpose. It decides which
// values are sampled; those that are stored get an HMAC besides.
func (k Key) mix(x uint64, purpose int) uint64 {
	x ^= binary.BigEndian.Uint64(k[8*(purpose%4):])
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// MAC computes HMACs with the key, one after the other.
type MAC struct{ h hash.Hash }

// NewMAC returns one.
func (k Key) NewMAC() *MAC { return &MAC{hmac.New(sha256.New, k[:])} }

// Sum is the HMAC of a text for a purpose, which is a word.
func (m *MAC) Sum(purpose, text string) []byte {
	m.h.Reset()
	_, _ = io.WriteString(m.h, purpose+" "+text)
	return m.h.Sum(nil)
}

// short is the beginning of an HMAC.
func (m *MAC) short(purpose, text string) uint64 {
	return binary.BigEndian.Uint64(m.Sum(purpose, text))
}

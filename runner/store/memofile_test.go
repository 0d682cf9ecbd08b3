package store

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"privkern/runner/experiment"
)

// HoldMemo holds a result as one that reads it does.
func HoldMemo(tb testing.TB, m *Memo, name, key string) (release func()) {
	tb.Helper()
	unlock, ok, err := m.store.locks.share(memoLock(memoID{Of: m.of, Name: name, Key: key}.digest()))
	if !ok || err != nil {
		tb.Fatalf("the lock is held: %v", err)
	}
	return unlock
}

// A memo is either refused, or reads the same after it is written again.
func FuzzMemo(f *testing.F) {
	whole, err := encodeMemo(memoID{"[]", "work", "key"}, &experiment.Shared{Took: time.Second, Texts: []string{"<a>"},
		Numbers: map[string][]float64{"x": {1, math.NaN()}, "y": {}}})
	if err != nil {
		f.Fatal(err)
	}
	body := whole[:len(whole)-sha256.Size]
	f.Add(whole)
	f.Add(body)
	f.Add(bytes.Replace(body, []byte(`"count":2`), []byte(`"count":9`), 1))
	f.Add(bytes.Replace(body, []byte(`"count":2`), []byte(`"count":1`), 1))
	f.Add(bytes.Replace(body, []byte(`{"name":"x"`), []byte(`{"name":"y","count":-1},{"name":"y"`), 1))
	f.Add(bytes.Replace(body, []byte(`{"name":"x"`), []byte(`{"name":"y","count":0},{"name":"x"`), 1))
	f.Add([]byte("privkern memo 1\n{}\n"))
	f.Add([]byte("privkern memo 1\n"))
	f.Add([]byte("privkern memo 2\n{}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, _, problem := decodeMemo(file); problem == "" {
			sum := sha256.Sum256(file[:len(file)-sha256.Size])
			if !bytes.HasSuffix(file, sum[:]) {
				t.Error("read without its digest")
			}
		}
		sum := sha256.Sum256(file)
		id, v, problem := decodeMemo(append(bytes.Clone(file), sum[:]...)) // with a valid digest
		if problem != "" {
			return
		}
		again, err := encodeMemo(id, v)
		if err != nil {
			t.Fatal(err)
		}
		sameID, same, problem := decodeMemo(again)
		if problem != "" || sameID != id || same.Took != v.Took || !slices.Equal(same.Texts, v.Texts) ||
			!maps.EqualFunc(same.Numbers, v.Numbers, func(a, b []float64) bool {
				return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
			}) {
			t.Errorf("%v, %+v, %s\nbefore %v, %+v", sameID, same, problem, id, v)
		}
	})
}

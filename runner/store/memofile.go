package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"privkern/runner/experiment"
)

// A memo is the file of one result of shared work:
//
//	privkern memo 1
//	{"of": …, "name": …, "key": …, "took_ns": …, "columns": […], "texts": […]}
//	the numbers of the columns, in their order, as little-endian IEEE 754
//	the SHA-256 of all bytes before, 32 bytes
//
// with a line end after each of the first two lines.
const (
	memoFormat = "privkern memo 1\n"
	memoWord   = "privkern memo "
	memoSuffix = ".memo"
)

// memoHead is the second line.
type memoHead struct {
	memoID
	TookNS  int64        `json:"took_ns"`
	Columns []memoColumn `json:"columns"`
	Texts   []string     `json:"texts"`
}

// memoID identifies the result of shared work.
type memoID struct {
	Of   string `json:"of"`   // the trials that share it: see [MemoOptions]
	Name string `json:"name"` // of the work
	Key  string `json:"key"`  // the digest of its inputs
}

type memoColumn struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// digest returns the name of a memo without its suffix.
func (id memoID) digest() string {
	raw, err := json.Marshal(id)
	if err != nil {
		panic(err) // three texts have a JSON form
	}
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte(memoFormat), raw...)))
}

// encodeMemo returns the content of a memo.
func encodeMemo(id memoID, v *experiment.Shared) ([]byte, error) {
	head := memoHead{memoID: id, TookNS: int64(v.Took), Columns: []memoColumn{}, Texts: v.Texts}
	names := slices.Sorted(maps.Keys(v.Numbers))
	total := 0
	for _, name := range names {
		head.Columns = append(head.Columns, memoColumn{name, len(v.Numbers[name])})
		total += len(v.Numbers[name])
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(memoFormat)+len(line)+1+8*total+sha256.Size)
	out = append(append(append(out, memoFormat...), line...), '\n')
	for _, name := range names {
		for _, f := range v.Numbers[name] {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
		}
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// decodeMemo reads a memo, or returns its defect.
func decodeMemo(raw []byte) (id memoID, v *experiment.Shared, problem string) {
	if !bytes.HasPrefix(raw, []byte(memoFormat)) {
		if bytes.HasPrefix(raw, []byte(memoWord)) {
			return id, nil, "of another version of the format"
		}
		return id, nil, "no memo"
	}
	body := len(raw) - sha256.Size
	if body < len(memoFormat) {
		return id, nil, "torn: it ends in its head"
	}
	if sum := sha256.Sum256(raw[:body]); !bytes.Equal(sum[:], raw[body:]) {
		return id, nil, "torn or changed: its digest does not hold"
	}
	line, numbers, ok := bytes.Cut(raw[len(memoFormat):body], []byte("\n"))
	if !ok {
		return id, nil, "without a head"
	}
	var head memoHead
	strict := json.NewDecoder(bytes.NewReader(line))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&head); err != nil {
		return id, nil, "its head cannot be read: " + err.Error()
	}
	v = &experiment.Shared{Numbers: make(map[string][]float64, len(head.Columns)), Texts: head.Texts,
		Took: time.Duration(head.TookNS)}
	for _, c := range head.Columns {
		if _, twice := v.Numbers[c.Name]; twice || c.Count < 0 || c.Count > len(numbers)/8 {
			return id, nil, fmt.Sprintf("its column %q is not one of its own", c.Name)
		}
		column := make([]float64, c.Count)
		for i := range column {
			column[i] = math.Float64frombits(binary.LittleEndian.Uint64(numbers[8*i:]))
		}
		v.Numbers[c.Name], numbers = column, numbers[8*c.Count:]
	}
	if len(numbers) > 0 {
		return id, nil, "it has numbers of no column"
	}
	return head.memoID, v, ""
}

// readMemo reads the memo of that name, or returns its defect. Errors concern the machine, not
// the file.
func (s *Store) readMemo(name string) (v *experiment.Shared, problem string, err error) {
	raw, err := s.disk.ReadFile(s.memoPath(name))
	if unreadable(err) {
		return nil, "it cannot be read: " + errors.Unwrap(err).Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	id, v, problem := decodeMemo(raw)
	if problem != "" {
		return nil, problem, nil
	}
	if id.digest() != strings.TrimSuffix(name, memoSuffix) {
		return nil, "the result of other work than its name says", nil
	}
	return v, "", nil
}

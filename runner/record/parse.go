package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"privkern/runner/experiment"
)

// digestMember is the last member of a sealed record.
const digestMember = "digest"

// Parse reads the text of a record and refuses one that does not hold by itself:
// torn, of another schema, without the content that its status calls for, or
// with a digest of something else. Whether it is the record of a certain trial is
// another question: see [Record.Identity].
//
// An unsealed record has no digest. Names that a record does not have are refused
// there, since one may be what became of a name that it should have.
func Parse(file []byte) (*Record, error) {
	if len(file) == 0 {
		return nil, errors.New("the file is empty")
	}
	sealed, broken := CheckDigest(file, digestMember)
	var r Record
	if err := json.Unmarshal(file, &r); err != nil {
		return nil, fmt.Errorf("not a whole record: %w", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("a record of schema %d, not %d", r.Schema, Schema)
	}
	switch {
	case broken != nil:
		return nil, broken
	case sealed != r.Sealed():
		return nil, errors.New("not a whole record: of the result version and the digest there is one without the other")
	case !sealed:
		if err := checkNames(file); err != nil {
			return nil, fmt.Errorf("not a whole record: %w", err)
		}
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return &r, nil
}

// checkNames refuses names that reading would pass over without a word.
func checkNames(file []byte) error {
	strict := json.NewDecoder(bytes.NewReader(file))
	strict.DisallowUnknownFields()
	return strict.Decode(new(Record))
}

// Check refuses content that no trial ends with.
func (r *Record) Check() error {
	for name, v := range r.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the metric %s is %v", name, v)
		}
	}
	content := len(r.Metrics) > 0 || len(r.Series) > 0
	switch {
	case r.Schema != Schema:
		return fmt.Errorf("a record of schema %d, not %d", r.Schema, Schema)
	case r.ResultVersion < 0:
		return fmt.Errorf("a record of result version %d", r.ResultVersion)
	case r.Status != OK && r.Status != Failed && r.Status != Skipped:
		return fmt.Errorf("unknown status %q", r.Status)
	case r.Status == OK && r.Error != nil:
		return errors.New("a result with an error")
	case r.Status == OK && !content:
		return errors.New("a result without metrics or series")
	case r.Status != OK && r.Error == nil:
		return fmt.Errorf("%s without a reason", r.Status)
	case r.Status != OK && content:
		return fmt.Errorf("%s with metrics or series", r.Status)
	}
	return nil
}

// Sealed says whether the record has what its key is recomputed from, and is
// written with a digest.
func (r *Record) Sealed() bool { return r.ResultVersion != 0 }

// Salted says whether the key of the record has a part that nobody knows: the
// noise comes from the operating system, and no two such trials have one key.
func (r *Record) Salted() bool { return r.Privacy != nil && r.Privacy.RNG == "secure" }

// Identity returns what the key is made of, as far as the record says it: an
// unsealed one lacks the result version, and one of a trial whose data could not
// be used lacks their digests.
func (r *Record) Identity() experiment.Identity {
	return experiment.Identity{
		Experiment: r.Experiment, ResultVersion: r.ResultVersion, Params: r.Params, Seed: r.Seed,
		Backend: r.Backend, DType: r.DType, Datasets: r.Provenance.Datasets,
	}
}

// Seal returns the text of an unsealed record with the version of its results and
// a digest. Everything else stays as it is, byte for byte, and the same text gives
// the same sealed one.
func Seal(file []byte, version int) ([]byte, error) {
	text, err := OpenObject(bytes.Clone(file))
	if err != nil {
		return nil, err
	}
	text = append(text, `,"result_version":`...)
	text = strconv.AppendInt(text, int64(version), 10)
	return AppendDigest(append(text, '}'), digestMember)
}

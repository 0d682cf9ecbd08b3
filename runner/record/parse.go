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

// Parse reads the text of a record and refuses an invalid one: torn, of another schema,
// without the content that its status requires, or with a wrong digest. It does not check
// that the record is that of a certain trial; see [Record.Identity].
//
// Records of early versions have the guarantee of the mechanism that a trial simulated as
// their own; it is read as a simulated one, see [experiment.Privacy.Judged].
//
// An unsealed record has no digest. Unknown names are refused there, because a damaged
// name may be among them.
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
	if p := r.Privacy; p != nil && p.Guarantee != "" && r.Release == nil {
		r.Privacy = p.Judged(r.Salted())
	}
	return &r, nil
}

// checkNames refuses names that json.Unmarshal ignores.
func checkNames(file []byte) error {
	strict := json.NewDecoder(bytes.NewReader(file))
	strict.DisallowUnknownFields()
	return strict.Decode(new(Record))
}

// Check refuses content that no trial can have.
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

// Sealed reports whether the record has the result version, from which its key can be
// recomputed, and a digest.
func (r *Record) Sealed() bool { return r.ResultVersion != 0 }

// Salted reports whether the key of the record has a random part, because its noise comes
// from the operating system: no two such trials have the same key.
func (r *Record) Salted() bool { return r.Privacy != nil && r.Privacy.RNG == "secure" }

// Identity returns the identity from which the key is computed, as far as the record has it:
// an unsealed record lacks the result version, and that of a trial whose data could not be
// used lacks their digests.
func (r *Record) Identity() experiment.Identity {
	return experiment.Identity{
		Experiment: r.Experiment, ResultVersion: r.ResultVersion, Params: r.Params, Seed: r.Seed,
		Backend: r.Backend, DType: r.DType, Datasets: r.Provenance.Datasets,
	}
}

// Seal returns the text of an unsealed record with the version of its results and
// a digest. Everything else stays as it is, byte for byte.
func Seal(file []byte, version int) ([]byte, error) {
	text, err := openObject(bytes.Clone(file))
	if err != nil {
		return nil, err
	}
	text = append(text, `,"result_version":`...)
	text = strconv.AppendInt(text, int64(version), 10)
	return AppendDigest(append(text, '}'), digestMember)
}

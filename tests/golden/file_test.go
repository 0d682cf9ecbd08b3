package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// file is the golden file of an experiment.
type file struct {
	Experiment    string        `json:"experiment"`
	ResultVersion int           `json:"result_version"`
	Class         string        `json:"blas_class"` // of the machine that computed it
	Trials        []goldenTrial `json:"trials"`
	Tolerance     float64       `json:"-"` // on another class; 0 compares bits
}

// goldenTrial is a trial in a golden file. Numbers have the shortest digits that read back
// as the same ones.
type goldenTrial struct {
	Setting string         `json:"setting"`
	Seed    int64          `json:"seed"`
	Key     string         `json:"key"`
	Params  map[string]any `json:"params"` // with all defaults
	// Metrics are all but times.
	Metrics map[string]float64                        `json:"metrics"`
	Series  map[string]map[string]record.SeriesColumn `json:"series,omitempty"`
	// SeriesSHA256 stands for the series of a trial that reads real data: they may
	// hold some of them.
	SeriesSHA256 map[string]string `json:"series_sha256,omitempty"`
}

// keep returns the golden trial of a record.
func keep(e *experiment.Experiment, setting string, r *record.Record, realData bool) (goldenTrial, error) {
	k := goldenTrial{Setting: setting, Seed: r.Seed, Key: r.Key, Params: r.Params, Metrics: map[string]float64{}}
	for name, v := range r.Metrics {
		if !slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Timing && m.Covers(name) }) {
			k.Metrics[name] = v
		}
	}
	if !realData {
		k.Series = r.Series
		return k, nil
	}
	k.SeriesSHA256 = map[string]string{}
	for name, s := range r.Series {
		raw, err := json.Marshal(s)
		if err != nil {
			return k, err
		}
		sum := sha256.Sum256(raw)
		k.SeriesSHA256[name] = hex.EncodeToString(sum[:])
	}
	return k, nil
}

// compare compares the results of an experiment with its golden file. Errors name
// the changes first, then the remedy.
func compare(was, now file) error {
	if now.ResultVersion < was.ResultVersion {
		return fmt.Errorf("the file is of result version %d, the code of the earlier version %d",
			was.ResultVersion, now.ResultVersion)
	}
	changed := &changedError{experiment: now.Experiment, was: was.ResultVersion, now: now.ResultVersion}
	var missing []string
	for _, k := range now.Trials {
		i := slices.IndexFunc(was.Trials, k.same)
		if i < 0 {
			missing = append(missing, fmt.Sprintf("%q, seed %d", k.Setting, k.Seed))
			continue
		}
		of := differences(was.Trials[i], k, now.Tolerance)
		d, ok := keyDifference(was.Trials[i], k)
		if ok && (d.text != sameParameters || now.ResultVersion == was.ResultVersion) { // the key has the version
			of = append(of, d)
		}
		for _, d := range of {
			d.path = fmt.Sprintf("%q, seed %d: %s", k.Setting, k.Seed, d.path)
			changed.differences = append(changed.differences, d)
		}
	}
	for _, k := range was.Trials {
		if !slices.ContainsFunc(now.Trials, k.same) {
			missing = append(missing,
				fmt.Sprintf("%q, seed %d is in the file and no longer among the settings", k.Setting, k.Seed))
		}
	}
	if len(changed.differences) > 0 || now.ResultVersion > was.ResultVersion {
		return changed
	}
	if len(missing) > 0 {
		return fmt.Errorf("the file does not have the settings: %s: run `%s`", strings.Join(missing, "; "), updates)
	}
	return nil
}

func (k goldenTrial) same(o goldenTrial) bool { return k.Setting == o.Setting && k.Seed == o.Seed }

// testdata is the folder of the files.
var testdata string

// path is where an experiment's file is.
func path(name string) string {
	return filepath.Join(testdata, strings.ReplaceAll(name, "/", "-")+".json")
}

// errAbsent is the error of an experiment without a file.
var errAbsent = errors.New("it has no file in tests/golden/testdata: run `" + updates + "`")

func read(name string) (file, error) {
	var f file
	raw, err := os.ReadFile(path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return f, errAbsent
	}
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("%s: %w", path(name), err)
	}
	return f, nil
}

// rewrite returns an error where the file may not be replaced.
func rewrite(was, now file) error {
	if was.Class != now.Class {
		return fmt.Errorf("the file was made on %s, and this machine has %s: make it anew there", was.Class, now.Class)
	}
	err := compare(was, now)
	var changed *changedError
	if errors.As(err, &changed) && changed.now == changed.was || now.ResultVersion < was.ResultVersion {
		return err
	}
	return nil
}

func (f file) write() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return err
	}
	return os.WriteFile(path(f.Experiment), compact(b.Bytes()), 0o644) //nolint:gosec // part of the sources
}

// compact puts lists of numbers on one line.
func compact(text []byte) []byte {
	var out bytes.Buffer
	inList := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case !inList && bytes.HasSuffix(trimmed, []byte("[")) && !bytes.Contains(trimmed, []byte(`"trials"`)):
			inList = true
			out.Write(bytes.TrimRight(line, "\n"))
		case inList && (bytes.Equal(trimmed, []byte("]")) || bytes.Equal(trimmed, []byte("],"))):
			inList = false
			out.Write(append(trimmed, '\n'))
		case inList:
			out.Write(trimmed)
		default:
			out.Write(line)
		}
	}
	return out.Bytes()
}

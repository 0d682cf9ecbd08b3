package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// file is what is kept of an experiment.
type file struct {
	Experiment    string        `json:"experiment"`
	ResultVersion int           `json:"result_version"`
	Class         string        `json:"blas_class"` // of the machine that computed it
	Trials        []goldenTrial `json:"trials"`
	Tolerance     float64       `json:"-"` // on another class; 0 compares bits
}

// goldenTrial is what is kept of a trial. Numbers have the shortest digits that read back
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

// keep takes what is kept of a record.
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

// differences says in which parameters, metrics and series two runs of a setting
// differ. With a tolerance numbers may, relative to the larger one and absolutely
// below 1, and digests are not compared.
func differences(was, now goldenTrial, tolerance float64) []string {
	var out []string
	if was.Key != now.Key {
		out = append(out, "the key, "+parameters(was.Params, now.Params))
	}
	out = append(out, columnDifferences("", was.Metrics, now.Metrics, func(name string) string {
		return number("", was.Metrics[name], now.Metrics[name], tolerance)
	})...)
	out = append(out, columnDifferences("series ", was.Series, now.Series, func(name string) string {
		a, b := was.Series[name], now.Series[name]
		return strings.Join(columnDifferences("column ", a, b, func(column string) string {
			return numbers(a[column], b[column], tolerance)
		}), ", ")
	})...)
	if tolerance == 0 {
		out = append(out, columnDifferences("series ", was.SeriesSHA256, now.SeriesSHA256, func(name string) string {
			if was.SeriesSHA256[name] != now.SeriesSHA256[name] {
				return "has another digest"
			}
			return ""
		})...)
	}
	return out
}

// columnDifferences names what only one of two maps has, and what differs of what
// both have.
func columnDifferences[V any](prefix string, was, now map[string]V, differs func(name string) string) []string {
	all := maps.Clone(was)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, now)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, before := was[name]
		_, after := now[name]
		var text string
		switch {
		case !before:
			text = "is new"
		case !after:
			text = "is gone"
		default:
			text = differs(name)
		}
		if text != "" {
			out = append(out, prefix+name+" "+text)
		}
	}
	return out
}

func numbers(was, now record.SeriesColumn, tolerance float64) string {
	if len(was) != len(now) {
		return fmt.Sprintf("has %d values, had %d", len(now), len(was))
	}
	for i := range was {
		if text := number(fmt.Sprintf("at %d ", i), was[i], now[i], tolerance); text != "" {
			return text
		}
	}
	return ""
}

func number(place string, was, now, tolerance float64) string {
	if math.Float64bits(was) == math.Float64bits(now) || math.IsNaN(was) && math.IsNaN(now) {
		return ""
	}
	if apart := math.Abs(was - now); apart <= tolerance*max(1, math.Abs(was), math.Abs(now)) && tolerance > 0 {
		return ""
	}
	return fmt.Sprintf("%sis %v, was %v", place, now, was)
}

// parameters says what a change of the key comes from.
func parameters(was, now map[string]any) string {
	text := columnDifferences("", was, now, func(name string) string {
		a, b := experiment.FormatValue(was[name]), experiment.FormatValue(now[name])
		if a == b {
			return ""
		}
		return fmt.Sprintf("is %s, was %s", b, a)
	})
	if len(text) == 0 {
		return "of the same parameters"
	}
	return "of other parameters: " + strings.Join(text, ", ")
}

// compare holds what an experiment computes now against what is kept. The errors
// say what to do.
func compare(was, now file) error {
	const update = "go test ./tests/golden -update"
	switch {
	case now.ResultVersion > was.ResultVersion:
		return fmt.Errorf("the file is of result version %d, the code of version %d: run `%s`", was.ResultVersion,
			now.ResultVersion, update)
	case now.ResultVersion < was.ResultVersion:
		return fmt.Errorf("the file is of result version %d, the code of the earlier version %d",
			was.ResultVersion, now.ResultVersion)
	}
	var changed, missing []string
	for _, k := range now.Trials {
		i := slices.IndexFunc(was.Trials, k.same)
		if i < 0 {
			missing = append(missing, fmt.Sprintf("%q, seed %d", k.Setting, k.Seed))
			continue
		}
		for _, d := range differences(was.Trials[i], k, now.Tolerance) {
			changed = append(changed, fmt.Sprintf("%q, seed %d: %s", k.Setting, k.Seed, d))
		}
	}
	for _, k := range was.Trials {
		if !slices.ContainsFunc(now.Trials, k.same) {
			missing = append(missing,
				fmt.Sprintf("%q, seed %d is in the file and no longer among the settings", k.Setting, k.Seed))
		}
	}
	if len(changed) > 0 {
		return &changedError{now.Experiment, now.ResultVersion, changed}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the file does not have the settings: %s: run `%s`", strings.Join(missing, "; "), update)
	}
	return nil
}

func (k goldenTrial) same(o goldenTrial) bool { return k.Setting == o.Setting && k.Seed == o.Seed }

// changedError is a result that changed while its version did not.
type changedError struct {
	experiment string
	version    int
	changes    []string
}

func (e *changedError) Error() string {
	const shown = 12
	list := e.changes
	if len(list) > shown {
		list = append(slices.Clone(list[:shown]), fmt.Sprintf("... and %d more", len(e.changes)-shown))
	}
	return fmt.Sprintf("the result of %s changed without raising its version, %d:\n  %s\n"+
		"If it is meant to, raise Version, say why in CHANGELOG.md, and run `go test ./tests/golden -update`.",
		e.experiment, e.version, strings.Join(list, "\n  "))
}

// testdata is the folder of the files.
var testdata string

// path is where an experiment's file is.
func path(name string) string {
	return filepath.Join(testdata, strings.ReplaceAll(name, "/", "-")+".json")
}

// errAbsent says that an experiment has no file.
var errAbsent = errors.New("it has no file in tests/golden/testdata: run `go test ./tests/golden -update`")

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

// rewrite says whether the file may be replaced, and if not why.
func rewrite(was, now file) error {
	if was.Class != now.Class {
		return fmt.Errorf("the file was made on %s, and this machine has %s: make it anew there", was.Class, now.Class)
	}
	err := compare(was, now)
	var changed *changedError
	if errors.As(err, &changed) || now.ResultVersion < was.ResultVersion {
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

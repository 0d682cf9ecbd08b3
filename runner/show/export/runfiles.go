package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"privkern/runner/record"
)

// maxCurve bounds curves that are written as the steps of a metric; longer ones are in the
// record, an artifact of the run.
const maxCurve = 10_000

// files maps relative paths, with slashes, of a run or experiment to contents.
type files map[string][]byte

// runFolders are the folders of every run, even empty, because MLflow requires them.
var runFolders = []string{"artifacts", "metrics", "params", "tags"}

func (f files) write(dir string, folders ...string) error {
	made := map[string]bool{}
	for _, name := range folders {
		made[filepath.Join(dir, name)] = true
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
	}
	for path, data := range f {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if d := filepath.Dir(full); !made[d] {
			if err := os.MkdirAll(d, 0o777); err != nil {
				return err
			}
			made[d] = true
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (f files) text(path, value string) { f[path] = []byte(value) }

// yaml writes alternating names and values. Values are written as JSON, which is YAML and
// distinguishes texts of digits from numbers.
func (f files) yaml(path string, pairs []any) {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		raw, err := json.Marshal(pairs[i+1])
		if err != nil {
			raw = []byte("null") // texts and whole numbers always have a JSON form
		}
		fmt.Fprintf(&b, "%s: %s\n", pairs[i], raw)
	}
	f[path] = b.Bytes()
}

// tags writes the tags that are not empty, and those of every run.
func (f files) tags(name, revision string, more map[string]string) {
	maps.Copy(more, map[string]string{
		"mlflow.runName": shorten(oneLine(name), maxName), "mlflow.source.name": "privkern", "mlflow.source.type": "LOCAL",
		"mlflow.source.git.commit": revision, "mlflow.user": "privkern",
	})
	for tag, value := range more {
		if value != "" {
			f.text("tags/"+tag, shorten(value, maxTag))
		}
	}
}

func (f files) metric(name string, at int64, value float64) {
	f["metrics/"+mlflowName(name)] = metricLine(nil, at, value, 0)
}

func metricLine(b []byte, at int64, value float64, step int64) []byte {
	b = strconv.AppendInt(b, at, 10)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, value, 'g', -1, 64)
	b = append(b, ' ')
	b = strconv.AppendInt(b, step, 10)
	return append(b, '\n')
}

// curves writes a series with increasing x as steps of one metric for each column. A step is x
// if all x are whole numbers, otherwise the position, and x is a metric of its own.
func (f files) curves(name string, at int64, series map[string]record.SeriesColumn) {
	x := series["x"]
	if len(x) == 0 || len(x) > maxCurve || !increasing(x) {
		return
	}
	step := func(i int) int64 { return int64(x[i]) }
	whole := !slices.ContainsFunc(x, func(v float64) bool { return v != math.Trunc(v) || v < 0 || v > 1<<53 })
	if !whole {
		step = func(i int) int64 { return int64(i) }
	}
	for column, values := range series {
		if column == "x" && whole || len(values) != len(x) {
			continue
		}
		var b []byte
		for i, v := range values {
			if !math.IsNaN(v) { // a gap
				b = metricLine(b, at, v, step(i))
			}
		}
		if len(b) > 0 {
			f["metrics/"+mlflowName(name+"/"+column)] = b
		}
	}
}

func increasing(x []float64) bool {
	for i, v := range x {
		if math.IsNaN(v) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return true
}

// mlflowName replaces characters that MLflow refuses. The name is also the path of a file, and
// must not escape its folder, because a record may have any origin.
func mlflowName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_-. :/", r) {
			return r
		}
		return '_'
	}, s)
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if p == "" || p == "." || p == ".." {
			parts[i] = strings.Repeat("_", max(len(p), 1))
		}
	}
	return strings.ReplaceAll(shorten(strings.Join(parts, "/"), maxName), "…", "_")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten cuts a text to a number of characters, with an ellipsis.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

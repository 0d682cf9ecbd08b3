package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
)

// maxResult bounds the bytes of a result that are read: of more output the last ones count.
const maxResult = 16 << 20

// tail keeps the last bytes of all that is written to it, at least limit of them.
type tail struct {
	limit   int
	kept    []byte
	dropped bool
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > t.limit {
		p, t.kept, t.dropped = p[len(p)-t.limit:], t.kept[:0], true
	}
	if len(t.kept)+len(p) > 2*t.limit {
		t.kept, t.dropped = append(t.kept[:0], t.kept[len(t.kept)-t.limit:]...), true
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// lastObject returns the last line that begins with a brace; nil where there is none.
func lastObject(text []byte) []byte {
	for len(text) > 0 {
		text = bytes.TrimRight(text, "\r\n")
		at := bytes.LastIndexByte(text, '\n') + 1
		if line := bytes.TrimSpace(text[at:]); bytes.HasPrefix(line, []byte("{")) {
			return line
		}
		text = text[:at]
	}
	return nil
}

// nonFinite are the numbers that programs write and JSON lacks.
var nonFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

var bareWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// finite makes texts of the numbers that JSON lacks.
func finite(object []byte) []byte {
	if !bytes.Contains(object, []byte("NaN")) && !bytes.Contains(object, []byte("Infinity")) {
		return object
	}
	return bareWord.ReplaceAllFunc(object, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return slices.Concat([]byte(`"`), word, []byte(`"`))
	})
}

// printed is the result of a program, as it prints it.
type printed struct {
	Metrics  map[string]any              `json:"metrics"`
	Series   map[string]map[string][]any `json:"series"`
	Warnings []string                    `json:"warnings"`
}

// members are the names of [printed].
var members = []string{"metrics", "series", "warnings"}

// readResult reads a result: {"metrics": {name: number}, "series": {name: {column:
// [number]}}, "warnings": [text]}, or an object of numbers, which are the metrics.
func readResult(object []byte) (*experiment.Result, error) {
	var all map[string]any
	object = finite(object)
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, fmt.Errorf("%.80q is no object of JSON: %w", object, err)
	}
	if _, structured := all["metrics"]; !structured {
		return metricsOnly(all)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(members, name) {
			return nil, fmt.Errorf("beside metrics: %w", experiment.Unknown("member", name, members))
		}
	}
	var p printed
	if err := json.Unmarshal(object, &p); err != nil {
		return nil,
			fmt.Errorf("metrics are numbers by name, series lists of numbers by name and column, warnings texts: %w", err)
	}
	out, err := metricsOnly(p.Metrics)
	if err != nil {
		return nil, err
	}
	out.Warnings = p.Warnings
	out.Series, err = readSeries(p.Series)
	return out, err
}

// metricName matches names that tables and exports of every format can have, for some of
// which they are paths.
var metricName = regexp.MustCompile(`^[\pL_][\pL\pN_.@%+-]*(/[\pL\pN_@%+-][\pL\pN_.@%+-]*)*$`)

// maxMetricName bounds the characters of a name.
const maxMetricName = 100

// metricsOnly returns the result of metrics by name.
func metricsOnly(values map[string]any) (*experiment.Result, error) {
	out := &experiment.Result{Metrics: make(map[string]float64, len(values))}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v, ok := number(values[name])
		switch {
		case !ok:
			return nil, fmt.Errorf("the metric %s is %s, no number", name, sample(values[name]))
		case !metricName.MatchString(name) || utf8.RuneCountInString(name) > maxMetricName:
			return nil, fmt.Errorf("%.100q cannot be the name of a metric: it begins with a letter and has letters, digits and "+
				"_ . @ %% + - behind it, at most %d in all, and / between parts that do not begin with a dot", name, maxMetricName)
		}
		out.Metrics[name] = v
	}
	if len(values) == 0 {
		return nil, errors.New("there is no metric in it")
	}
	return out, nil
}

// number returns a number of JSON, or one of nonFinite.
func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case string:
		f, ok := nonFinite[x]
		return f, ok
	}
	return 0, false
}

// sample is a value for an error message.
func sample(v any) string {
	raw, _ := json.Marshal(v) // it was read from JSON
	if s := string(raw); len(s) <= 60 {
		return s
	}
	return string(raw[:60]) + "..."
}

// readSeries returns series. A null or NaN is a gap.
func readSeries(all map[string]map[string][]any) (map[string]experiment.Series, error) {
	var out map[string]experiment.Series
	for _, name := range slices.Sorted(maps.Keys(all)) {
		series := make(experiment.Series, len(all[name]))
		length := -1
		for _, column := range slices.Sorted(maps.Keys(all[name])) {
			values := make([]float64, len(all[name][column]))
			for i, v := range all[name][column] {
				f, ok := number(v)
				if v == nil {
					f, ok = math.NaN(), true
				}
				if !ok {
					return nil, fmt.Errorf("the series %s, column %s, is %s at position %d, no number", name, column, sample(v), i)
				}
				values[i] = f
			}
			if length >= 0 && len(values) != length {
				return nil, fmt.Errorf("the columns of the series %s have different lengths, %d and %d", name, length, len(values))
			}
			length, series[column] = len(values), values
		}
		if out == nil {
			out = map[string]experiment.Series{}
		}
		out[name] = series
	}
	return out, nil
}

// lastWords is the last line of a text that is not blank.
func lastWords(text []byte) string {
	text = bytes.TrimSpace(text)
	return strings.TrimSpace(string(text[bytes.LastIndexByte(text, '\n')+1:]))
}

package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// Template is a text with places for values.
type Template []piece

// piece is a text as it stands, or a place for the value of a name.
type piece struct{ text, name string }

// settingName matches the names that settings may have.
var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// CheckName refuses the name of a setting that a template cannot have, or that stands for
// another part of a trial.
func CheckName(name string) error {
	switch {
	case !settingName.MatchString(name):
		return fmt.Errorf("%q cannot be the name of a setting; it has letters, digits and _ - . in it", name)
	case name == Name || slices.Contains(Given, name):
		return fmt.Errorf("a setting cannot be named %q; the names %s and %s have a meaning of their own", name,
			strings.Join(Given, ", "), Name)
	}
	return nil
}

var errBrace = errors.New("a brace without its other half; write {{ or }} for a brace itself")

// Parse reads a template: {name} is a place, {{ and }} are braces.
func Parse(text string) (Template, error) {
	var out Template
	plain := ""
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			plain += rest[:1]
			i++
		case rest[0] == '{':
			name, _, ok := strings.Cut(rest[1:], "}")
			if !ok {
				return nil, fmt.Errorf("%q: %w", text, errBrace)
			}
			if !settingName.MatchString(name) {
				return nil, fmt.Errorf("%q: %q cannot be the name of a setting; write {{ and }} for braces themselves", text, name)
			}
			out = append(out, piece{text: plain}, piece{name: name})
			plain = ""
			i += len(name) + 1
		case rest[0] == '}':
			return nil, fmt.Errorf("%q: %w", text, errBrace)
		default:
			plain += rest[:1]
		}
	}
	return append(out, piece{text: plain}), nil
}

// Names returns the names of the places.
func (t Template) Names() []string {
	var out []string
	for _, p := range t {
		if p.name != "" {
			out = append(out, p.name)
		}
	}
	return out
}

// Fill returns the text with values in the places.
func Fill(text string, values map[string]string) (string, error) {
	t, err := Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		if p.name == "" {
			continue
		}
		v, ok := values[p.name]
		if !ok {
			return "", fmt.Errorf("%q: the trial has no setting %q", text, p.name)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// Format writes a value as an argument of a program: numbers as JSON has them, lists as
// [a,b], infinity as inf.
func Format(v any) string {
	switch x := v.(type) {
	case float64:
		if a := math.Abs(x); a != 0 && !math.IsInf(x, 0) && a >= 1e-6 && a < 1e21 {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
		return experiment.FormatNumber(x)
	case []float64:
		parts := make([]string, len(x))
		for i, f := range x {
			parts[i] = Format(f)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return experiment.FormatValue(v)
}

// texts returns the settings of a trial as arguments.
func texts(p experiment.Params) map[string]string {
	out := make(map[string]string, len(p))
	for name, v := range p {
		if name != Name {
			out[name] = Format(v)
		}
	}
	return out
}

// settingsJSON returns the settings of a trial as one line of JSON.
func settingsJSON(p experiment.Params) ([]byte, error) {
	settings := make(experiment.Params, len(p))
	for name, v := range p {
		if name != Name {
			settings[name] = v
		}
	}
	raw, err := json.Marshal(settings)
	return append(raw, '\n'), err
}

// files returns the names of the data sets that the files of a trial's version are.
func (d *Definition) files(p experiment.Params) ([]string, error) {
	values := texts(p)
	var out []string
	for _, text := range d.Files {
		file, err := Fill(text, values)
		if err != nil {
			return nil, err
		}
		if err := CheckFile(file); err != nil {
			return nil, err
		}
		if name := FilePrefix + filepath.ToSlash(filepath.Clean(file)); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// CheckFile refuses the name of a file that would tie a key to one machine.
func CheckFile(file string) error {
	if file == "" || filepath.IsAbs(file) {
		return fmt.Errorf("the file %q of a command must have a path that begins in the folder of the sweep file: keys are "+
			"the same on every machine", file)
	}
	return nil
}

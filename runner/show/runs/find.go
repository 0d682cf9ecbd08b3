package runs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// keyPrefix is a key, or as much of it as tells keys apart.
var keyPrefix = regexp.MustCompile(`^[0-9a-f]{6,64}$`)

// IsKey reports whether a word may be the key of a trial, or the beginning of one.
func IsKey(word string) bool { return keyPrefix.MatchString(word) }

// KeyError is the error of a key that no trial has, or several have.
type KeyError struct{ text string }

func (e *KeyError) Error() string { return e.text }

// maxCandidates bounds the keys that an error names.
const maxCandidates = 8

// Found is the record of a trial.
type Found struct {
	Key    string
	Folder string
	Others []string // further folders that have a record of the trial
	Text   []byte   // as it is in the file
	Record *record.Record
}

// Find returns the record whose key begins with a prefix, in a run or in those below a folder. A trial that several
// runs have is taken from the first of them. A prefix of no key, or of several, is a [*KeyError].
func Find(d disk.Disk, folder, prefix string, experiments *experiment.Registry) (*Found, error) {
	paths, err := folders(d, folder)
	if err != nil {
		return nil, err
	}
	in := map[string][]string{} // the folders of a key
	for _, path := range paths {
		s, err := store.Open(d, path)
		if err != nil {
			continue // no run
		}
		keys, err := s.Keys()
		if err != nil {
			return nil, err
		}
		for key := range keys {
			if strings.HasPrefix(key, prefix) {
				in[key] = append(in[key], path)
			}
		}
	}
	keys := sorted(in)
	switch {
	case len(keys) == 0:
		return nil, &KeyError{fmt.Sprintf("no trial in %s has a key that begins with %s; name the folder with --in FOLDER",
			folder, prefix)}
	case len(keys) > 1:
		text := fmt.Sprintf("%d trials have a key that begins with %s; give more of it:", len(keys), prefix)
		for _, key := range keys[:min(len(keys), maxCandidates)] {
			text += fmt.Sprintf("\n  %s in %s", key, in[key][0])
		}
		if n := len(keys) - maxCandidates; n > 0 {
			text += fmt.Sprintf("\n  and %d more", n)
		}
		return nil, &KeyError{text}
	}
	f := &Found{Key: keys[0], Folder: in[keys[0]][0], Others: in[keys[0]][1:]}
	if f.Text, err = textOf(d, f.Folder, f.Key, experiments); err != nil {
		return nil, err
	}
	f.Record, err = record.Parse(f.Text)
	return f, err
}

// textOf returns the text of a record, which is compared with the plan where that can be read.
func textOf(d disk.Disk, folder, key string, experiments *experiment.Registry) ([]byte, error) {
	s, err := store.Open(d, folder)
	if err != nil {
		return nil, err
	}
	_, err = s.ReadPlan(experiments)
	text, textErr := s.Text(key)
	if textErr != nil {
		return nil, errors.Join(textErr, err)
	}
	return text, nil
}

// changed lists the settings of a record that are not defaults, in the order of the experiment; settings of an
// experiment that this program does not know are all there.
func changed(r *record.Record, experiments *experiment.Registry) [][2]string {
	e, err := experiments.Lookup(r.Experiment)
	if err != nil {
		e = &experiment.Experiment{}
	}
	var out [][2]string
	seen := map[string]bool{}
	for i := range e.Params {
		p := &e.Params[i]
		v, given := r.Params[p.Name]
		seen[p.Name] = true
		if !given {
			continue
		}
		if c, err := p.Convert(v); err == nil {
			v = c
		}
		text := experiment.FormatValue(v)
		if d, err := p.Convert(p.Default); p.Default != nil && err == nil && experiment.FormatValue(d) == text {
			continue
		}
		out = append(out, [2]string{p.Name, text})
	}
	for _, name := range sorted(r.Params) {
		if !seen[name] {
			out = append(out, [2]string{name, experiment.FormatValue(r.Params[name])})
		}
	}
	return slices.Clip(out)
}

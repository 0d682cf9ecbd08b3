package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// maxSize bounds the files that are read, above any model that is written.
const maxSize = 256 << 20

// Format is a kind of file.
type Format struct {
	Versions []string // names with versions, such as "privkern/kahm-model/1"
	New      func() Payload
}

// Read reads a file in one of the formats. Errors are *[Error], or of the file system.
func Read(path string, formats []Format) (m *Model, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	return Decode(path, raw, formats)
}

// Decode reads the text of a file; path is for errors, which are *[Error].
func Decode(path string, raw []byte, formats []Format) (*Model, error) {
	if len(raw) > maxSize {
		return nil, &Error{Path: path, Err: fmt.Errorf("it has more than %d MiB, which no model has", maxSize>>20)}
	}
	name, field, err := nameOf(path, raw)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, f := range formats {
		if slices.Contains(f.Versions, name) {
			p := f.New()
			if err := parse(path, raw, p); err != nil {
				return nil, err
			}
			return &Model{Format: name, Files: []File{{path, p}}}, nil
		}
		known = append(known, f.Versions...)
	}
	return nil, &Error{Path: path, Field: field, Err: unknownFormat(name, known)}
}

// unknownFormat returns the error of a format that is not known, or of a version of one that
// is.
func unknownFormat(name string, known []string) error {
	if name != shortened(name) {
		return experiment.Unknown("format", shortened(name), known)
	}
	family, version := splitFormat(name)
	var reads []string
	latest := 0
	for _, k := range known {
		if same, v := splitFormat(k); same == family && version > 0 {
			reads, latest = append(reads, strconv.Quote(k)), max(latest, v)
		}
	}
	if len(reads) == 0 {
		return experiment.Unknown("format", name, known)
	}
	advice := "use an earlier version of the program, or ask for a new file"
	if version > latest {
		advice = "the file is of a later version of the program, use that"
	}
	return fmt.Errorf("it is %q; this program reads %s: %s", name, strings.Join(reads, " and "), advice)
}

// splitFormat takes the version off the name of a format; -1 where it has none.
func splitFormat(name string) (family string, version int) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, -1
	}
	v, err := strconv.Atoi(name[i+1:])
	if err != nil || v < 1 {
		return name, -1
	}
	return name[:i], v
}

// noModel is the error of a file of another kind, with the reason.
const noModel = "it is no released model, %s (a model is what run trial METHOD --release or --export writes; a " +
	"released table is used as it is)"

// nameOf returns the name of the format, and the member that has it: "format", or "model" in
// files of dpgp. The text after that is not read.
func nameOf(path string, raw []byte) (name, field string, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return "", "", &Error{Path: path, Err: fmt.Errorf(noModel, "which is a JSON object")}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return "", "", syntaxError(path, raw, err)
		}
		field, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", "", syntaxError(path, raw, err)
		}
		if field == "choice" {
			return "", "", &Error{Path: path, Err: errors.New("it is a choice of hyper-parameters, with which a model is " +
				"made: run trial EXPERIMENT ... --release FILE --tuning THIS_FILE; run predict takes the model")}
		}
		if field != "format" && field != "model" {
			continue
		}
		if json.Unmarshal(value, &name) == nil && name != "" {
			return name, field, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return "", "", syntaxError(path, raw, err)
	}
	return "", "", &Error{Path: path, Err: fmt.Errorf(noModel, `since it has no member "format"`)}
}

package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// logLines is how many of the last lines are shown at least, where there are so
// many.
const logLines = 40

// logs are the logs of an output folder by their paths: that of the sweep, and
// those of its parts, which run work writes.
type logs map[string]*logReader

// read reads what is new in them.
func (l logs) read(dir string) error {
	paths := []string{filepath.Join(dir, "log.jsonl")}
	parts, err := os.ReadDir(filepath.Join(dir, "logs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range parts {
		if filepath.Ext(e.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(dir, "logs", e.Name()))
		}
	}
	for _, path := range paths {
		r := l[path]
		if r == nil {
			r = &logReader{path: path}
			l[path] = r
		}
		if err := r.read(); err != nil {
			return err
		}
	}
	return nil
}

// started are the trials that began and did not end in the same log, with the
// latest time that one says.
func (l logs) started() map[string]time.Time {
	all := map[string]time.Time{}
	for _, r := range l {
		for key, at := range r.started {
			if at.After(all[key]) {
				all[key] = at
			}
		}
	}
	return all
}

// tail returns the last lines of all logs, in the order of their times.
func (l logs) tail() []string {
	var all []line
	for _, path := range slices.Sorted(maps.Keys(l)) {
		all = append(all, l[path].tail...)
	}
	slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
	all = all[max(0, len(all)-2*logLines):]
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].text
	}
	return texts
}

// line is a line of a log for people.
type line struct {
	at   time.Time
	text string
}

// logReader reads what is appended to a log.
type logReader struct {
	path    string
	offset  int64
	started map[string]time.Time // trials that began and did not end here
	tail    []line
}

// event is what is wanted of a line of the log.
type event struct {
	Time       time.Time `json:"time"`
	Event      string    `json:"event"`
	Key        string    `json:"key"`
	Experiment string    `json:"experiment"`
	Status     string    `json:"status"`
	Error      string    `json:"error"`
	File       string    `json:"file"`
	Message    string    `json:"message"`
	Done       int       `json:"done"`
	Total      int       `json:"total"`
}

func (l *logReader) read() error {
	if info, err := os.Stat(l.path); err == nil && info.Size() == l.offset && l.started != nil {
		return nil
	}
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < l.offset || l.started == nil { // another log
		l.offset, l.tail, l.started = 0, nil, map[string]time.Time{}
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, l.offset, info.Size()-l.offset), 1<<16)
	for {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			return nil // a line without its end is still being written
		}
		l.offset += int64(len(raw))
		var e event
		if json.Unmarshal(bytes.TrimSpace(raw), &e) != nil {
			continue // torn by a crash: the log is a convenience
		}
		switch e.Event {
		case "started":
			l.started[e.Key] = e.Time
		case "finished", "elsewhere", "again", "given_up":
			delete(l.started, e.Key)
		}
		l.tail = append(l.tail, line{e.Time, e.text()})
		if len(l.tail) > 2*logLines {
			l.tail = slices.Clone(l.tail[len(l.tail)-logLines:])
		}
	}
}

// text is the event as a line for people.
func (e *event) text() string {
	parts := []string{e.Time.UTC().Format("15:04:05"), e.Event}
	if e.Key != "" {
		parts = append(parts, fmt.Sprintf("%.12s", e.Key))
	}
	for _, s := range []string{e.Experiment, e.Status, e.File, e.Message, e.Error} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", e.Done, e.Total))
	}
	return strings.Join(parts, " ")
}

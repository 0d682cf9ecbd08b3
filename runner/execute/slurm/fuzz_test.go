package slurm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzJournal reads journals; what is read is written so that it reads the same.
func FuzzJournal(f *testing.F) {
	whole := `{"schema":1,"sweep":"ab12","round":2,"open":true,"started":"2026-01-02T03:04:05Z","plan":"d","parts":30,` +
		`"submissions":[{"number":1,"round":2,"name":"n","job":"17","user":"0","submitted":"2026-01-02T03:04:05Z",` +
		`"script":"s","parts":"1-24,30"}]}`
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)/2]))
	for _, parts := range []string{"", "0", "3-1", "1,1", "1-999999999999999999", "-1", "1-2-3", "1-"} {
		f.Add([]byte(strings.Replace(whole, "1-24,30", parts, 1)))
	}
	f.Add([]byte(`{"schema":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, folder, journalFile)
		read := func(raw []byte) (*journal, error) {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return readJournal(dir)
		}
		j, err := read(raw)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, s := range j.current() {
			for i, part := range s.Parts {
				if part < 1 || part > j.Parts || i > 0 && part <= s.Parts[i-1] {
					t.Fatalf("of %d parts, job %s has %v", j.Parts, s.Job, s.Parts)
				}
			}
		}
		written, err := json.Marshal(j)
		if err != nil {
			return // a time that JSON has no form for
		}
		again, err := read(written)
		if err != nil {
			t.Fatalf("%s is read, but not what is written of it: %v", raw, err)
		}
		if third, err := json.Marshal(again); err != nil || string(third) != string(written) {
			t.Errorf("%s became %s, %v", written, third, err)
		}
	})
}

// FuzzTasks reads what squeue, sacct and scontrol print: tasks keep the words that
// stood in a line.
func FuzzTasks(f *testing.F) {
	f.Add("12|0|privkern-a|RUNNING|None\n12|1|privkern-a|PENDING|launch failed|requeued held\n13|N/A|other|RUNNING|None\n")
	f.Add("12_0|privkern-a|CANCELLED by 1000\n12_[3-7]|privkern-a|PENDING\n12_1|privkern-a|COMPLETED\n")
	f.Add("MaxArraySize            = 1001\nSchedulerParameters     = a,max_array_tasks=500\n")
	f.Add("MaxArraySize = 99999999999999999999\n")
	f.Add("|||||\n_|\x00|\n")
	f.Fuzz(func(t *testing.T, out string) {
		check := func(what string, tasks map[taskID]task) {
			for id, one := range tasks {
				if strings.ContainsAny(id.job+one.name+one.state, "|\n") {
					t.Errorf("%s of %q: %v is %+v", what, out, id, one)
				}
				if !strings.Contains(out, id.job) || !strings.Contains(out, one.name) || !strings.Contains(out, one.state) ||
					!strings.Contains(out, one.reason) {
					t.Errorf("%s of %q: %v is %+v, which does not stand there", what, out, id, one)
				}
				if one.stuck() && !one.live() {
					t.Errorf("%s: %+v has ended and is held", what, one)
				}
			}
			if lines := strings.Count(out, "\n") + 1; len(tasks) > lines {
				t.Errorf("%s: %d tasks in %d lines", what, len(tasks), lines)
			}
		}
		check("squeue", parseQueue(out))
		check("sacct", parseAccounts(out))
		if limit, err := parseArrayLimit(out); err == nil && limit < 1 {
			t.Errorf("arrays of %d tasks", limit)
		}
	})
}

// FuzzParseOptions reads options of sbatch; a batch script holds each in one line,
// and what is written of them reads as the same.
func FuzzParseOptions(f *testing.F) {
	for _, s := range []string{"partition=gpu,gres=gpu:1,time=2:00:00", "partition=short,long", "exclusive", "comment=a=b",
		"time=", "array=1", "comment=a b#'c", ",", "a,b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		options, err := ParseOptions([]string{text})
		if err != nil {
			return
		}
		var given []string
		for _, o := range options {
			if d := o.directive(); strings.ContainsAny(d, "\n\r\\") || !strings.HasPrefix(d, "#SBATCH --") {
				t.Errorf("%q becomes the line %q", text, d)
			}
			if _, reserved := own[o.Name]; reserved {
				t.Errorf("%q sets %s", text, o.Name)
			}
			given = append(given, strings.TrimPrefix(o.String(), "--"))
		}
		if again, err := ParseOptions(given); err != nil || !reflect.DeepEqual(again, options) {
			t.Errorf("%q is %v, which are read as %v, %v", text, options, again, err)
		}
	})
}

// FuzzLogEnd reads the end of a task's log, whatever it printed.
func FuzzLogEnd(f *testing.F) {
	f.Add([]byte("one\ntwo\n"))
	f.Add([]byte(strings.Repeat("a line\n", 1000)))
	f.Add([]byte(strings.Repeat("€", 2000)))
	f.Add([]byte{0xff, 0xfe, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		end, err := logEnd(path)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(end) || strings.Count(end, "\n") > 7 || end != strings.TrimSpace(end) {
			t.Errorf("the end of %q is %q", raw, end)
		}
		whole := strings.TrimSpace(strings.ToValidUTF8(string(raw), "?"))
		if len(raw) <= 4096 && !strings.HasSuffix(whole, end) {
			t.Errorf("%q does not end with %q", whole, end)
		}
	})
}

func TestPartsOfAnArray(t *testing.T) {
	for _, row := range []struct {
		text  string
		parts int
		want  string
	}{
		{"1-24,30", 25, ""},
		{"1-4000001", 4_000_001, ""},
		{"1-4000002", 0, "more parts than an array job has tasks"},
		{"1-2000001,2000003-4000003", 0, "more parts than an array job has tasks"},
		{"1-9223372036854775807", 0, "more parts than an array job has tasks"},
		{"1-x", 0, "is no list of parts"},
	} {
		t.Run(row.text, func(t *testing.T) {
			var l partList
			err := l.UnmarshalText([]byte(row.text))
			if row.want == "" && (err != nil || len(l) != row.parts) || row.want != "" &&
				(err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%d parts, %v; want %d, %q", len(l), err, row.parts, row.want)
			}
		})
	}
}

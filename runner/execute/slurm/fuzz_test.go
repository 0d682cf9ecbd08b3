package slurm

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTasks reads the output of squeue: the fields of a task stand in a line.
func FuzzTasks(f *testing.F) {
	f.Add("12|0|privkern-a|RUNNING|7|None\n12|1|privkern-a|PENDING|7|launch failed|requeued held\n" +
		"13|N/A|other|RUNNING|8|None\n")
	f.Add("|||||\n_|\x00|\n")
	f.Fuzz(func(t *testing.T, out string) {
		tasks := parseQueue(out)
		for _, k := range tasks {
			if strings.ContainsAny(k.job+k.name+k.state+k.user, "|\n") || k.index < 0 ||
				!strings.Contains(out, k.job+"|") || !strings.Contains(out, k.name+"|") ||
				k.state != launchFailed && !strings.Contains(out, k.state+"|") {
				t.Errorf("of %q: %+v", out, k)
			}
			if n, ok := parseName(k.name); ok && n.String() != k.name {
				t.Errorf("%q is read as %v", k.name, n)
			}
		}
		if lines := strings.Count(out, "\n") + 1; len(tasks) > lines {
			t.Errorf("%d tasks in %d lines", len(tasks), lines)
		}
	})
}

// FuzzParseOptions reads options of sbatch: a batch script holds each in one line, and
// their text reads as the same.
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

// FuzzLogEnd reads the end of a task's log.
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

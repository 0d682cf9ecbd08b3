package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden tables anew")

// cpuTime is a row of processor times, without a peer or with one that always takes a second.
func cpuTime(name string, withPeer bool, samples ...float64) Measurement {
	m := Measurement{Benchmark: "a/times", Name: name + " (CPU)", Value: median(samples), Unit: "s", Clock: CPU,
		Samples: samples}
	if withPeer {
		ones := make([]float64, len(samples))
		for i := range ones {
			ones[i] = 1
		}
		m.Peer = newPeer("NumPy", samples, ones, 1)
	}
	return m
}

var here = Machine{CPU: "Z80", BLAS: "gonum (pure Go)", Revision: "abc", Peers: "NumPy 2.0"}

// reports are a run and an earlier one with rows of every verdict.
func reports() (now, earlier *Report) {
	met, most := true, 3.
	now = &Report{Machine: here, Measurements: []Measurement{
		cpuTime("slower", true, 1.3, 1.31, 1.32),
		cpuTime("faster", true, .5, .5, .51),
		cpuTime("within", true, 1.1, 1.1, 1.1),
		cpuTime("noise", true, .8, 1.3, 1.9),
		cpuTime("no peer", false, 2, 2, 2),
		{Benchmark: "a/times", Name: "slower (wall)", Value: 9, Unit: "s", Clock: Wall, Samples: []float64{9, 9, 9}},
		cpuTime("new", false, 1),
		{Benchmark: "b/values", Name: "memory", Value: 2, Unit: "MiB", AtMost: &most, Met: &met},
		{Benchmark: "b/values", Name: "steps", Value: 61},
	}}
	earlier = &Report{Machine: here, Measurements: []Measurement{
		cpuTime("slower", true, 1, 1, 1.01),
		cpuTime("faster", true, 1, 1, 1.01),
		cpuTime("within", true, 1, 1, 1.01),
		cpuTime("noise", true, .9, 1, 1.1),
		cpuTime("no peer", false, 1, 1, 1),
		{Benchmark: "a/times", Name: "slower (wall)", Value: 1, Unit: "s", Clock: Wall, Samples: []float64{1, 1, 1}},
		cpuTime("left out", false, 1),
		{Benchmark: "b/values", Name: "memory", Value: 1, Unit: "MiB"},
		{Benchmark: "b/values", Name: "steps", Value: 60},
		{Benchmark: "c/removed", Name: "x", Value: 60},
	}}
	return now, earlier
}

func everything(string) bool { return true }

// table returns the report as text.
func table(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTables(t *testing.T) {
	elsewhere := here
	elsewhere.CPU, elsewhere.BLAS, elsewhere.Peers = "6502", "OpenBLAS 0.3", "NumPy 1.0"
	for name, c := range map[string]struct {
		machine Machine
		compare bool
	}{
		"alone":     {},
		"here":      {here, true},
		"elsewhere": {elsewhere, true},
		"unknown":   {Machine{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			now, earlier := reports()
			earlier.Machine = c.machine
			got := ""
			if c.compare {
				now.Comparison = Compare(now, earlier, "old.json", DefaultTolerance, everything)
				for _, w := range now.Comparison.Warnings {
					got += "warning: " + w + "\n"
				}
			}
			got += table(t, now)
			if c.compare {
				got += "error: " + now.Comparison.Err().Error() + "\n"
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the table is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	base := []float64{1, 1, 1}
	for name, c := range map[string]struct {
		now       []float64
		tolerance float64
		want      Verdict
	}{
		"equal":                        {[]float64{1, 1, 1}, .1, Same},
		"slower":                       {[]float64{1.2, 1.2, 1.2}, .1, Slower},
		"slower, at the share":         {[]float64{1.5, 1.5, 1.5}, .5, Within},
		"slower, any share":            {[]float64{1.001, 1.001, 1.001}, 0, Slower},
		"slower, but it varies":        {[]float64{.5, .9, 1.3, 2, 3}, .1, Same},
		"slower, with one outlier":     {[]float64{.5, 1.2, 1.2, 1.2, 1.2}, .1, Slower},
		"faster":                       {[]float64{.5, .5, .5}, .1, Faster},
		"faster, by less than 1/share": {[]float64{.92, .92, .92}, .1, Within},
	} {
		t.Run(name, func(t *testing.T) {
			now := &Report{Measurements: []Measurement{cpuTime("x", false, c.now...)}}
			earlier := &Report{Measurements: []Measurement{cpuTime("x", false, base...)}}
			got := Compare(now, earlier, "old", c.tolerance, everything)
			if v := got.Rows[0].Verdict; v != c.want {
				t.Errorf("%v against %v is %s, want %s", c.now, base, v, c.want)
			}
			if failed := got.Err() != nil; failed != (c.want == Slower) {
				t.Errorf("the error is %v", got.Err())
			}
		})
	}
}

// Rows of a benchmark that was not selected are not gone.
func TestGoneRows(t *testing.T) {
	now, earlier := reports()
	c := Compare(now, earlier, "old", .1, func(b string) bool { return b != "c/removed" })
	var gone []string
	for _, r := range c.Rows {
		if r.Verdict == Gone {
			gone = append(gone, r.Benchmark+" "+r.Name)
		}
	}
	if len(gone) != 1 || gone[0] != "a/times left out (CPU)" {
		t.Errorf("gone are %q", gone)
	}
}

// What is printed is read back: as JSON all of it, as a table what it shows, also beside a
// comparison.
func TestReadWhatIsPrinted(t *testing.T) {
	now, earlier := reports()
	var asJSON bytes.Buffer
	if err := now.JSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	alone := table(t, now)
	now.Comparison = Compare(now, earlier, "old", .1, everything)
	for name, text := range map[string]string{"JSON": asJSON.String(), "table": alone, "comparison": table(t, now)} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(write(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if got.Machine != now.Machine || len(got.Measurements) != len(now.Measurements) {
				t.Fatalf("read %+v of\n%s", got, text)
			}
			for i, want := range now.Measurements {
				m := got.Measurements[i]
				if m.key() != want.key() || m.Value != want.Value || m.Clock != want.Clock {
					t.Errorf("read %+v, want %+v", m, want)
				}
				if (m.Peer == nil) != (want.Peer == nil) || m.Peer != nil && m.Peer.Ratio != want.Peer.Ratio {
					t.Errorf("%s: read the peer %+v, want %+v", m.Name, m.Peer, want.Peer)
				}
				for _, b := range []Basis{Times, PeerRatios} {
					if got, want := m.estimate(b), want.estimate(b); (got == nil) != (want == nil) {
						t.Errorf("%s by %s: %+v, want %+v", m.Name, b, got, want)
					}
				}
			}
			// Nothing is slower than itself.
			if err := Compare(now, got, "itself", 0, everything).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Earlier versions printed no machine and no spread.
func TestReadEarlierTables(t *testing.T) {
	r, err := Read(filepath.Join("testdata", "version1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"machine":{"cpu":"","blas":"","revision":""},"measurements":[` +
		`{"benchmark":"runner/plan","name":"100,000 trials: expand, key, freeze","value":1.016,"unit":"s"},` +
		`{"benchmark":"privacygp/weak","name":"certified solution (CPU)","value":0.07613,"unit":"s","clock":"cpu"},` +
		`{"benchmark":"privacygp/weak","name":"certified solution (wall)","value":0.06272,"unit":"s","clock":"wall"},` +
		`{"benchmark":"privacygp/weak","name":"certified solution: gap","value":5.316e-9,"unit":""},` +
		`{"benchmark":"graphs/kernel","name":"Matérn 5/2 float64 (CPU)","value":0.1482,"unit":"s","clock":"cpu"}]}`
	if string(got) != want {
		t.Errorf("read\n%s, want\n%s", got, want)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the file is empty",
		"  \n":                     "the file is empty",
		"{\n\"schema\": ":          "line 2: it is no report of run bench",
		"{}":                       "it has no schema",
		`{"schema": 3}`:            "schema 3, of a later version of this program, which reads 2",
		`{"schema": 2}`:            "it has no measurements",
		`{"schema": "two"}`:        "it is no report of run bench",
		"# processor: Z80\n":       "it has no measurements",
		"title: a sweep\n":         `line 1: it is no table of run bench: "title: a sweep" names no benchmark`,
		"a/b\n  x (CPU)  1 s\n  y": `line 3: "  y" is no row`,
		`{"schema": 2, "measurements": [{"name": "x", "value": 1}]}`: "measurement 1 has no benchmark or no name",
	} {
		_, err := Read(write(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run bench --output json") {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
	if _, err := Read("/nowhere/bench.json"); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Error(err)
	}
}

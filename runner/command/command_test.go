package command

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func TestFill(t *testing.T) {
	values := map[string]string{"lr": "0.1", "a.b-c": "x"}
	for _, c := range []struct{ text, want, wrong string }{
		{"--lr={lr}", "--lr=0.1", ""},
		{"{lr}{lr}", "0.10.1", ""},
		{"", "", ""},
		{"{{lr}}", "{lr}", ""},
		{"{{{lr}}}", "{0.1}", ""},
		{"{a.b-c}", "x", ""},
		{"}}{{", "}{", ""},
		{"{", "", "other half"},
		{"a}", "", "other half"},
		{"{lr", "", "other half"},
		{"{}", "", "cannot be the name"},
		{"{l r}", "", "cannot be the name"},
		{"{print $1}", "", "write {{ and }}"},
		{"{momentum}", "", `no setting "momentum"`},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := Fill(c.text, values)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("%q, %v, want an error with %q", got, err, c.wrong)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// Numbers are written so that int() and float() of every language read them.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{1e6, "1000000"}, {1.0, "1"}, {0.001, "0.001"}, {1e-9, "1e-09"}, {1e25, "1e+25"}, {0.0, "0"}, {math.Inf(1), "inf"},
		{7, "7"}, {true, "true"}, {"a b", "a b"}, {[]float64{64, 0.5}, "[64,0.5]"},
	} {
		if got := Format(c.value); got != c.want {
			t.Errorf("%v is %q, want %q", c.value, got, c.want)
		}
	}
}

// The definition in a parameter is read back as it was, with the characters of shells and HTML.
func TestDefinitionReadsBack(t *testing.T) {
	d := &Definition{Command: []string{"sh", "-c", `echo "<&> {lr}"`}, Files: []string{"a b"}, Output: "m.json",
		Stdin: StdinJSON}
	got, err := Of(experiment.Params{Name: d.Text()})
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v, want %+v", got, err, d)
	}
	for _, wrong := range []experiment.Params{{}, {Name: ""}, {Name: "{}"}, {Name: `{"command":["a"],"shell":true}`}} {
		if _, err := Of(wrong); err == nil {
			t.Errorf("%v is taken for a definition", wrong)
		}
	}
}

// A trial reads the files of its own settings.
func TestDatasets(t *testing.T) {
	d := &Definition{Command: []string{"p"}, Files: []string{"train.py", "./{data}", "sub/../train.py"}}
	p := experiment.Params{Name: d.Text(), "data": "b.csv"}
	if got, want := datasets(p), []string{"file:train.py", "file:b.csv"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, wrong := range []string{"", "/etc/passwd"} {
		d := Definition{Command: []string{"p"}, Files: []string{"{data}"}}
		if err := check(experiment.Params{Name: d.Text(), "data": wrong}); err == nil {
			t.Errorf("the file %q is taken", wrong)
		}
	}
}

func TestFilesInFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train.py", "p", "data.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"p", "train.py", "{data}", "{mode}", "-f={data}", "{lr}", "data.csv", "train.py", "folder",
		"absent", "--f=data.csv", filepath.Join(dir, "p")}
	got := InFolder(dir, arguments, map[string][]string{"data": {"data.csv", "p"}, "mode": {"p", "fast"}})
	if want := []string{"train.py", "{data}", "data.csv"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := InFolder(dir, []string{"./p"}, nil); !slices.Equal(got, []string{"./p"}) {
		t.Errorf("%q, want the program, which has a path", got)
	}
	for name, wrong := range map[string]string{"file:absent": "cannot be read", "file:folder": "not a regular file"} {
		if _, _, err := Find(dir, name); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Find("", "file:p"); err == nil {
		t.Error("a file is found without a folder")
	}
	if path, digest, err := Find(dir, "file:p"); err != nil || path != filepath.Join(dir, "p") ||
		digest != "148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940" { // of the text p
		t.Errorf("%s %s, %v", path, digest, err)
	}
}

func TestReadResult(t *testing.T) {
	for _, c := range []struct{ name, text, want, wrong string }{
		{"metrics alone", `{"loss": 0.5, "n": 3}`, "map[loss:0.5 n:3] map[] []", ""},
		{"all members", `{"metrics": {"x": 1}, "series": {"s": {"x": [1, null], "y": [NaN, 2]}}, "warnings": ["w"]}`,
			"map[x:1] map[s:map[x:[1 NaN] y:[NaN 2]]] [w]", ""},
		{"a metric that is NaN", `{"metrics": {"x": NaN}}`, "map[x:NaN] map[] []", ""},
		{"infinities", `{"a": Infinity, "b": -Infinity}`, "map[a:+Inf b:-Inf] map[] []", ""},
		{"NaN in a text", `{"metrics": {"x": 1}, "warnings": ["NaN \"Infinity\" here"]}`,
			`map[x:1] map[] [NaN "Infinity" here]`, ""},
		{"a metric named metrics", `{"metrics": 1}`, "", "metrics are numbers by name"},
		{"nothing", `{}`, "", "no metric"},
		{"no metric", `{"metrics": {}, "warnings": []}`, "", "no metric"},
		{"a text", `{"loss": "low"}`, "", `the metric loss is "low", no number`},
		{"a truth value", `{"ok": true}`, "", "the metric ok is true"},
		{"null", `{"loss": null}`, "", "the metric loss is null"},
		{"a misspelt member", `{"metrics": {"x": 1}, "serie": {}}`, "", `did you mean "series"`},
		{"a Python dictionary", `{'loss': 1}`, "", "no object of JSON"},
		{"two objects", `{"x": 1}{"x": 2}`, "", "no object of JSON"},
		{"too large a number", `{"x": 1e999}`, "", "no object of JSON"},
		{"columns of two lengths", `{"metrics": {"x": 1}, "series": {"s": {"a": [1], "b": []}}}`, "",
			"different lengths, 1 and 0"},
		{"a text in a series", `{"metrics": {"x": 1}, "series": {"s": {"a": [1, "b"]}}}`, "", "position 1"},
		{"a name with a line end", `{"a\nb": 1}`, "", "cannot be the name of a metric"},
		{"a name that leaves its folder", `{"a/../../b": 1}`, "", "cannot be the name of a metric"},
		{"a name that ends with a slash", `{"a/": 1}`, "", "cannot be the name of a metric"},
		{"a long name", `{"` + strings.Repeat("a", 101) + `": 1}`, "", "cannot be the name of a metric"},
		{"no name", `{"": 1}`, "", "cannot be the name of a metric"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readResult([]byte(c.text))
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("%+v, %v, want an error with %q", got, err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.TrimSpace(show(got)); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
}

func TestLastObject(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"\n\n", ""}, {"no", ""}, {"{1}", "{1}"}, {"{1}\n", "{1}"}, {"{1}\r\nnoise\r\n", "{1}"},
		{"{1}\n  {2} \nbye", "{2}"}, {"x {1}\n", ""},
	} {
		if got := string(lastObject([]byte(c.text))); got != c.want {
			t.Errorf("%q of %q, want %q", got, c.text, c.want)
		}
	}
}

// Of any output the last bytes are kept, in memory of a fixed size.
func TestTail(t *testing.T) {
	for _, size := range []int{1, 3, 7, 50, 1000} {
		last := tail{limit: 10}
		var all []byte
		for i := range 100 {
			chunk := []byte(strings.Repeat(string(rune('a'+i%26)), size))
			all = append(all, chunk...)
			if n, err := last.Write(chunk); n != size || err != nil {
				t.Fatal(n, err)
			}
		}
		if len(last.kept) < 10 || len(last.kept) > 20 || !strings.HasSuffix(string(all), string(last.kept)) || !last.dropped {
			t.Errorf("writes of %d bytes leave %q of ...%q", size, last.kept, all[len(all)-20:])
		}
		if cap(last.kept) > 64 {
			t.Errorf("%d bytes are held for the last 10", cap(last.kept))
		}
	}
}

// Two blocks of one name have the settings of both, if these are of one kind.
func TestFrozenAdd(t *testing.T) {
	block := func(kind experiment.ParamKind, names ...string) *experiment.Experiment {
		var params []experiment.Param
		for _, name := range names {
			params = append(params, experiment.Param{Name: name, Kind: kind})
		}
		return Experiment("command/p", `{"command":["p"]}`, params)
	}
	f := &Frozen{Folder: "/f"}
	for _, e := range []*experiment.Experiment{block(experiment.Number, "a", "b"), block(experiment.Number, "b", "c")} {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Add(block(experiment.Text, "b")); err == nil || !strings.Contains(err.Error(), "another name") {
		t.Errorf("a number becomes a text: %v", err)
	}
	r := experiment.NewRegistry()
	f.Define(r)
	e, err := r.Lookup("command/p")
	if err != nil || !slices.Equal(e.ParamNames(), []string{"command", "a", "b", "c"}) {
		t.Errorf("%v, %v", e.ParamNames(), err)
	}
}

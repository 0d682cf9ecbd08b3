package sweep_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/plan/sweep"
)

// folderOf writes files and returns their folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The members of the including file go over those of the included one.
func TestInclude(t *testing.T) {
	const base = "experiment: demo/curve\nparams: {delta: 0.5, folds: 3}\nsweep:\n  epsilon: [1, 2]\n" +
		"  method: [standard]\n"
	for _, c := range []struct {
		name, top string
		params    []string
		want      []string
	}{
		{"as it is", "include: base.yaml\n", []string{"epsilon", "folds"}, []string{"1 3 #0", "2 3 #0"}},
		{"params by name", "include: base.yaml\nparams: {folds: 4}\n", []string{"epsilon", "folds", "delta"},
			[]string{"1 4 0.5 #0", "2 4 0.5 #0"}},
		{"a list replaces a list", "include: base.yaml\nsweep: {epsilon: [5]}\nseeds: 3..4\n", []string{"epsilon"},
			[]string{"5 #3", "5 #4"}},
		{"sweep replaces params, and keeps the order", "include: base.yaml\nsweep: {folds: [5, 6], epsilon: [3, 4]}\n",
			[]string{"epsilon", "folds"}, []string{"3 5 #0", "3 6 #0", "4 5 #0", "4 6 #0"}},
		{"params replace sweep", "include: base.yaml\nparams: {epsilon: 9}\n", []string{"epsilon", "folds"},
			[]string{"9 3 #0"}},
		{"zip replaces both", "include: base.yaml\nzip: {epsilon: [3, 4], folds: [8, 9]}\n", []string{"epsilon", "folds"},
			[]string{"3 8 #0", "4 9 #0"}},
		{"zip of the base within sweep", "include: zipped.yaml\nparams: {epsilon: 3}\n", []string{"epsilon", "folds"},
			[]string{"3 8 #0", "3 9 #0"}},
		{"the last of a list of files", "include: [base.yaml, deep/more.yaml]\n", []string{"epsilon", "delta"},
			[]string{"7.5 0.5 #2", "8 0.5 #2"}},
		{"paths are those of the file that has them", "include: deep/up.yaml\n", []string{"epsilon"},
			[]string{"1 #0", "2 #0"}},
		{"another experiment", "include: seeds.yaml\nexperiment: demo/other\nparams: {size: 2}\n", []string{"size"},
			[]string{"2 #7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folderOf(t, map[string]string{
				"top.yaml": c.top, "base.yaml": base, "seeds.yaml": "\ufeffseeds: 7\n",
				"zipped.yaml":    "experiment: demo/curve\nsweep:\n  zip: {epsilon: [1, 2], folds: [8, 9]}\n",
				"deep/more.yaml": "seeds: 2\nsweep: {epsilon: [7.5, 8]}\n", "deep/up.yaml": "include: ../base.yaml\n"})
			s, err := sweep.ReadFile(filepath.Join(dir, "top.yaml"), names)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(x.Settings, c.params...); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The files that are included are told, each once, as they are.
func TestIncludedFiles(t *testing.T) {
	dir := folderOf(t, map[string]string{"top.yaml": "include: [a.yaml, b.yaml]\n", "a.yaml": "include: b.yaml\n",
		"b.yaml": "experiment: demo/curve\n"})
	s, err := sweep.ReadFile(filepath.Join(dir, "top.yaml"), names)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Included {
		got = append(got, filepath.Base(f.Path)+": "+string(f.Source))
	}
	if want := []string{"a.yaml: include: b.yaml\n", "b.yaml: experiment: demo/curve\n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A reference is the value of the file or of the environment, and a number stays one.
func TestReferences(t *testing.T) {
	t.Setenv("PRIVKERN_TEST_EPSILON", "2.5")
	t.Setenv("PRIVKERN_TEST_EMPTY", "")
	for _, c := range []struct {
		name, file, title string
		params            []string
		want              []string
	}{
		{"a number", "experiment: demo/curve\nparams: {epsilon: 3, delta: '0.${folds}', folds: 4}\n", "",
			[]string{"delta", "folds"}, []string{"0.4 4 #0"}},
		{"by way of another", "experiment: demo/curve\nseeds: 3\nparams:\n  epsilon: ${folds}\n  folds: ${seeds}\n", "",
			[]string{"epsilon", "folds"}, []string{"3 3 #3"}},
		{"in a title", "title: ${method} at ${epsilon}, $${epsilon}\nexperiment: demo/curve\nparams: {epsilon: 0.5, " +
			"method: sparse}\n", "sparse at 0.5, ${epsilon}", []string{"epsilon"}, []string{"0.5 #0"}},
		{"a title that is a number", "title: ${folds}\nexperiment: demo/curve\nparams: {folds: 4}\n", "4",
			[]string{"folds"}, []string{"4 #0"}},
		{"a list", "experiment: demo/curve\nparams: {points: [1, 2]}\ncases:\n  - {at: '${points}'}\n", "",
			[]string{"at"}, []string{"[1,2] #0"}},
		{"among values and in a range",
			"experiment: demo/curve\nparams: {folds: 2}\nsweep:\n  epsilon: ['${folds}', 5]\n  points: linspace(1,${folds},2)\n",
			"", []string{"epsilon", "points"}, []string{"2 1 #0", "2 2 #0", "5 1 #0", "5 2 #0"}},
		{"the environment", "experiment: demo/curve\nparams:\n  epsilon: ${env:PRIVKERN_TEST_EPSILON}\n  folds: " +
			"${env:PRIVKERN_TEST_NONE:6}\ntitle: <${env:PRIVKERN_TEST_EMPTY:x}${env:PRIVKERN_TEST_NONE:a:b}>\n", "<a:b>",
			[]string{"epsilon", "folds"}, []string{"2.5 6 #0"}},
		{"of the block", "runs:\n  - experiment: demo/curve\n    params: {folds: 3, epsilon: '${folds}'}\n" +
			"  - experiment: demo/curve\n    params: {folds: 5, epsilon: '${folds}'}\n", "",
			[]string{"epsilon"}, []string{"3 #0", "5 #0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sweep.Read("test.yaml", []byte(c.file), names)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(x.Settings, c.params...); !slices.Equal(got, c.want) || s.Title != c.title {
				t.Errorf("got  %q, title %q\nwant %q, title %q", got, s.Title, c.want, c.title)
			}
		})
	}
}

// Mistakes in composed files are shown with their places, and the includes that led there.
func TestCompositionErrors(t *testing.T) {
	doubled := "experiment: demo/curve\ntitle: ${seeds}\nseeds: " + strings.Repeat("1", 3000) + "\nparams:\n"
	for _, name := range []string{"epsilon", "delta", "folds", "method"} {
		doubled += "  " + name + ": " + strings.Repeat("${seeds}", 400) + "\n"
	}
	for _, c := range []struct{ name, top, want string }{
		{"missing", "include: bse.yaml\n",
			`top.yaml:1:10: there is no sweep file "DIR/bse.yaml"; did you mean "DIR/base.yaml"?`},
		{"a file without end", "include: /dev/zero\n", "top.yaml:1:10: /dev/zero has more bytes than 4194304"},
		{"a folder", "include: deep\n", "top.yaml:1:10: DIR/deep is a folder, not a sweep file"},
		{"itself", "include: top.yaml\n",
			"top.yaml:1:10: the includes go round in a circle: DIR/top.yaml is being read already"},
		{"a circle", "include: a.yaml\n",
			"b.yaml:1:10: the includes go round in a circle: DIR/a.yaml is being read already\n" +
				"  include: a.yaml\n           ^\n  included by DIR/a.yaml:1:10\n  included by DIR/top.yaml:1:10"},
		{"too deep", "include: deep/0.yaml\n", "deep/15.yaml:1:10: includes are nested deeper than 16 files"},
		{"too many", "include: [" + strings.Repeat("base.yaml, ", 65) + "]\n", "more than 64 files are included"},
		{"no path", "include: {a: b}\n", "top.yaml:1:10: the path of an included file must be a text"},
		{"an empty list", "include: []\n", "include is an empty list"},
		{"a path by a value", "include: ${title}\n", "may refer to ${env:NAME} only"},
		{"a mistake there", "include: wrong.yaml\nsweep: {epsilon: [1]}\n",
			"wrong.yaml:2:17: parameter \"folds\": \"x\" is not a number\n  params: {folds: x}\n                  ^\n" +
				"  included by DIR/top.yaml:1:10"},
		{"broken there", "include: broken.yaml\n", "included by DIR/top.yaml:1:10"},
		{"no mapping there", "include: list.yaml\n", "list.yaml:1:1: a sweep file must be a mapping (name: value)"},
		{"empty there", "include: empty.yaml\n",
			"empty.yaml:1:1: the file is empty; see `run help sweep-files`\n  included by"},
		{"a parameter of another experiment", "include: base.yaml\nexperiment: demo/other\n",
			`base.yaml:2:10: demo/other: unknown parameter "folds"`},
		{"an unknown value", "experiment: demo/curve\nparams:\n  epsilon: ${fold}\n  folds: 2\n",
			`top.yaml:3:12: unknown value of the file "fold"; did you mean "folds"?`},
		{"in a circle", "experiment: demo/curve\nparams:\n  epsilon: ${folds}\n  folds: ${epsilon}\n",
			"top.yaml:4:10: the values refer to each other in a circle: epsilon, folds, epsilon"},
		{"not set", "experiment: demo/curve\nparams:\n  epsilon: ${env:PRIVKERN_TEST_NONE}\n",
			"top.yaml:3:12: the variable PRIVKERN_TEST_NONE is not set; set it, or write ${env:PRIVKERN_TEST_NONE:default}"},
		{"no name", "title: ${env:}\nexperiment: demo/curve\n", `"" is no name of a variable`},
		{"open", "title: ${epsilon\nexperiment: demo/curve\n", "has no closing brace"},
		{"not quoted", "experiment: demo/curve\nparams: {folds: 2, epsilon: ${folds}}\n", "is quoted: [\"${name}\", 2]"},
		{"a value of another kind", "title: three\nexperiment: demo/curve\nparams:\n  epsilon: 1\n  folds: ${title}\n",
			`top.yaml:5:10: parameter "folds": "three" is not a number`},
		{"a list in a text", "title: at ${at}\nexperiment: demo/curve\nparams: {at: [1, 2]}\n", "${at} is a list"},
		{"missing value", "title: ${folds}\nexperiment: demo/curve\nparams: {folds: }\n", "${folds}: the value is missing"},
		{"without end", doubled, "the values of ${...} add more than 4194304 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"top.yaml": c.top, "base.yaml": "experiment: demo/curve\nparams: {folds: 3}\n",
				"a.yaml": "include: b.yaml\n", "b.yaml": "include: a.yaml\n", "list.yaml": "[a]\n", "empty.yaml": "# none\n",
				"wrong.yaml": "experiment: demo/curve\nparams: {folds: x}\n", "broken.yaml": "a: [1\n"}
			for i := range 18 {
				files[fmt.Sprintf("deep/%d.yaml", i)] = fmt.Sprintf("include: %d.yaml\n", i+1)
			}
			dir := folderOf(t, files)
			_, err := sweep.ReadFile(filepath.Join(dir, "top.yaml"), names)
			var placed *sweep.Error
			if !errors.As(err, &placed) {
				t.Fatalf("no error with a place: %v", err)
			}
			got := filepath.ToSlash(strings.ReplaceAll(err.Error(), dir, "DIR"))
			if !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	demoText = `Abstract
We reach 97.5% with 64 points, where others have 88 %.

| ε | error |
|---|---|
| 5 | 13.30 ± 3.2 |
| 9 | 13.30 ± 4.1 |

It takes 3 steps of 0.05 on 512 cores, in Table 1.
`
	demoLedger = `paper: demo
title: "A demonstration"
errata:
  - {where: "Table 1", text: "Half of 0.1 is meant."}
tables:
  - name: demo/table1
    title: "Table 1: error"
    params: {points: 64}
    cells:
      - {row: "5", published: "13.30 ± 3.2"}
      - {row: "9", published: "13.30 ± 4.1", params: {accuracy: 0.88}}
      - {row: "claim", published: "97.5"}
      - {row: "512", ours: true, statement: "we have 512 cores"}
`
	demoList = `paper: demo
reasons:
  - reason: "setting"
    of:
      - {numbers: "3 0.05", in: "It takes 3 steps of 0.05"}
      - {numbers: "512", in: "on 512 cores"}
`
)

// folderOf writes a paper's files, "" for none, and returns the folders of experiments and texts.
func folderOf(t *testing.T, text, ledger, list string) (experiments, texts string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"texts/demo.txt": text, "experiments/demo/ledger.yaml": ledger, "experiments/demo/unclaimed.yaml": list,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if content == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "experiments"), filepath.Join(root, "texts")
}

// A text whose numbers are all claimed or listed passes, and the report counts them.
func TestAllNumbersThere(t *testing.T) {
	experiments, texts := folderOf(t, demoText, demoLedger, demoList)
	var out strings.Builder
	if err := check(&out, experiments, texts, nil); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"demo: 12 numbers: 9 in the ledger, 3 listed, 0 missing\n",
		"     3 listed: setting\n",
		"     1 not asked for: " + string(label) + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the report:\n%s", want, &out)
		}
	}
}

// Each removal or change in one of the three files is found.
func TestWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name             string
		in, old, changed string
		want             string
	}{
		{"a print less", "ledger", `published: "13.30 ± 4.1"`, `published: "13.30"`, `line 7: 4.1 in "| 9 | 13.30 ± 4.1 |"`},
		{"a print that a note names", "ledger", `published: "13.30 ± 4.1"`, `published: "13.30", note: "4.1 is meant"`,
			"line 7: 4.1"},
		{"a print that is a parameter, too", "ledger", `published: "13.30 ± 3.2"`, `published: "3.2", params: {size: 13.3}`,
			"line 7: 13.30"},
		{"one of two equal prints less", "ledger", `- {row: "5", published: "13.30 ± 3.2"}`, `- {row: "5", published: "3.2"}`,
			"line 7: 13.30"},
		{"another rounding", "ledger", `"13.30 ± 3.2"`, `"13.3 ± 3.2"`, "line 7: 13.30"},
		{"a setting less", "ledger", "params: {points: 64}", "params: {points: 65}", "line 2: 64"},
		{"a claim less", "ledger", `"97.5"`, `"97.4"`, "line 2: 97.5"},
		{"a claim of ours", "ledger", `{row: "claim", published: "97.5"}`, `{row: "claim", ours: true, published: "97.5"}`,
			"line 2: 97.5"},
		{"a share that is no per cent", "text", "have 88 %", "have 88 points", "line 2: 88"},
		{"a label less", "ledger", `row: "9"`, `row: "last"`, "line 7: 9"},
		{"another number in the text", "text", "13.30 ± 3.2", "13.50 ± 3.2", "line 6: 13.50"},
		{"a single digit that is not listed", "text", "on 512", "5 times, on 512", "line 9: 5"},
		{"a listed number less", "list", `- {numbers: "512", in: "on 512 cores"}`, "", "line 9: 512"},
		{"a listed number too many", "list", "3 0.05", "3 3 0.05", `in the list, not in the text: 3 in "It takes`},
		{"other words in the text", "text", "on 512 cores", "on about 512 cores",
			`in the list, not in the text: 512 in "on 512 cores" (setting)`},
		{"a misprint of the ledger", "ledger", `published: "97.5"`, `published: "97.5 ± 0.7"`,
			"in the ledger, not in the text: .7\n"},
		{"restored for nothing", "list", "paper: demo", "paper: demo\nrestored: [{numbers: \"97.50\", reason: lost}]",
			"in the list, not in the text: 97.50, restored (lost)"},
		{"restored though it is printed", "list", "paper: demo", "paper: demo\nrestored: [{numbers: 97.5, reason: lost}]",
			"in the list, not in the text: 97.5, restored (lost)"},
		{"restored without a reason", "list", "paper: demo", "paper: demo\nrestored: [{numbers: 97.5}]", "need a reason"},
		{"a number that is not asked for", "list", `"on 512 cores"`, `"on 512 cores, in Table 1", reason`, "unknown field"},
		{"a label in the list", "list", `numbers: "512", in: "on 512 cores"`,
			`numbers: "512 1", in: "on 512 cores, in Table 1"`, "not in the text: 1 in"},
		{"no reason", "list", `reason: "setting"`, `reason: ""`, "without a reason"},
		{"no words around", "list", `in: "on 512 cores"`, `in: "51"`, "the words around them"},
		{"another paper's list", "list", "paper: demo", "paper: other", `the list of "other"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"text": demoText, "ledger": demoLedger, "list": demoList}
			if strings.Count(files[c.in], c.old) != 1 {
				t.Fatalf("%q is not once in the %s", c.old, c.in)
			}
			files[c.in] = strings.Replace(files[c.in], c.old, c.changed, 1)
			experiments, texts := folderOf(t, files["text"], files["ledger"], files["list"])
			var out strings.Builder
			err := check(&out, experiments, texts, []string{"demo"})
			if err == nil {
				t.Fatalf("it passes:\n%s", &out)
			}
			if got := out.String() + err.Error(); !strings.Contains(got, c.want) {
				t.Errorf("%q is not in\n%s", c.want, got)
			}
		})
	}
}

// A paper without a list, and a quote that the text has several times.
func TestLists(t *testing.T) {
	const text, ledger = "Abstract\nin 20 days, in 20 days\nand in 20 days", "paper: demo\ntitle: t\n"
	experiments, texts := folderOf(t, text, ledger, "")
	if err := check(&strings.Builder{}, experiments, texts, nil); !errors.Is(err, errMissing) {
		t.Errorf("without a list: %v", err)
	}
	experiments, texts = folderOf(t, text, ledger, `paper: demo
reasons: [{reason: "a date", of: [{numbers: "20", in: "in 20 days"}]}]
`)
	var out strings.Builder
	err := check(&out, experiments, texts, nil)
	if err != nil || !strings.Contains(out.String(), "0 in the ledger, 3 listed") {
		t.Errorf("a quote for several places: %v\n%s", err, &out)
	}

	experiments, texts = folderOf(t, "Abstract\nit is 8 5.5", `paper: demo
title: t
tables:
  - {name: demo/t, cells: [{row: r, published: "85.5"}]}
`, `paper: demo
reasons: [{reason: "a blank too many", of: [{numbers: "8 5.5", in: "it is 8 5.5"}]}]
restored: [{reason: "a blank too many", numbers: "85.5"}]
`)
	if err := check(&out, experiments, texts, nil); err != nil {
		t.Errorf("a restored number: %v\n%s", err, &out)
	}
}

// Files that are not there are errors, and so is a folder without ledgers.
func TestFilesMissing(t *testing.T) {
	experiments, texts := folderOf(t, demoText, demoLedger, demoList)
	for name, err := range map[string]error{
		"no text":    check(&strings.Builder{}, experiments, t.TempDir(), nil),
		"no ledger":  check(&strings.Builder{}, experiments, texts, []string{"other"}),
		"no ledgers": check(&strings.Builder{}, t.TempDir(), texts, nil),
	} {
		if err == nil || errors.Is(err, errMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The lists of the project can be read, and each is its paper's.
func TestListsOfTheProject(t *testing.T) {
	lists, err := filepath.Glob("../../experiments/*/unclaimed.yaml")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no lists: %v", err)
	}
	for _, path := range lists {
		if _, err := readUnclaimed(path, filepath.Base(filepath.Dir(path))); err != nil {
			t.Error(err)
		}
	}
}

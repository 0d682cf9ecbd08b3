package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
)

// Every mistake in a ledger is reported with its place and, where one is near, the
// valid name. Each case replaces a text of the demonstration ledger.
func TestMistakesHaveTheirPlace(t *testing.T) {
	demo := claimtest.Text
	const place = "demo/ledger.yaml:"
	cases := []struct{ name, old, replacement, want string }{
		{"unknown key", "    kind: table", "    knid: table", `9:5: unknown key "knid"; did you mean "kind"?`},
		{"unknown key of a cell", "        deterministic: true", "        determinstic: true",
			`50:9: unknown key "determinstic"; did you mean "deterministic"?`},
		{"wrong type", "draws: 0.1", "draws: many", "19:12: cannot unmarshal string"},
		{"not YAML", "cells:\n      - row: \"1d\"", "cells: [\n", "must be specified"},
		{"unknown kind", "kind: table", "kind: tabel", `9:11: unknown kind "tabel"; did you mean "table"?`},
		{"name of another paper", "name: demo/table1", "name: demos/table1",
			`7:11: the name "demos/table1" does not start with "demo/"`},
		{"doubled table", "name: demo/claims", "name: demo/table1", "a second table of the name"},
		{"unknown experiment", "experiment: demo/regression\n    params", "experiment: demo/regresion\n    params",
			`unknown experiment "demo/regresion"; did you mean "demo/regression"?`},
		{"unknown metric", "metric: rmse_cm\n    unit", "metric: rmse_mm\n    unit",
			`unknown metric "rmse_mm"; did you mean "rmse_cm"?`},
		{"unknown parameter of a cell", "{method: standard, epsilon: 1}\n        reference",
			"{method: standard, epsilom: 1}\n        reference",
			`36:36: demo/regression: unknown parameter "epsilom"; did you mean "epsilon"?`},
		{"value out of range", "epsilon: 2", "epsilon: -2", `parameter "epsilon": -2 is outside (0, inf]`},
		{"parameter of the table that nothing has", "params: {delta: 0.01}", "params: {detla: 0.01}",
			`12:14: no experiment of the table has it: unknown parameter "detla"; did you mean "delta"?`},
		{"unreadable print", `published: "13.3 ± 3.2"`, `published: "about thirteen"`,
			`35:20: "about thirteen" does not read as a number`},
		{"value without rounding", `published: "13.3 ± 3.2"`, "published: thirteen\n        value: 13",
			`35:20: "thirteen" does not read as the value 13; give its rounding`},
		{"settings without a source", `{source: ours, text: "lengthscale and`, `{text: "lengthscale and`,
			`"" is not one of paper, authors-code, ours`},
		{"settings that say neither", "metric: trace_weak\n    cells",
			"metric: trace_weak\n    settings: {note: n}\n    cells",
			`give either "stated: true", or "assumed"`},
		{"settings that are not stated", "metric: trace_weak\n    cells",
			"metric: trace_weak\n    settings: {stated: false}\n    cells", `in place of "stated: false" list`},
		{"code without a repository", "repository: author/demo, ", "", `needs a "repository"`},
		{"code without a place", `place: "fit.py, line 7", `, "", `a source needs its "place"`},
		{"fitted to nothing", `fitted: [{row: "1d", column: "no privacy"}]`, `fitted: [{row: "3d"}]`,
			`no cell of the table is in row "3d", column ""`},
		{"two variants and no headline", "    headline: \"set B\"\n", "", `which of its variants is judged?`},
		{"an unknown headline", `headline: "set B"`, `headline: "set C"`,
			`unknown variant that is not corrected "set C"; did you mean "set A"?`},
		{"a corrected headline", "    variants:\n      - {name: as-published}",
			"    headline: corrected\n    variants:\n      - {name: as-published}",
			`unknown variant that is not corrected "corrected"`},
		{"no draws", "draws: 0.1", "draws: 0", `19:12: must be finite and positive`},
		{"an unknown pool", "pool: error", "pool: errors", `"errors"; did you mean "error"?`},
		{"an unknown scale", "{name: error}", "{name: error, scale: logarithmic}", `"logarithmic" is neither linear nor log`},
		{"a tolerance without a source", `, source: "heights are recorded to a centimetre"`, "",
			`a tolerance needs its "source"`},
		{"an empty tolerance", `{absolute: 1, source`, `{source`, `give "absolute", "relative" or both`},
		{"a paired equality", `holds: {op: "<", params: {points: 5}}`, `holds: {op: "=", params: {points: 5}, paired: true}`,
			`"=" and a tolerance have no place`},
		{"a level without a test", `holds: {op: "<", params: {points: 5}}`,
			`holds: {op: "<", params: {points: 5}, alpha: 0.01}`, `the level of a paired test`},
		{"a level that is none", `holds: {op: "<", params: {points: 5}}`,
			`holds: {op: "<", params: {points: 5}, paired: true, alpha: 1}`, `the level of a paired test`},
		{"the same as nothing", `published: "4.2",`, `published: "4.2", same_as: trace,`, `unknown id "trace"`},
		{"the same as another value", `published: "5.33"}`, `published: "5.33", id: trace}
      - {row: "again", column: "split 1", published: "5.34", same_as: trace}`,
			`"5.34" is not the value "5.33" of "trace"`},
		{"a doubled id", `published: "5.33"}`, `published: "5.33", id: trace}
      - {row: "again", column: "split 1", published: "5.34", id: trace}`, `a second value of the id "trace"`},
		{"a part of a claim with an id", "claim: traces", "claim: traces\n        id: trace",
			`a part of a claim counts with the claim`},
		{"a claim that is ours in part", "claim: traces", "claim: traces\n        ours: true",
			`some parts of the claim "traces" are ours`},
		{"bad seeds", "seeds: 0..2", "seeds: 2..0", "13:12: seeds are written as"},
		{"doubled seed", "seeds: 0..2", "seeds: [1, 1]", "seeds are written as"},
		{"unknown variant of a cell", `variants: ["set B"]`, `variants: ["set C"]`,
			`55:20: unknown variant "set C"; did you mean "set A"?`},
		{"unknown variant of a reference", `- {variant: "set A", value`, `- {variant: "set D", value`,
			`unknown variant "set D"`},
		{"reference without tolerance", "value: 10.0, tolerance: 0.6", "value: 10.0",
			`a reference needs a finite "value" and a "tolerance"`},
		{"doubled cell", "column: \"sparse cloaking\"\n        published: \"9.9",
			"column: \"standard cloaking\"\n        published: \"9.9",
			`39:9: a second cell for row "1d", column "standard cloaking"`},
		{"unknown relation", `op: "<="`, `op: "=<"`, `"=<" is not one of < <= > >= =`},
		{"statement without a decision", `holds: {op: "<=", metric: trace_strong}`, "", `a statement needs "holds"`},
		{"holds without a right-hand side", `holds: {op: "<=", metric: trace_strong}`, `holds: {op: "<="}`,
			`give either "value", or what to compare with`},
		{"holds with two right-hand sides", `holds: {op: "=", value: 0.5, tolerance: 1e-6}`,
			`holds: {op: "=", value: 0.5, metric: gap}`,
			`give either "value", or what to compare with`},
		{"per cent of a fraction", "published: \".1230\"", "published: \"12.3 %\"",
			"is in per cent, but the metric trace_strong is not"},
		{"quoted value with parameters", `published: "3.11", quoted: true`,
			`published: "3.11", quoted: true, params: {points: 3}`,
			`116:84: a quoted cell has no trials of its own, so "params" has no effect`},
		{"quoted value with a statement", `published: "3.11", quoted: true`,
			`published: "3.11", quoted: true, statement: s, holds: {op: "<", value: 3}`,
			`a quoted cell has no trials of its own, so "holds" has no effect`},
		{"quoted value with a reference", `published: "3.11", quoted: true`,
			`published: "3.11", quoted: true, reference: [{value: 3, tolerance: 1}]`,
			`a quoted cell has no trials of its own, so "reference" has no effect`},
		{"quoted nothing", `published: "3.11", quoted: true`, `quoted: true`, `a quoted cell needs "published"`},
		{"unreadable quotation", `published: "3.11", quoted: true`, `published: "three", quoted: true`,
			`"three" does not read as a number`},
		{"mean of an unknown row", `mean_of: {row: "ours"}`, `mean_of: {row: "our"}`,
			`115:72: unknown row "our"; did you mean "ours"?`},
		{"mean of quoted values", `mean_of: {row: "ours"}`, `mean_of: {row: "Writer (2019)"}`, `unknown row "Writer (2019)"`},
		{"mean of a row and a column", `mean_of: {row: "ours"}`, `mean_of: {row: "ours", column: "split 1"}`,
			`give either "row" or "column"`},
		{"mean with a metric", `mean_of: {row: "ours"}`, `mean_of: {row: "ours"}, metric: gap`,
			`a mean has no trials of its own, so "metric" has no effect`},
		{"mean of different metrics", `params: {points: 7}, variants`, `metric: gap, params: {points: 7}, variants`,
			`a mean of different metrics: trace_weak and gap`},
		{"mean of a variant that a value lacks", `mean_of: {row: "ours"}, variants: [as-published]`, `mean_of: {row: "ours"}`,
			`row "ours", column "split 2" has no value of the variant "corrected"; restrict the mean by "variants"`},
		{"subtracted nothing else", `minus: {params: {points: 7}}`, `minus: {}`, `the cell's own value is subtracted`},
		{"subtracted an unknown metric", `minus: {params: {points: 7}}`, `minus: {metric: trace_week}`,
			`unknown metric "trace_week"; did you mean "trace_weak"?`},
		{"subtracted with an unknown parameter", `minus: {params: {points: 7}}`, `minus: {params: {pionts: 7}}`,
			`118:101: demo/traces: unknown parameter "pionts"; did you mean "points"?`},
		{"subtracted of a quoted value", `published: "3.11", quoted: true`,
			`published: "3.11", quoted: true, minus: {metric: gap}`,
			`a quoted cell has no trials of its own, so "minus" has no effect`},
		{"subtracted of a mean", `mean_of: {row: "ours"}`, `mean_of: {row: "ours"}, minus: {metric: gap}`,
			`a mean has no trials of its own, so "minus" has no effect`},
		{"difference beside another metric", `holds: {op: "<=", metric: trace_strong}`,
			"minus: {metric: gap}\n        holds: {op: \"<=\", metric: trace_strong}",
			`a difference ("minus") is compared with a "value"`},
		{"mean of differences and others", `params: {points: 7}, variants`,
			`params: {points: 7}, minus: {metric: gap}, variants`,
			`a mean of differences ("minus") and of values that are none`},
		{"two documents", "paper: demo", "paper: x\n---\npaper: demo", "more than one YAML document"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(string(demo), c.old) {
				t.Fatalf("the demonstration ledger does not contain %q", c.old)
			}
			l, err := ledger.Read("demo/ledger.yaml", []byte(strings.Replace(string(demo), c.old, c.replacement, 1)))
			if err == nil {
				err = l.Validate(claimtest.Registry())
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), strings.TrimSuffix(place, ":")) {
				t.Errorf("got  %v\nwant %s...%s", err, place, c.want)
			}
		})
	}
	for _, empty := range []string{"", "# nothing\n"} {
		if _, err := ledger.Read("demo/ledger.yaml", []byte(empty)); err == nil {
			t.Errorf("%q is accepted", empty)
		}
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	l, err := ledger.Read("x.yaml", []byte(`
paper: demo
tables:
  - name: demo/a
    kind: table
    title: A
    experiment: demo/traces
    metric: gap
    cells:
      - {row: 1, published: many}
      - {row: 2, published: 1, params: {pionts: 3}}
`))
	if err != nil {
		t.Fatal(err)
	}
	err = l.Validate(claimtest.Registry())
	for _, want := range []string{`x.yaml:10:29: "many"`, `x.yaml:11:41: demo/traces: unknown parameter "pionts"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func TestPrintedTextIsKeptAsItIsWritten(t *testing.T) {
	l, err := ledger.Read("x.yaml", []byte("paper: demo\ntables: [{name: demo/a, cells: [{row: r, published: .98670}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Tables[0].Cells[0].Published; got != ".98670" {
		t.Errorf("got %q: the trailing zero says how it is rounded", got)
	}
}

func TestOpen(t *testing.T) {
	demo := claimtest.Text
	paper := experiment.Paper{Name: "demo", Ledger: demo, Experiments: claimtest.Experiments(),
		Figures: []experiment.Figure{{Name: "demo/figure1"}}}
	book := ledger.Open([]experiment.Paper{paper, {Name: "without a ledger"}})
	if names, err := book.Names(); err != nil || strings.Join(names, " ") != "demo/table1 demo/claims demo/comparison" {
		t.Errorf("tables %s, %v", names, err)
	}
	for _, name := range []string{"without a ledger", "nobody"} {
		if l, err := book.Ledger(name); l != nil || err != nil {
			t.Errorf("%s has the ledger %v, %v", name, l, err)
		}
	}
	var unknown *experiment.UnknownError
	if _, err := book.Table("demo/table2"); !errors.As(err, &unknown) ||
		!slices.Equal(unknown.Likely, []string{"demo/table1"}) {
		t.Errorf("got %v", err)
	}

	paper.Figures[0].Name = "demo/figure2"
	if _, err := ledger.Open([]experiment.Paper{paper}).Ledgers(); err == nil ||
		!strings.Contains(err.Error(), `10:13: unknown figure "demo/figure1"; did you mean "demo/figure2"?`) {
		t.Errorf("a figure that the paper lacks: %v", err)
	}
	paper.Name = "other"
	if _, err := ledger.Open([]experiment.Paper{paper}).Names(); err == nil || !strings.Contains(err.Error(), "1:8:") {
		t.Errorf("a ledger of another paper: %v", err)
	}
}

// A ledger that is laid out otherwise has the same contents, and a broken one none.
func TestContents(t *testing.T) {
	text := string(claimtest.Text)
	want := "demo/table1 demo/claims demo/comparison"
	for _, c := range []struct{ name, old, replacement, err string }{
		{"as it is", "", "", ""},
		{"quoted", "- name: demo/claims", `- name: "demo/claims"`, ""},
		{"a comment behind the key", "\ntables:\n", "\ntables: # of the paper\n", ""},
		{"broken", "\ntables:\n", "\ntables: [\n", "a defect in a ledger"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(text, c.old, c.replacement, 1)
			if c.old != "" && changed == text {
				t.Fatal("nothing is replaced")
			}
			paper := experiment.Paper{Name: "demo", Ledger: []byte(changed), Experiments: claimtest.Experiments(),
				Figures: []experiment.Figure{{Name: "demo/figure1"}}}
			names, err := ledger.Open([]experiment.Paper{paper}).Names()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, %v", names, err)
				}
			} else if err != nil || strings.Join(names, " ") != want {
				t.Errorf("got %v, %v", names, err)
			}
		})
	}
}

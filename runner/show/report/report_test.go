package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, d report.Content) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden file is the report as a reader gets it: open it in a browser.
func TestGolden(t *testing.T) {
	got := render(t, demo(t))
	const path = "testdata/report.html"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the tests with -update)", err)
	}
	if got != string(want) {
		t.Error("the report differs from its golden file")
	}
	if render(t, demo(t)) != got {
		t.Error("two reports of the same data differ")
	}
}

// scriptText matches the content of a script, which is not XML.
var scriptText = regexp.MustCompile(`(?s)(<script[^>]*>).*?(</script>)`)

// elements parses the page and calls f for every start tag with its attributes.
func elements(t *testing.T, page string, f func(name string, attr map[string]string)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(
		scriptText.ReplaceAllString(strings.TrimPrefix(page, "<!DOCTYPE html>"), "$1$2")))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			f(e.Name.Local, attr)
		}
	}
}

func TestPageIsSelfContainedAndAccessible(t *testing.T) {
	page := render(t, demo(t))
	ids, links := map[string]int{}, map[string]bool{}
	records := 0
	tables, captions, svgs, scripts := 0, 0, 0, 0
	elements(t, page, func(name string, attr map[string]string) {
		switch name {
		case "link", "iframe", "img", "object", "embed", "base":
			t.Errorf("an element %s %v", name, attr)
		case "script":
			scripts++
		case "html":
			if attr["lang"] != "en" {
				t.Error("the page does not name its language")
			}
		case "table":
			tables++
		case "caption":
			captions++
		case "th":
			if attr["scope"] == "" {
				t.Errorf("a heading without scope: %v", attr)
			}
		case "svg":
			svgs++
			if attr["role"] != "img" || attr["aria-labelledby"] == "" {
				t.Errorf("a plot without a name: %v", attr)
			}
		}
		if id := attr["id"]; id != "" {
			ids[id]++
		}
		for _, ref := range []string{attr["href"], attr["src"]} {
			switch {
			case strings.HasPrefix(ref, "#"):
				links[ref[1:]] = true
			case name == "a" && strings.HasPrefix(ref, "trials/"):
				records++ // relative; the page does not load it
			case ref != "":
				t.Errorf("%s refers to %s", name, ref)
			}
		}
	})
	if tables < 5 || captions != tables || svgs != 1 || scripts != 2 || records == 0 {
		t.Errorf("%d tables, %d captions, %d plots, %d scripts, %d links to records", tables,
			captions, svgs, scripts, records)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("the identifier %s occurs %d times", id, n)
		}
	}
	for link := range links {
		if ids[link] == 0 {
			t.Errorf("a link to #%s, which is not there", link)
		}
	}
}

func TestEverythingIsEscaped(t *testing.T) {
	const evil = `<script>alert(1)</script>"'&</style></title>`
	d := demo(t)
	d.Title, d.Version = evil, evil
	d.Plan.Sources, d.Plan.Overrides, d.Plan.Digest = []string{evil}, []string{evil}, evil
	d.Papers[0].Title, d.Papers[0].Citation, d.Papers[0].Errata[0].Text = evil, evil, evil
	d.Figures[0].Caption, d.Figures[1].Error, d.Figures[1].Name = evil, evil, evil
	e := d.Tables[0]
	e.Title, e.Table, e.Footnotes = evil, evil, []string{evil}
	e.Cells[0].Row, e.Cells[0].Published.Text, e.Cells[0].Reason, e.Cells[0].Note = evil, evil, evil, evil
	e.Variants[0].Name, e.Cells[0].Variant = evil, evil
	reason := evil
	d.Trials.Add(evil, experiment.Params{evil: evil}, 0,
		&record.Record{Status: record.Failed, Error: &reason, Warnings: []string{evil},
			Privacy:    (&experiment.Privacy{Unit: evil, Mechanism: evil, Notes: []string{evil}}).State(1, 0).Judged(false),
			Provenance: record.Provenance{Version: evil, CPU: evil, Datasets: map[string]string{evil: evil}}})
	d.Metrics[0].Experiment, d.Metrics[0].Metrics[0] = evil, evil
	d.Comparisons = []report.Comparison{{Caption: evil, Header: []string{evil}, Rows: [][]string{{evil}}, Legend: evil,
		Sentences: []string{evil}, Remarks: []string{evil}, Releases: []report.Release{{Title: evil, Command: evil}},
		Looking: evil}}
	page := render(t, d)
	// The page has two scripts of its own: the data and the code.
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("the page has %d scripts", n)
	}
	for _, s := range []string{"<script>alert", "</style></title>", `alert(1)</`} {
		if strings.Contains(page, s) {
			i := strings.Index(page, s)
			t.Errorf("the page contains %q: %s", s, page[max(0, i-80):i+40])
		}
	}
	if strings.Count(page, "&lt;script&gt;") < 20 {
		t.Error("the texts are missing")
	}
}

// A comparison has its table, sentences, remarks and releases, with a heading over methods that protect less.
func TestComparison(t *testing.T) {
	page := render(t, report.Content{Title: "Compared", Comparisons: []report.Comparison{{Caption: "rmse of y",
		Header: []string{"method", "eps 1", "CPU s"}, Rows: [][]string{{"a/b", "2.0 ± 0.1 *", "3"}, {"protect less"},
			{"c/d", "1.0 ± 0.1", "4"}}, Legend: "* best", Sentences: []string{"At (1, 0): a/b."},
		Remarks:  []string{"not compared: e/f: it has no epsilon"},
		Releases: []report.Release{{Title: "The release", Command: "run trial a/b"}}, Looking: "for your eyes"}}})
	for _, want := range []string{`<a href="#comparison">`, "<caption>rmse of y</caption>", `<th scope="col">eps 1</th>`,
		`<th scope="row">a/b</th><td>2.0 ± 0.1 *</td><td>3</td>`, `colspan="3" class="sentence soft">protect less</th>`,
		"* best", "<li>At (1, 0): a/b.</li>", "<li>not compared: e/f: it has no epsilon</li>", "The release",
		"<pre><code>run trial a/b</code></pre>", "for your eyes"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	elements(t, page, func(string, map[string]string) {})
}

// An empty report is still a page.
func TestEmpty(t *testing.T) {
	page := render(t, report.Content{Title: "Nothing"})
	for _, absent := range []string{`id="tables"`, `id="comparison"`, `id="problems"`, `id="privacy"`, "0001"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	if !strings.Contains(page, "0 trials") {
		t.Error("the page does not say that there are no trials")
	}
}

// A page of many trials stays one that can be opened: a part of them is listed,
// the panels' data is compact, and every trial is in it.
func TestManyTrials(t *testing.T) {
	reg := registry()
	e, err := reg.Lookup("cloaking/regression")
	if err != nil {
		t.Fatal(err)
	}
	trials := report.NewTrialTally(reg)
	const n = 10_000
	for i := range n {
		params, err := e.Resolve(map[string]any{"lengthscale": 1 + float64(i/20)})
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{Key: fmt.Sprintf("%064x", i), Experiment: e.Name, Status: record.OK,
			Metrics:  map[string]float64{"rmse_cm": float64(i) / 7},
			Warnings: []string{fmt.Sprintf("condition %d", i)}}
		if i%3 == 0 {
			reason := "out of memory"
			r.Status, r.Error = record.Failed, &reason
		}
		trials.Add(e.Name, params, int64(i%20), r)
	}
	page := render(t, report.Content{Title: "Many", Trials: trials})
	if len(page) > 2_500_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"10000 trials", "3334 failed", "seeds 0..19", "… (500 values)", "9950 further kinds",
		"9700 further trials have their records",
		"run trial cloaking/regression lengthscale=1 --seed 0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if rows := strings.Count(page, `<tr id="trial-`); rows != 300 {
		t.Errorf("%d trials are listed", rows)
	}
	var block struct{ Trials [][]any }
	if err := json.Unmarshal([]byte(dataBlock(t, page)), &block); err != nil {
		t.Fatal(err)
	}
	if len(block.Trials) != n || block.Trials[n-1][1] != fmt.Sprintf("%064x", n-1) {
		t.Errorf("the data has %d trials", len(block.Trials))
	}
}

// The command line of a failed trial runs that trial and no other.
func TestExampleNamesBackendAndType(t *testing.T) {
	reg := registry()
	e, err := reg.Lookup("cloaking/regression")
	if err != nil {
		t.Fatal(err)
	}
	params, err := e.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	trials := report.NewTrialTally(reg)
	for _, on := range [][2]string{{"cpu", "float64"}, {"cuda", "float32"}} {
		reason := "failed on " + on[0]
		trials.Add(e.Name, params, 3, &record.Record{Key: on[0], Experiment: e.Name, Seed: 3, Backend: on[0], DType: on[1],
			Status: record.Failed, Error: &reason})
	}
	want := []string{"run trial cloaking/regression --seed 3",
		"run trial cloaking/regression --seed 3 --backend cuda --dtype float32"}
	if got := trials.Problems()[0].Listed; len(got) != 2 || got[0].Command() != want[0] ||
		got[1].Command() != want[1] {
		t.Errorf("the examples are %q and %q", got[0].Example, got[1].Example)
	}
}

// No run trial runs a program: its sweep file does, with a value of each setting.
func TestExampleOfProgram(t *testing.T) {
	reg := experiment.NewRegistry()
	reg.Define(&experiment.Experiment{Untyped: experiment.Untyped{Name: "command/p", External: true},
		Params: []experiment.Param{{Name: "command", Kind: experiment.Text}, {Name: "x", Kind: experiment.Number}}})
	trials, reason := report.NewTrialTally(reg), "a reason"
	trials.Add("command/p", experiment.Params{"command": "p", "x": 0.5}, 3,
		&record.Record{Experiment: "command/p", Seed: 3, Status: record.Failed, Error: &reason})
	if got := trials.Problems()[0].Listed[0].Command(); got != "run sweep FILE x=0.5 --seeds 3" {
		t.Errorf("the example is %q", got)
	}
}

// A table of many metrics is set for paper, which does not scroll.
func TestWideMetrics(t *testing.T) {
	for metrics, want := range map[int]bool{6: false, 9: true} {
		t.Run(fmt.Sprintf("%d metrics", metrics), func(t *testing.T) {
			table := &summary.MetricTable{Experiment: "demo/a", Varying: []string{"x"}}
			for i := range metrics {
				table.Metrics = append(table.Metrics, fmt.Sprintf("m_%d", i))
			}
			for x := range 5 {
				table.Rows = append(table.Rows, &summary.Row{Params: experiment.Params{"x": float64(x)}})
			}
			page := render(t, report.Content{Title: "Wide", Metrics: []*summary.MetricTable{table}})
			if got := strings.Contains(page, `<details class="card wide"`) &&
				strings.Contains(page, "What does not fit the paper is in tables/summary.csv"); got != want {
				t.Errorf("%d metrics: set as wide is %v", metrics, got)
			}
		})
	}
}

// dataBlock returns the JSON from which the page's script fills its panels.
func dataBlock(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<script type="application/json" id="trials-data">`)
	text, _, closed := strings.Cut(rest, "</script>")
	if !ok || !closed {
		t.Fatal("the page has no data")
	}
	return text
}

// Every computed value is a link to its trials, on the page
// itself and in the data.
func TestValuesLeadToTrials(t *testing.T) {
	d := demo(t)
	page := render(t, d)
	var block struct {
		Cells  map[string][]int
		Trials [][]any
		Texts  []string
	}
	if err := json.Unmarshal([]byte(dataBlock(t, page)), &block); err != nil {
		t.Fatal(err)
	}
	ids, cells := map[string]bool{}, map[string]bool{}
	elements(t, page, func(name string, attr map[string]string) {
		ids[attr["id"]] = true
		if name == "a" && strings.HasPrefix(attr["class"], "cell") && attr["data-cell"] == "" {
			cells[strings.TrimPrefix(attr["href"], "#")] = true
		}
	})
	computed := 0
	for _, e := range d.Tables {
		for _, c := range e.Cells {
			if len(c.TrialKeys) > 0 {
				computed++
			}
		}
	}
	if computed == 0 || len(cells) != computed {
		t.Errorf("%d values are links, %d were computed", len(cells), computed)
	}
	for id := range cells {
		if !ids[id] || len(block.Cells[id]) == 0 {
			t.Errorf("the value %s leads to %v trials", id, block.Cells[id])
		}
		for _, i := range block.Cells[id] {
			if i < 0 || i >= len(block.Trials) {
				t.Errorf("the value %s leads to trial %d of %d", id, i, len(block.Trials))
			}
		}
	}
	first := cells["table-cloaking-table1-value-1"]
	if keys := d.Tables[0].Cells[0].TrialKeys; !first ||
		block.Trials[block.Cells["table-cloaking-table1-value-1"][1]][1] != keys[1] {
		t.Errorf("the first value leads to %v, not to %v", block.Cells["table-cloaking-table1-value-1"], keys)
	}
	if !slices.Contains(block.Texts, "computed but suspect: jitter of 1e-10 was needed") {
		t.Errorf("the warnings are %q", block.Texts)
	}
}

// The policy of the page allows its script, by its hash, and nothing else.
func TestPolicyAllowsTheScriptOnly(t *testing.T) {
	page := render(t, demo(t))
	_, rest, _ := strings.Cut(page, "\n<script>")
	script, _, ok := strings.Cut(rest, "</script>")
	if !ok {
		t.Fatal("no script")
	}
	sum := sha256.Sum256([]byte(script))
	policy := ""
	elements(t, page, func(name string, attr map[string]string) {
		if name == "meta" && attr["http-equiv"] == "Content-Security-Policy" {
			policy = attr["content"]
		}
		for a := range attr {
			if strings.HasPrefix(a, "on") {
				t.Errorf("%s has the attribute %s", name, a)
			}
		}
	})
	want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.HasPrefix(policy, "default-src 'none';") || !strings.HasSuffix(policy, want) {
		t.Errorf("the policy is %s; the script needs %s", policy, want)
	}
}

// The page has the numbers of a figure, gaps included.
func TestFigureNumbers(t *testing.T) {
	d := report.Content{Title: "Numbers",
		Figures: []report.Plot{{Name: "demo/f", Title: "F", SVG: []byte("<svg></svg>"), Panels: []experiment.Panel{
			{Title: "curves", XLabel: "ε", YLabel: "error", XNames: []experiment.Name{{At: 9, Text: "nine"}},
				Lines: []experiment.Line{{Name: "sparse", X: []float64{1, 2}, Y: []float64{0.125, math.NaN()}}},
				Points: []experiment.Line{{Name: "data", X: []float64{1, 2}, Y: []float64{7, 8}},
					{Name: "other", X: []float64{9}, Y: []float64{3.5}}},
				Bands: []experiment.Band{{Name: "sparse", X: []float64{1}, Low: []float64{-2}, High: []float64{2.25}}}},
			{Heatmap: &experiment.Heatmap{Values: [][]float64{{0.75, 1}}, XTicks: []string{"left", "right"},
				YTicks: []string{"top"}, Label: "shade"}},
			{Title: "many", Lines: []experiment.Line{{X: make([]float64, 400), Y: make([]float64, 400)}}},
			{Heatmap: &experiment.Heatmap{}},
		}}}}
	page := render(t, d)
	for _, want := range []string{
		`<th scope="col">ε</th><th scope="col">sparse</th><th scope="col">data</th>`,
		"<tr><td>1</td><td>0.125</td><td>7</td></tr>", "<tr><td>2</td><td>NaN</td><td>8</td></tr>",
		"<tr><td>nine</td><td>3.5</td></tr>", "<tr><td>1</td><td>-2</td><td>2.25</td></tr>",
		"<tr><td>top</td><td>0.75</td><td>1</td></tr>",
		"and 150 further points", "A map of 0 × 0 values",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// The data of single trials in a page is bounded in bytes for trials of any size, and the page states
// how many it leaves out. No reference in it leads to a part that is left out.
func TestDataOfTrialsIsBounded(t *testing.T) {
	reg := registry()
	e, err := reg.Lookup("cloaking/regression")
	if err != nil {
		t.Fatal(err)
	}
	trials := report.NewTrialTally(reg)
	tabulator := summary.NewTabulator(reg)
	const n = 10_000
	for i := range n {
		params, err := e.Resolve(map[string]any{"lengthscale": 1 + float64(i)/7})
		if err != nil {
			t.Fatal(err)
		}
		p := privacy
		p.Notes = []string{fmt.Sprintf("note %d: %s", i, strings.Repeat("x", 100))}
		r := &record.Record{Key: fmt.Sprintf("%064x", i), Experiment: e.Name, Status: record.OK, Privacy: &p,
			Metrics: map[string]float64{"rmse_cm": 1}, Params: params, Provenance: record.Provenance{Version: "1"},
			Warnings: []string{fmt.Sprintf("warning %d: %s", i, strings.Repeat("y", 200))}}
		for m := range 20 {
			r.Metrics[fmt.Sprintf("of_%d", m)] = float64(i) / float64(m+3)
		}
		trials.Add(e.Name, params, 0, r)
		if err := tabulator.Add(plan.Trial{Key: r.Key, Identity: experiment.Identity{Experiment: e.Name, Params: params}},
			r); err != nil {
			t.Fatal(err)
		}
	}
	page := render(t, report.Content{Title: "Large", Trials: trials, Metrics: tabulator.Tables()})
	if len(page) > 3_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	var block struct {
		Experiments []struct {
			Params []struct {
				Name   string
				Values []string
				Every  *int
			}
		}
		Texts   []string
		Privacy []struct{ Statement string }
		Trials  [][]any
		Cells   map[string][]int
	}
	if err := json.Unmarshal([]byte(dataBlock(t, page)), &block); err != nil {
		t.Fatal(err)
	}
	shown := len(block.Trials)
	if want := fmt.Sprintf("of %d trials the page has no settings and metrics", n-shown); shown < 1000 || shown == n ||
		!strings.Contains(page, want) {
		t.Errorf("%d trials are in the data; the page lacks %q", shown, want)
	}
	// The first trial that does not fit may leave a text and a value.
	if n := len(block.Texts); n < shown || n > shown+1 || len(block.Privacy) > shown+1 {
		t.Errorf("%d texts and %d statements of privacy of %d trials", len(block.Texts), len(block.Privacy), shown)
	}
	own := 0
	for _, p := range block.Experiments[0].Params {
		if p.Every == nil {
			own++
			if n := len(p.Values); p.Name != "lengthscale" || n < shown || n > shown+1 {
				t.Errorf("%d values of %s", len(p.Values), p.Name)
			}
		} else if len(p.Values) != 1 || *p.Every != 0 {
			t.Errorf("all have value %d of %d of %s", *p.Every, len(p.Values), p.Name)
		}
	}
	for i, tr := range block.Trials {
		positions := tr[4].([]any)
		if own != 1 || len(positions) != 1 || positions[0] != float64(i) {
			t.Fatalf("trial %d has %v", i, tr)
		}
	}
	for id, members := range block.Cells {
		for _, at := range members {
			if at >= shown {
				t.Errorf("%s has trial %d of %d", id, at, shown)
			}
		}
	}
}

// Values of very many trials have the first ones in the data, and the number of the others.
func TestMembersAreBounded(t *testing.T) {
	reg := registry()
	e, err := reg.Lookup("cloaking/regression")
	if err != nil {
		t.Fatal(err)
	}
	params, err := e.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	trials, tabulator := report.NewTrialTally(reg), summary.NewTabulator(reg)
	for seed := range int64(1000) {
		r := &record.Record{Key: fmt.Sprintf("%064x", seed), Experiment: e.Name, Status: record.OK, Seed: seed,
			Metrics: map[string]float64{"rmse_cm": 1}, Params: params}
		trials.Add(e.Name, params, seed, r)
		if err := tabulator.Add(plan.Trial{Key: r.Key,
			Identity: experiment.Identity{Experiment: e.Name, Params: params, Seed: seed}}, r); err != nil {
			t.Fatal(err)
		}
	}
	var block struct {
		Cells map[string][]int
		More  map[string]int
	}
	page := render(t, report.Content{Title: "Seeds", Trials: trials, Metrics: tabulator.Tables()})
	if err := json.Unmarshal([]byte(dataBlock(t, page)), &block); err != nil {
		t.Fatal(err)
	}
	if id := "metrics-1-setting-1"; len(block.Cells[id]) != 300 || block.More[id] != 700 {
		t.Errorf("%d members and %d more", len(block.Cells[id]), block.More[id])
	}
}

// Drawings that would make the page too large are files of their own; the numbers stay.
func TestLargeDrawingsAreLinked(t *testing.T) {
	large := []byte("<svg role=\"img\">" + strings.Repeat("<path/>", 300_000) + "</svg>")
	small := []byte("<svg role=\"img\"><circle/></svg>")
	plots := []report.Plot{{Name: "demo/a", Title: "A", SVG: large, File: "plots/demo-a.svg"},
		{Name: "demo/b", Title: "B", SVG: large, File: "plots/demo-b.svg"},
		{Name: "demo/c", Title: "C", SVG: small, File: "plots/demo-c.svg"}}
	page := render(t, report.Content{Title: "Drawings", Figures: plots})
	if n := strings.Count(page, "<path/>"); n != 300_000 {
		t.Errorf("%d paths are drawn", n)
	}
	if !strings.Contains(page, `<a href="plots/demo-b.svg">The drawing</a> takes 2.1 MB`) ||
		strings.Contains(page, `href="plots/demo-a.svg"`) || !strings.Contains(page, "<circle/>") {
		t.Error("the second drawing is to be linked, the others to be drawn")
	}
}

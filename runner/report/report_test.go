package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, d report.Data) string {
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

// elements parses the page and calls f for every start tag with its attributes.
func elements(t *testing.T, page string, f func(name string, attr map[string]string)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>")))
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
	tables, captions, svgs := 0, 0, 0
	elements(t, page, func(name string, attr map[string]string) {
		switch name {
		case "script", "link", "iframe", "img", "object", "embed", "base":
			t.Errorf("an element %s %v", name, attr)
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
			case ref != "":
				t.Errorf("%s refers to %s", name, ref)
			}
		}
	})
	if tables < 5 || captions != tables || svgs != 1 {
		t.Errorf("%d tables, %d captions, %d plots", tables, captions, svgs)
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
	d.Trials.Add(evil, experiment.Params{evil: evil}, 0, &record.Record{Status: record.Failed, Error: &reason, Warnings: []string{evil},
		Privacy:    &experiment.Privacy{Guarantee: evil, Unit: evil, Mechanism: evil, RNG: evil, Notes: []string{evil}},
		Provenance: record.Provenance{Version: evil, CPU: evil, Datasets: map[string]string{evil: evil}}})
	d.Metrics[0].Experiment, d.Metrics[0].Metrics[0] = evil, evil
	page := render(t, d)
	for _, s := range []string{"<script", "</style></title>", `alert(1)</`} {
		if strings.Contains(page, s) {
			i := strings.Index(page, s)
			t.Errorf("the page contains %q: %s", s, page[max(0, i-80):i+40])
		}
	}
	if strings.Count(page, "&lt;script&gt;") < 20 {
		t.Error("the texts are missing")
	}
}

// An empty report is still a page.
func TestEmpty(t *testing.T) {
	page := render(t, report.Data{Title: "Nothing"})
	for _, absent := range []string{`id="tables"`, `id="problems"`, `id="privacy"`, "0001"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	if !strings.Contains(page, "0 trials") {
		t.Error("the page does not say that there are no trials")
	}
}

// The page shows groups and not trials: its size does not grow with theirs.
func TestManyTrials(t *testing.T) {
	reg := registry()
	e, err := reg.Lookup("cloaking/regression")
	if err != nil {
		t.Fatal(err)
	}
	trials := report.NewTrials(reg)
	const n = 10_000
	for i := range n {
		params, err := e.Resolve(map[string]any{"lengthscale": 1 + float64(i/20)})
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Record{Experiment: e.Name, Status: record.OK, Warnings: []string{fmt.Sprintf("condition %d", i)}}
		if i%3 == 0 {
			reason := "out of memory"
			r.Status, r.Error = record.Failed, &reason
		}
		trials.Add(e.Name, params, int64(i%20), r)
	}
	page := render(t, report.Data{Title: "Many", Trials: trials})
	if len(page) > 60_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"10000 trials", "3334 failed", "seeds 0..19", "… (500 values)", "9950 further kinds",
		"run trial cloaking/regression lengthscale=1 --seed 0"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/png" // screenshots are PNG
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/report"
	"privkern/tests/program"
	"privkern/tests/tier"
)

// tab is a page in a headless browser, with the browser's complaints and requests.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// openBrowser starts a browser; the test is skipped where there is none.
func openBrowser(t *testing.T) *tab {
	t.Helper()
	tier.Gate(t, "a browser takes half a minute")
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium is installed")
	}
	// A browser's processes write into its folder for a moment after it has
	// ended, which t.TempDir does not forgive.
	folder, err := os.MkdirTemp("", "privkern-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(folder) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(folder), chromedp.WindowSize(1200, 1000), chromedp.WSURLReadTimeout(60*time.Second))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	// Events that are newer than the protocol's Go types are no concern of ours.
	ctx, closeTab := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 150*time.Second)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				b.complaints = append(b.complaints, e.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	b.do(network.Enable())
	return b
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates JavaScript in the page.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	var out T
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(script, &out)); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return out
}

// wait waits until a condition of the page holds, also of one that reloads itself meanwhile.
func (b *tab) wait(condition string) {
	b.t.Helper()
	poll := chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(60*time.Second))
	var gone *cdproto.Error // the page that was asked
	err := chromedp.Run(b.ctx, poll)
	for errors.As(err, &gone) {
		err = chromedp.Run(b.ctx, poll)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", condition, err)
	}
}

// size sets the size of the screen in CSS pixels.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(width, height, 1, false))
}

// scheme makes the system's colours light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}))
}

// picture takes a screenshot and fails where it shows next to nothing. With
// PRIVKERN_SCREENSHOTS=FOLDER, pictures are kept there to be looked at.
func (b *tab) picture(name string) {
	b.t.Helper()
	var raw []byte
	b.do(chromedp.CaptureScreenshot(&raw))
	keep(b.t, name+".png", raw)
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	if n := colors(img); n < 20 {
		b.t.Errorf("the picture %s has %d colours: it is empty", name, n)
	}
}

func keep(t *testing.T, name string, raw []byte) {
	t.Helper()
	if dir := os.Getenv("PRIVKERN_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// colors counts the different colours of a picture.
func colors(img image.Image) int {
	seen := map[[3]uint32]bool{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 3 {
		for x := b.Min.X; x < b.Max.X; x += 3 {
			r, g, bl, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, bl}] = true
		}
	}
	return len(seen)
}

// fits checks that the page needs no scrolling to the side: wide tables scroll
// in boxes of their own.
func (b *tab) fits(name string) {
	b.t.Helper()
	if over := eval[float64](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		widest := eval[string](b, `[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .unseen") `+
			`&& e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((e) => e.outerHTML.slice(0, `+
			`120)).slice(0, 3).join("\n")`)
		b.t.Errorf("%s: the page is %v pixels wider than the screen:\n%s", name, over, widest)
	}
}

// quiet checks that the browser did not complain.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser complains: %s", c)
	}
	b.complaints = nil
}

// accessible checks the page with axe-core, where PRIVKERN_AXE names its file.
func (b *tab) accessible(name string) {
	b.t.Helper()
	path := os.Getenv("PRIVKERN_AXE")
	if path == "" {
		b.t.Logf("%s is not checked with axe-core: PRIVKERN_AXE does not name axe.min.js", name)
		return
	}
	source, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	// Hundreds of rows that are alike would be looked at one by one.
	b.do(chromedp.Evaluate(`document.querySelectorAll(".numbers tr:nth-child(n+6), .behind tr:nth-child(n+6), `+
		`#trial-list tr:nth-child(n+10)").forEach((e) => e.remove())`, nil))
	var found string
	b.do(chromedp.Evaluate(string(source)+"; 0", nil),
		chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(
		{passes: r.passes.length, violations: r.violations.map((v) => [v.id, v.help,
			v.nodes.length, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))])}))`, &found,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if !strings.Contains(found, `"violations":[]`) || strings.Contains(found, `"passes":0`) {
		b.t.Errorf("axe-core on %s: %s", name, found)
	}
}

// A reader's ways through the report, in a real browser.
func TestReportInBrowser(t *testing.T) {
	b := openBrowser(t)
	out := quickstart(t)
	address := "file://" + filepath.Join(out, "report.html")
	const table = `document.querySelector("#table-privacygp-figure2 table.data")`
	const column = `[...` + table + `.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[4].textContent.trim())`

	b.scheme("light")
	b.do(chromedp.Navigate(address))
	if tables, drawings := eval[int](b, `document.querySelectorAll("table").length`),
		eval[int](b, `document.querySelectorAll("svg").length`); tables < 4 || drawings < 3 {
		t.Errorf("the browser sees %d tables and %d drawings", tables, drawings)
	}

	t.Run("looks", func(t *testing.T) {
		b.t = t
		ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
		b.picture("light")
		b.accessible("the light page")
		light := ground()
		b.fits("1200 pixels")
		b.scheme("dark")
		b.picture("dark")
		b.accessible("the dark page")
		if ground() == light {
			t.Error("the dark page is as light as the light one")
		}
		b.do(chromedp.SetValue("#theme", "light"),
			chromedp.Evaluate(`document.getElementById("theme").dispatchEvent(new Event("change"))`, nil))
		if got := ground(); got != light {
			t.Errorf("with light colours chosen the page is %s", got)
		}
		b.do(chromedp.Reload())
		if got := ground(); got != light {
			t.Errorf("the choice is forgotten: the page is %s", got)
		}
		b.do(chromedp.Evaluate(`localStorage.clear()`, nil), chromedp.Reload())
		b.scheme("light")
		b.size(400, 800)
		b.fits("400 pixels")
		b.picture("narrow")
		b.accessible("the narrow page")
		b.do(chromedp.Evaluate(`document.querySelector("#tables").scrollIntoView({behavior: "instant"})`, nil))
		b.picture("narrow-table")
		b.size(320, 640)
		b.fits("320 pixels")
		b.size(1200, 1000)
		b.do(chromedp.Evaluate(`scrollTo({top: 0, behavior: "instant"})`, nil))
	})

	t.Run("print", func(t *testing.T) {
		b.t = t
		b.do(chromedp.ActionFunc(func(ctx context.Context) error {
			pdf, _, err := page.PrintToPDF().Do(ctx)
			if err == nil && len(pdf) < 20_000 {
				t.Errorf("the printed report has %d bytes", len(pdf))
			}
			keep(t, "print.pdf", pdf)
			return err
		}), emulation.SetEmulatedMedia().WithMedia("print"))
		if shown := eval[string](b, `[...document.querySelectorAll(".tools, nav, .behind, dialog")].filter((e) => `+
			`e.getClientRects().length).map((e) => e.className).join()`); shown != "" {
			t.Errorf("on paper there are %s", shown)
		}
		if c := eval[string](b, `getComputedStyle(document.querySelector(".v")).color + `+
			`getComputedStyle(document.body).backgroundColor`); c != "rgb(0, 0, 0)rgb(255, 255, 255)" {
			t.Errorf("on paper the colours are %s", c)
		}
		if d := eval[string](b, `getComputedStyle(document.querySelector("thead button")).display`); d != "contents" {
			t.Errorf("a heading is a button with display %s, of which Chromium leaves a blank on the following pages", d)
		}
		// A closed part is printed too.
		if eval[bool](b, `document.getElementById("metrics-1").open`) ||
			!eval[bool](b, `document.querySelector("#metrics-1 table").getClientRects().length > 0`) {
			t.Error("what is closed on the screen is not on paper")
		}
		b.picture("print")
		b.scheme("light")
	})

	t.Run("sorting", func(t *testing.T) {
		b.t = t
		before := eval[[]string](b, column)
		head := func(do string) string {
			return eval[string](b, `(() => { const th = `+table+`.tHead.rows[0].cells[4]; `+do+
				`; return th.getAttribute("aria-sort") ?? "none"; })()`)
		}
		const click = `th.querySelector("button").click()`
		if got := head(click); got != "ascending" {
			t.Fatalf("aria-sort is %s", got)
		}
		numbers := eval[[]float64](b, column+`.map(parseFloat)`)
		for i := 1; i < len(numbers); i++ {
			if numbers[i] < numbers[i-1] {
				t.Errorf("in ascending order, %v is behind %v", numbers[i], numbers[i-1])
			}
		}
		if fmt.Sprint(eval[[]string](b, column)) == fmt.Sprint(before) {
			t.Error("sorting changed nothing")
		}
		if got := head(click); got != "descending" {
			t.Errorf("aria-sort is %s", got)
		}
		if down := eval[[]float64](b, column+`.map(parseFloat)`); down[0] != numbers[len(numbers)-1] {
			t.Errorf("in descending order, %v is first", down[0])
		}
		if got := head(click); got != "none" || fmt.Sprint(eval[[]string](b, column)) != fmt.Sprint(before) {
			t.Errorf("the order of the page does not come back (aria-sort %s)", got)
		}
	})

	t.Run("filtering", func(t *testing.T) {
		b.t = t
		all := len(eval[[]string](b, column))
		b.do(chromedp.SendKeys("#filter", "variance", chromedp.ByID))
		b.wait(`document.getElementById("filtered").textContent.includes("rows")`)
		if n := len(eval[[]string](b, column)); n == 0 || n >= all {
			t.Errorf("%d of %d rows have the word", n, all)
		}
		b.do(chromedp.Evaluate(`const f = document.getElementById("filter"); f.value = "nothing has this"; `+
			`f.dispatchEvent(new Event("input"))`, nil))
		b.wait(`document.getElementById("filtered").textContent.startsWith("0 of")`)
		if !eval[bool](b, `[...document.querySelectorAll(".none")].some((e) => !e.hidden)`) {
			t.Error("the page does not say that no row matches")
		}
		b.do(chromedp.Evaluate(`f.value = ""; f.dispatchEvent(new Event("input"))`, nil))
		b.wait(`document.getElementById("filtered").textContent === ""`)
		b.do(chromedp.Evaluate(`[...document.querySelectorAll(".verdicts button")].find((e) => e.textContent === `+
			`"differs").click()`, nil))
		b.wait(`document.querySelector(".verdicts [aria-pressed=true]") !== null`)
		if others := eval[int](b, `[...document.querySelectorAll(".results .data tbody tr:not([hidden])")].filter((r) => `+
			`!r.querySelector(".v-differs")).length`); others > 0 {
			t.Errorf("with one verdict chosen the tables show %d rows without it", others)
		}
		if n := eval[int](b, `document.querySelectorAll(".results .data tbody tr:not([hidden])").length`); n == 0 {
			t.Error("with one verdict chosen nothing is left")
		}
		b.do(chromedp.Evaluate(`document.querySelector(".verdicts [aria-pressed=true]").click()`, nil))
		if n := len(eval[[]string](b, column)); n != all {
			t.Errorf("%d of %d rows came back", n, all)
		}
	})

	t.Run("keyboard", func(t *testing.T) {
		b.t = t
		b.do(chromedp.Reload(), chromedp.KeyEvent(kb.Tab))
		if !eval[bool](b, `document.activeElement.className === "skip" && `+
			`document.activeElement.getBoundingClientRect().left >= 0`) {
			t.Error("the first stop is not the link to the content")
		}
		b.do(chromedp.KeyEvent(kb.Enter))
		b.wait(`document.activeElement.id === "content"`)
		for i := 0; ; i++ {
			if i == 60 {
				t.Fatal("no value is reached with the tabulator")
			}
			b.do(chromedp.KeyEvent(kb.Tab))
			if eval[bool](b, `document.activeElement.className === "cell"`) {
				break
			}
			if style := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); style == "none" {
				t.Errorf("the focus cannot be seen on %s", eval[string](b, `document.activeElement.outerHTML.slice(0, 100)`))
			}
		}
		first := eval[string](b, `document.activeElement.href`)
		b.do(chromedp.KeyEvent(kb.Enter))
		b.wait(`document.getElementById("panel").open`)
		b.picture("panel")
		b.accessible("the panel")
		text := eval[string](b, `document.getElementById("panel").textContent`)
		for _, want := range []string{"Ours", "Published", "Verdict", "seed", "Settings", "All metrics",
			"Provenance", "privkern 0."} {
			if !strings.Contains(text, want) {
				t.Errorf("the panel lacks %q", want)
			}
		}
		if !eval[bool](b, `/^trials\/[0-9a-f]{64}\.json$/.test(document.querySelector("#panel `+
			`a.trial").getAttribute("href"))`) {
			t.Error("the panel does not lead to the record")
		}
		title := eval[string](b, `document.getElementById("panel-title").textContent`)
		b.do(chromedp.KeyEvent(kb.ArrowRight))
		if next := eval[string](b, `document.getElementById("panel-title").textContent`); next == title {
			t.Errorf("the next value is %q again", next)
		}
		b.do(chromedp.KeyEvent(kb.ArrowLeft))
		if back := eval[string](b, `document.getElementById("panel-title").textContent`); back != title {
			t.Errorf("back at %q, not %q", back, title)
		}
		b.do(chromedp.KeyEvent(kb.Escape))
		b.wait(`!document.getElementById("panel").open`)
		b.wait(fmt.Sprintf(`document.activeElement.href === %q`, first))
	})

	t.Run("without scripts", func(t *testing.T) {
		b.t = t
		b.do(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(address+"?"))
		var html string
		b.do(chromedp.OuterHTML("html", &html, chromedp.ByQuery))
		if !strings.Contains(html, `class="tools" hidden`) || strings.Contains(html, `<button type="button" class="v `) {
			t.Error("without scripts there are controls that do nothing")
		}
		for _, want := range []string{`id="table-privacygp-figure2-value-1"`, `<tr id="trial-`,
			"The numbers of this figure"} {
			if !strings.Contains(html, want) {
				t.Errorf("without scripts the page lacks %q", want)
			}
		}
		b.picture("plain")
		// A link to the trials of a value opens the part that is closed.
		b.do(chromedp.Navigate(address + "?#table-privacygp-figure2-value-1"))
		b.picture("plain-value")
		b.do(emulation.SetScriptExecutionDisabled(false))
	})

	b.t = t
	b.quiet()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, address) && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asks for %s", r)
		}
	}
}

// The report of a sweep that runs, open until it has become the report of a sweep that has ended.
func TestRunningReportInBrowser(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	out, file := filepath.Join(dir, "out"), filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file,
		[]byte("title: Many settings\nexperiment: privacygp/example1\nsweep: {xi: \"linspace(0.1,0.9,2000)\"}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	sweep := program.Command(t, "sweep", file, "--out", out, "--quiet", "--jobs", "1")
	sweep.Stderr = os.Stderr
	if err := sweep.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- sweep.Wait() }()
	path := filepath.Join(out, "report.html")
	for {
		if _, err := os.Stat(path); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the sweep ended without a report: %v", err)
		case <-b.ctx.Done():
			t.Fatal("there is no report")
		case <-time.After(100 * time.Millisecond):
		}
	}
	b.do(chromedp.Navigate("file://" + path))
	text := eval[string](b, `document.getElementById("progress")?.textContent ?? "no progress"`)
	if !strings.Contains(text, "of 2000 trials done; running: privacygp/example1 xi=") {
		t.Errorf("the page of a sweep that runs has %s", text)
	}
	b.accessible("the report of a running sweep")
	b.picture("running")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// The page reloads itself to the last one.
	b.wait(`document.getElementById("progress") === null && document.querySelectorAll("#metrics-1 a.cell").length === 200`)
	if n := eval[int](b, `document.querySelectorAll("meta[http-equiv=refresh]").length`); n != 0 {
		t.Error("the page of a sweep that has ended reloads itself")
	}
	b.quiet()
}

// A report of 10,000 trials: a part is listed, the script shows and finds the
// others.
func TestLargeReportInBrowser(t *testing.T) {
	b := openBrowser(t)
	trials := report.NewTrialTally(nil)
	for i := range 10_000 {
		trials.Add("demo/large", experiment.Params{"x": float64(i / 10)}, int64(i%10),
			&record.Record{Key: fmt.Sprintf("%064x", i), Experiment: "demo/large",
				Status: record.OK, Metrics: map[string]float64{"y": float64(i)}})
	}
	var html bytes.Buffer
	if err := report.Write(&html, report.Content{Title: "Large", Trials: trials}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, html.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + path))
	const listed = `document.querySelectorAll("#trial-list tbody tr:not([hidden])").length`
	if n := eval[int](b, listed); n != 300 {
		t.Errorf("%d trials are listed", n)
	}
	if text := eval[string](b, `document.getElementById("more-trials").textContent`); text != "Show 300 more of 9700" {
		t.Errorf("the button says %q", text)
	}
	b.do(chromedp.Evaluate(`document.getElementById("more-trials").click()`, nil))
	if n := eval[int](b, listed); n != 600 {
		t.Errorf("after the click %d trials are listed", n)
	}
	b.do(chromedp.SendKeys("#filter", "x=987", chromedp.ByID))
	b.wait(listed + ` === 10`)
	if text := eval[string](b,
		`document.querySelector("#trial-list tbody tr:not([hidden])").textContent`); !strings.Contains(text, "x=987") {
		t.Errorf("the filter finds %s", text)
	}
	b.quiet()
}

// quickstart runs the quick start and returns its output folder.
func quickstart(t *testing.T) (out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	file := filepath.Join(program.Root(t), "configs", "quickstart.yaml")
	cmd := program.Command(t, "sweep", file, "--out", out, "--quiet")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

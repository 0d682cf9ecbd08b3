package tests

import (
	"image"
	_ "image/png" // screenshots are PNG
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quickstart runs the quick start and returns its output folder and what it
// prints.
func quickstart(t *testing.T) (out, stdout string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(program, "sweep", filepath.Join(root(t), "configs", "quickstart.yaml"), "--out", out, "--quiet", "--check")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out, string(text)
}

// The quick start ends with tables in which every cell was computed, plots, and
// a report that needs no other file.
func TestQuickStart(t *testing.T) {
	out, stdout := quickstart(t)
	for _, want := range []string{"privacygp/figure1", "privacygp/figure2", "privacygp/figure3", "privacygp/claims", "match"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the tables do not contain %q", want)
		}
	}
	if strings.Contains(stdout, "not run") {
		t.Error("the tables have cells that were not run")
	}
	for _, figure := range []string{"privacygp-figure1", "privacygp-figure2", "privacygp-figure3"} {
		svg, err := os.ReadFile(filepath.Join(out, "plots", figure+".svg"))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(svg), "<path") {
			t.Errorf("%s.svg draws nothing", figure)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?i)<script|<link|<iframe|@import|url\(|\bsrc=`).Find(page); m != nil {
		t.Errorf("the report refers to something outside itself: %s", m)
	}
	for _, want := range []string{"<svg", "<caption", "Privacy", "Errata", "Provenance"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

// The report is opened in a browser: it shows something, in light and dark, and
// the browser finds the headings where the file has them.
func TestReportInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no chromium is installed")
	}
	out, _ := quickstart(t)
	page := "file://" + filepath.Join(out, "report.html")
	run := func(args ...string) []byte {
		t.Helper()
		args = append([]string{
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
		}, args...)
		text, err := exec.Command(browser, append(args, page)...).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return text
	}
	if dom := string(run("--dump-dom")); strings.Count(dom, "<table") < 4 || strings.Count(dom, "<svg") < 3 {
		t.Errorf("the browser sees %d tables and %d drawings", strings.Count(dom, "<table"), strings.Count(dom, "<svg"))
	}
	for name, args := range map[string][]string{"light": nil, "dark": {"--force-dark-mode", "--blink-settings=preferredColorScheme=0"}} {
		shot := filepath.Join(t.TempDir(), name+".png")
		run(append(args, "--window-size=1200,2000", "--screenshot="+shot)...)
		if n := colors(t, shot); n < 20 {
			t.Errorf("the %s screenshot has %d colours: it is empty", name, n)
		}
	}
}

// colors counts the different colours of a picture.
func colors(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
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

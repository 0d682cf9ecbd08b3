package report_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of #rrggbb, by WCAG 2.2.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 32)
	if err != nil || len(color) != 7 {
		t.Fatalf("%q is no colour", color)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(v>>(16-8*i)&255) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Every text can be read on every ground that it stands on, in both themes
// (WCAG 2.2, 1.4.3: 4.5 to 1), and the borders of controls can be seen (1.4.11:
// 3 to 1).
func TestContrast(t *testing.T) {
	if c := contrast(t, "#ffffff", "#000000"); math.Abs(c-21) > 1e-9 {
		t.Fatalf("white on black is %v", c)
	}
	if c := contrast(t, "#777777", "#ffffff"); math.Abs(c-4.478) > 1e-3 { // a value that is published widely
		t.Fatalf("#777777 on white is %v", c)
	}
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	colors := map[string][]string{} // name to light and dark
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).
		FindAllStringSubmatch(string(style), -1) {
		colors[m[1]] = m[2:]
	}
	used := map[string]bool{}
	check := func(text, ground string, least float64) {
		used[text], used[ground] = true, true
		for i, theme := range []string{"light", "dark"} {
			if len(colors[text]) != 2 || len(colors[ground]) != 2 {
				t.Fatalf("no colours %s and %s", text, ground)
			}
			if c := contrast(t, colors[text][i], colors[ground][i]); c < least {
				t.Errorf("%s on %s, %s: contrast %.2f, less than %v", text, ground, theme, c, least)
			}
		}
	}
	for _, ground := range []string{"page", "card", "stripe", "mark"} {
		for _, text := range []string{"text", "soft", "link"} {
			check(text, ground, 4.5)
		}
		check("edge", ground, 3)
	}
	for _, badge := range []string{"good", "bad", "open", "cool", "mute"} {
		check(badge, badge+"-back", 4.5)
	}
	for name := range colors {
		t.Run(name, func(t *testing.T) {
			if !used[name] && name != "line" { // rules between rows carry no meaning
				t.Errorf("the colour %s is not checked", name)
			}
		})
	}
	// Colours of text that are no variables would escape this test.
	for _, m := range regexp.MustCompile(`[; {]color: *([^;}]+)`).FindAllStringSubmatch(string(style), -1) {
		if v := m[1]; !strings.HasPrefix(v, "var(--") && v != "inherit" {
			t.Errorf("a text has the colour %s, which is not checked", v)
		}
	}
}

// On paper, text is black on white, and controls for the screen are hidden.
func TestPrintStyle(t *testing.T) {
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	_, print, ok := strings.Cut(string(style), "@media print {")
	if !ok {
		t.Fatal("no style for paper")
	}
	for name, want := range map[string]string{"text": "#000", "page": "#fff", "card": "#fff", "link": "#000",
		"good": "#000", "good-back": "#fff", "mute": "#000"} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(print, "--"+name+": "+want+";") {
				t.Errorf("--%s is not %s on paper", name, want)
			}
		})
	}
	for _, want := range []string{"table-header-group", "break-inside: avoid", ".tools"} {
		if !strings.Contains(print, want) {
			t.Errorf("the style for paper lacks %s", want)
		}
	}
}

package text

import "testing"

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"größe (m²)": "größe (m²)", "a\x1b[2Jb": `a\x1b[2Jb`, "a\nb\r": `a\nb\r`, "\xc4": `\xc4`, "�": "�",
		`C:\"x"` + "\x00": `C:\"x"\x00`,
		"\u202egood":      `\u202egood`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %s, want %s", in, got, want)
		}
	}
	if got := PrintableLines("run: a\x1b\nb\tc"); got != "run: a\\x1b\nb\tc" {
		t.Errorf("%q", got)
	}
}

package plot

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// The fonts of drawings.
var (
	regular = font.Font{Typeface: "Liberation", Variant: "Sans"}
	heavy   = font.Font{Typeface: "Liberation", Variant: "Sans", Weight: stdfont.WeightBold}
)

// handler measures and draws texts in these fonts.
var handler = sync.OnceValue(func() text.Handler {
	var faces font.Collection
	for _, f := range []struct {
		font font.Font
		file []byte
	}{{regular, liberationsansregular.TTF}, {heavy, liberationsansbold.TTF}} {
		face, err := opentype.Parse(f.file)
		if err != nil {
			panic(fmt.Sprintf("plot: the font %s: %v", f.font.Name(), err))
		}
		faces = append(faces, font.Face{Font: f.font, Face: face})
	}
	return text.Plain{Fonts: font.NewCache(faces)}
})

// clean drops characters that XML excludes.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), r == unicode.ReplacementChar, r >= 0xfffe && r <= 0xffff:
			return -1
		}
		return r
	}, s)
}

// wrap breaks a text into lines of at most the given width.
func wrap(s string, sty text.Style, width vg.Length) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(clean(s)) {
		if longer := strings.TrimSpace(line + " " + word); line == "" || sty.Width(longer) <= width {
			line = longer
			continue
		}
		lines, line = append(lines, line), word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

package plot

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
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

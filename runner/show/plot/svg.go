package plot

import (
	"bytes"
	"fmt"
	"html"
	"regexp"

	"gonum.org/v1/plot/vg"
)

// fontStyle is the style that the canvas writes into every text. The drawing has it once, with
// fallbacks for machines without the font whose widths were measured.
const fontStyle = `style="font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;`

// filled matches the style of an area filled with one colour.
var filled = regexp.MustCompile(`style="fill:(#[0-9A-F]{6})" />`)

// written matches a text in the colour of those in the cells of a heat map.
var written = regexp.MustCompile(fmt.Sprintf(`<text ([^>]*fill:(?:#%02X%02X%02X|#%02X%02X%02X)[;"])`,
	onDark.R, onDark.G, onDark.B, onLight.R, onLight.G, onLight.B))

// tones are the colours of heat maps. Their areas have the class "tone", because they stand for
// values and a page that inverts the lightness of a drawing must keep them.
var tones = func() map[string]bool {
	out := map[string]bool{}
	for i := range 256 {
		c := shadeOf(float64(i) / 255)
		out[fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)] = true
	}
	return out
}()

// finish replaces the canvas's head, which has a fixed size in points, by one that scales with
// the page, has an alternative text and puts the drawing on a white card.
func finish(raw []byte, width, height vg.Length, o Options) []byte {
	body := raw[bytes.Index(raw, []byte("<g transform")):]
	body = bytes.ReplaceAll(body, []byte("\n\t"+fontStyle), []byte(" style=\""))
	body = bytes.ReplaceAll(body,
		[]byte(`font-family:Liberation Sans;font-variant:normal;font-weight:bold;font-style:normal;`),
		[]byte("font-weight:bold;"))
	// The canvas labels its PNG images as JPEG, refers to them in a namespace that only its
	// head declares, and permits smoothing. Quotes in texts are escaped, so that nothing
	// else matches.
	body = bytes.ReplaceAll(body, []byte(` xlink:href="data:image/jpg;base64,`),
		[]byte(` preserveAspectRatio="none" style="image-rendering:pixelated" href="data:image/png;base64,`))
	body = filled.ReplaceAllFunc(body, func(style []byte) []byte {
		if !tones[string(filled.FindSubmatch(style)[1])] {
			return style
		}
		return append([]byte(`class="tone" `), style...)
	})
	body = written.ReplaceAll(body, []byte(`<text class="tone" $1`))
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.5g %.5g" width="%.5g" height="%.5g" `+
		`role="img"`,
		width.Points(), height.Points(), width.Points()*4/3, height.Points()*4/3)
	id := html.EscapeString(clean(o.ID))
	if id == "" {
		id = "plot"
	}
	labels := ""
	if o.Title != "" {
		labels += id + "-title"
	}
	if o.Description != "" {
		labels += " " + id + "-desc"
	}
	if labels != "" {
		fmt.Fprintf(&b, ` aria-labelledby="%s"`, labels)
	}
	b.WriteString(` style="max-width:100%;height:auto;font-family:'Liberation Sans',Arial,Helvetica,sans-serif">` + "\n")
	if o.Title != "" {
		fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n", id, html.EscapeString(clean(o.Title)))
	}
	if o.Description != "" {
		fmt.Fprintf(&b, "<desc id=\"%s-desc\">%s</desc>\n", id, html.EscapeString(clean(o.Description)))
	}
	b.WriteString(`<rect width="100%" height="100%" rx="6" fill="#fff"/>` + "\n")
	b.Write(body)
	return b.Bytes()
}

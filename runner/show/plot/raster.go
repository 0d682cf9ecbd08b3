package plot

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"privkern/runner/experiment"
)

// PNG draws panels as [SVG] does, as an image of 144 pixels an inch. Equal panels give equal bytes with one version of
// Go: places are rounded to a fraction of a pixel, and areas are computed with whole numbers. (The canvas of
// gonum.org/v1/plot for images needs further modules and computes with float32.)
func PNG(w io.Writer, panels []experiment.Panel) error {
	l, err := newDrawing(panels)
	if err != nil {
		return err
	}
	c := newRaster(l.width, l.height)
	l.draw(draw.NewCanvas(c, l.width, l.height))
	return png.Encode(w, c.image)
}

const (
	pixels    = 2   // of a raster a point
	grain     = 256 // units of a place a pixel
	piece     = 256 // outlines that are filled at once, where more of one colour may follow
	scanlines = 16  // lines a pixel along which areas are measured
)

// raster is a canvas of pixels, white at first.
type raster struct {
	pen
	image  *image.RGBA
	stack  []pen
	buffer sfnt.Buffer
	cross  [][]crossing // by line, of the area that is being filled
	cover  []int        // of the pixels of a row, in 1/(grain·scanlines)
}

// pen is the state of a canvas. at turns and moves places of drawings to those of the page, in points.
type pen struct {
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	at     [6]float64 // x' = at[0]·x + at[1]·y + at[2], y' = at[3]·x + at[4]·y + at[5]
}

// crossing is where an outline crosses a line, up (1) or down (−1).
type crossing struct{ x, direction int }

func newRaster(width, height vg.Length) *raster {
	size := image.Rect(0, 0, int(math.Ceil(pixels*width.Points())), int(math.Ceil(pixels*height.Points())))
	r := &raster{image: image.NewRGBA(size), cover: make([]int, size.Max.X+1),
		pen: pen{at: [6]float64{1, 0, 0, 0, 1, 0}}}
	for i := range r.image.Pix {
		r.image.Pix[i] = 0xff
	}
	vg.Initialize(r)
	return r
}

// SetLineWidth implements [vg.Canvas], as do the following methods.
func (r *raster) SetLineWidth(w vg.Length) { r.width = w }

func (r *raster) SetLineDash(pattern []vg.Length, offset vg.Length) {
	r.dashes, r.offset = pattern, offset
}

func (r *raster) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	r.color, _ = color.NRGBAModel.Convert(c).(color.NRGBA)
}

func (r *raster) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	a := r.at
	r.at = [6]float64{a[0]*cos + a[1]*sin, a[1]*cos - a[0]*sin, a[2], a[3]*cos + a[4]*sin, a[4]*cos - a[3]*sin, a[5]}
}

func (r *raster) Translate(p vg.Point) {
	x, y := float64(p.X), float64(p.Y)
	r.at[2] += r.at[0]*x + r.at[1]*y
	r.at[5] += r.at[3]*x + r.at[4]*y
}

func (r *raster) Scale(x, y float64) {
	for i := range 2 {
		r.at[3*i] *= x
		r.at[3*i+1] *= y
	}
}

func (r *raster) Push() { r.stack = append(r.stack, r.pen) }

func (r *raster) Pop() {
	last := len(r.stack) - 1
	r.pen, r.stack = r.stack[last], r.stack[:last]
}

func (r *raster) Fill(p vg.Path) {
	var outlines [][]image.Point
	for _, part := range flat(p) {
		outlines = append(outlines, r.places(part))
	}
	r.fill(outlines)
}

// Stroke fills a rectangle around each straight part of a path, and a disc at each corner.
func (r *raster) Stroke(p vg.Path) {
	if !(r.width > 0) {
		return
	}
	var outlines [][]image.Point
	for _, part := range dashed(flat(p), r.dashes, r.offset) {
		for i := range part[:len(part)-1] {
			a, b := part[i], part[i+1]
			if d := b.Sub(a); d != (vg.Point{}) {
				n := vg.Point{X: -d.Y, Y: d.X}.Scale(r.width / 2 / vg.Length(math.Hypot(float64(d.X), float64(d.Y))))
				outlines = append(outlines, r.places([]vg.Point{a.Sub(n), b.Sub(n), b.Add(n), a.Add(n)}))
			}
			if i > 0 && r.width*pixels > 1 {
				outlines = append(outlines, r.places(arc(a, r.width/2, 0, 2*math.Pi)))
			}
			if len(outlines) > piece && r.color.A == 0xff { // the crossings of a long line take much memory
				r.fill(outlines)
				outlines = outlines[:0]
			}
		}
	}
	r.fill(outlines)
}

func (r *raster) FillString(f font.Face, at vg.Point, text string) {
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	size := f.Font.Size / vg.Length(em)
	var outlines [][]image.Point
	var previous sfnt.GlyphIndex
	for _, char := range text {
		glyph, err := f.Face.GlyphIndex(&r.buffer, char)
		if err != nil {
			continue // a glyph that the font cannot give is left out, as are those of other canvases
		}
		if kern, err := f.Face.Kern(&r.buffer, previous, glyph, em, 0); previous != 0 && err == nil {
			at.X += vg.Length(kern) * size
		}
		if segments, err := f.Face.LoadGlyph(&r.buffer, glyph, em, nil); err == nil {
			for _, part := range flat(letter(segments, at, size)) {
				outlines = append(outlines, r.places(part))
			}
		}
		if advance, err := f.Face.GlyphAdvance(&r.buffer, glyph, em, 0); err == nil {
			at.X += vg.Length(advance) * size
		}
		previous = glyph
	}
	r.fill(outlines)
}

// DrawImage draws each pixel as a rectangle.
func (r *raster) DrawImage(to vg.Rectangle, img image.Image) {
	before := r.color
	b := img.Bounds()
	size := vg.Point{X: to.Size().X / vg.Length(b.Dx()), Y: to.Size().Y / vg.Length(b.Dy())}
	for y := range b.Dy() {
		for x := range b.Dx() {
			r.SetColor(img.At(b.Min.X+x, b.Min.Y+y))
			p := vg.Point{X: to.Min.X + size.X*vg.Length(x), Y: to.Max.Y - size.Y*vg.Length(y+1)}
			r.fill([][]image.Point{r.places([]vg.Point{p, {X: p.X + size.X, Y: p.Y}, p.Add(size), {X: p.X, Y: p.Y + size.Y}})})
		}
	}
	r.color = before
}

// letter returns the outline of a glyph, whose segments are in units of the font, downwards.
func letter(segments sfnt.Segments, at vg.Point, size vg.Length) (p vg.Path) {
	place := func(q fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(q.X)*size, Y: at.Y - vg.Length(q.Y)*size}
	}
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			p.Move(place(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.Line(place(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.QuadTo(place(s.Args[0]), place(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
		}
	}
	return p
}

// places returns points in 1/grain of a pixel, from the upper left corner of the page.
func (r *raster) places(points []vg.Point) []image.Point {
	const unit = pixels * grain
	out := make([]image.Point, len(points))
	bottom := float64(r.image.Rect.Max.Y * grain)
	for i, p := range points {
		x, y := float64(p.X), float64(p.Y)
		out[i] = image.Pt(int(math.Round(unit*(r.at[0]*x+r.at[1]*y+r.at[2]))),
			int(math.Round(bottom-unit*(r.at[3]*x+r.at[4]*y+r.at[5]))))
	}
	return out
}

// flat returns the parts of a path with curves as chords.
func flat(p vg.Path) (parts [][]vg.Point) {
	const chords = 8
	add := func(points ...vg.Point) {
		if len(parts) == 0 {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], points...)
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			parts = append(parts, []vg.Point{c.Pos})
		case vg.LineComp:
			add(c.Pos)
		case vg.ArcComp:
			add(arc(c.Pos, c.Radius, c.Start, c.Angle)...)
		case vg.CurveComp:
			last := parts[len(parts)-1]
			controls := slices.Concat(last[len(last)-1:], c.Control, []vg.Point{c.Pos})
			for i := range chords {
				add(bezier(controls, vg.Length(i+1)/chords))
			}
		case vg.CloseComp:
			add(parts[len(parts)-1][0])
		}
	}
	return parts
}

// bezier returns the point of a curve at a share of it, by de Casteljau's construction.
func bezier(controls []vg.Point, share vg.Length) vg.Point {
	points := slices.Clone(controls)
	for n := len(points) - 1; n > 0; n-- {
		for i := range n {
			points[i] = points[i].Scale(1 - share).Add(points[i+1].Scale(share))
		}
	}
	return points[0]
}

// arc returns the points of an arc of a circle.
func arc(center vg.Point, radius vg.Length, start, angle float64) []vg.Point {
	steps := max(int(math.Ceil(8*math.Sqrt(radius.Points())*math.Abs(angle)/math.Pi)), 4)
	var out []vg.Point
	for i := range steps + 1 {
		sin, cos := math.Sincos(start + angle*float64(i)/float64(steps))
		out = append(out, center.Add(vg.Point{X: radius * vg.Length(cos), Y: radius * vg.Length(sin)}))
	}
	return out
}

// dashed cuts lines into dashes.
func dashed(parts [][]vg.Point, pattern []vg.Length, offset vg.Length) (out [][]vg.Point) {
	total := vg.Length(0)
	for _, d := range pattern {
		total += d
	}
	if !(total > 0) {
		return parts
	}
	for _, part := range parts {
		k, left := 0, pattern[0]-offset
		dash := []vg.Point{part[0]}
		for i := 1; i < len(part); i++ {
			from, d := part[i-1], part[i].Sub(part[i-1])
			length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
			done := vg.Length(0)
			for length-done > left {
				done += left
				at := from.Add(d.Scale(done / length))
				if k%2 == 0 {
					out = append(out, append(dash, at))
				}
				k++
				dash, left = []vg.Point{at}, pattern[k%len(pattern)]
			}
			left -= length - done
			dash = append(dash, part[i])
		}
		if k%2 == 0 {
			out = append(out, dash)
		}
	}
	return out
}

// fill colours the points around which outlines, closed by themselves, wind. The share of a pixel that lies inside is
// measured along lines, exactly.
func (r *raster) fill(outlines [][]image.Point) {
	const step = grain / scanlines
	first, last := r.image.Rect.Max.Y*scanlines, -1
	for _, o := range outlines {
		for _, p := range o {
			first, last = min(first, p.Y/step-1), max(last, p.Y/step+1)
		}
	}
	first, last = max(first, 0), min(last, r.image.Rect.Max.Y*scanlines-1)
	if first > last {
		return
	}
	r.cross = slices.Grow(r.cross[:0], last-first+1)[:last-first+1]
	for i := range r.cross {
		r.cross[i] = r.cross[i][:0]
	}
	for _, o := range outlines {
		for i, p := range o {
			r.edge(p, o[(i+1)%len(o)], first)
		}
	}
	for y := first / scanlines; y <= last/scanlines; y++ {
		low, high := r.image.Rect.Max.X, -1
		for line := max(y*scanlines, first); line <= min(y*scanlines+scanlines-1, last); line++ {
			low, high = r.measure(r.cross[line-first], low, high)
		}
		for x := low; x <= high; x++ {
			r.blend(x, y, min(r.cover[x], grain*scanlines))
			r.cover[x] = 0
		}
	}
}

// edge notes where an edge crosses the lines from the given one on.
func (r *raster) edge(a, b image.Point, first int) {
	const step = grain / scanlines
	direction := 1
	if a.Y > b.Y {
		a, b, direction = b, a, -1
	}
	line := max((a.Y+step/2-1)/step, first) // the first whose middle lies at a or below it
	for ; line-first < len(r.cross); line++ {
		y := line*step + step/2
		if y >= b.Y {
			return
		}
		if y >= a.Y {
			x := a.X + (y-a.Y)*(b.X-a.X)/(b.Y-a.Y)
			r.cross[line-first] = append(r.cross[line-first], crossing{x, direction})
		}
	}
}

// measure adds the parts of a line inside the outlines to the cover of the pixels, and widens their range.
func (r *raster) measure(line []crossing, low, high int) (int, int) {
	slices.SortFunc(line, func(a, b crossing) int { return cmp.Compare(a.x, b.x) })
	winding, end := 0, r.image.Rect.Max.X*grain
	for i, c := range line {
		if winding != 0 {
			from, to := min(max(line[i-1].x, 0), end), min(max(c.x, 0), end)
			if from < to {
				low, high = min(low, from/grain), max(high, (to-1)/grain)
			}
			for from < to {
				next := min((from/grain+1)*grain, to)
				r.cover[from/grain] += next - from
				from = next
			}
		}
		winding += c.direction
	}
	return low, high
}

// blend lays the colour over a pixel of which a part is covered.
func (r *raster) blend(x, y, cover int) {
	const all = grain * scanlines * 255
	alpha := cover * int(r.color.A)
	p := r.image.Pix[r.image.PixOffset(x, y):]
	for i, v := range []uint8{r.color.R, r.color.G, r.color.B} {
		p[i] = uint8((int(p[i])*(all-alpha) + int(v)*alpha + all/2) / all)
	}
}

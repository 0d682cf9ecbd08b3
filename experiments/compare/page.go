package compare

// Page are the results in the parts of a page.
type Page struct {
	Caption string
	Header  []string
	Rows    [][]string // one field is the heading of a block
	Legend  string
	// Sentences state what the scores show, and Remarks what failed, what is suspect and what takes no part.
	Sentences, Remarks []string
	Releases           []Release
	Looking            string // at private data; empty for published ones
}

// Release is the command that releases the best method at an epsilon.
type Release struct{ Title, Command string }

// Page returns the results for a page. quote makes a word of a command one that a shell reads back.
func (r *Results) Page(quote func(word string) string) *Page {
	p := &Page{Caption: r.caption(), Header: r.header(), Legend: r.legend(), Sentences: r.Sentences, Remarks: r.remarks()}
	if !r.Contest.Published {
		p.Looking = Looking
	}
	for _, l := range r.lines() {
		p.Rows = append(p.Rows, l.fields)
	}
	for _, w := range r.Winners {
		if w != nil {
			p.Releases = append(p.Releases, Release{r.releaseTitle(w), command(w, quote, Width)})
		}
	}
	return p
}

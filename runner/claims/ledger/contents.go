package ledger

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"privkern/runner/experiment"
)

// Contents names the parts of a ledger, without their values.
type Contents struct {
	Paper, Title string
	Tables       []string // names, in the order of the ledger
}

// Contents returns those of all ledgers, in the order of the papers. A ledger takes a tenth of a second to read, and a
// list of names needs a few of its lines: they are found by how ledgers are laid out. One that is laid out otherwise is
// read.
func (b *Book) Contents() ([]Contents, error) {
	var out []Contents
	for _, p := range b.Papers {
		if b.ledgers[p.Name] == nil {
			continue
		}
		c, ok := contentsOf(p)
		if !ok {
			l, err := b.Ledger(p.Name)
			if err != nil {
				return nil, err
			}
			c = l.contents()
		}
		out = append(out, c)
	}
	return out, nil
}

func (l *Ledger) contents() Contents {
	c := Contents{Paper: l.Paper, Title: l.Title}
	for _, t := range l.Tables {
		c.Tables = append(c.Tables, t.Name)
	}
	return c
}

// tableLine is the first line of a table, and plainName a name that stands in it as it is.
const tableLine = "  - name: "

var plainName = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+$`)

// contentsOf finds the contents of a ledger in its lines; ok is false where it is laid out otherwise.
func contentsOf(p experiment.Paper) (c Contents, ok bool) {
	c.Paper = p.Name
	text := string(p.Ledger)
	head, tables, ok := strings.Cut(text, "\ntables:\n")
	if !ok || !strings.HasPrefix(head, "paper: "+p.Name+"\n") {
		return c, false
	}
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, "title: ") {
			var member struct{ Title string }
			if yaml.Unmarshal([]byte(line), &member) != nil {
				return c, false
			}
			c.Title = member.Title
		}
	}
	for line := range strings.SplitSeq(tables, "\n") {
		switch name, is := strings.CutPrefix(line, tableLine); {
		case is && plainName.MatchString(name):
			c.Tables = append(c.Tables, name)
		case is || strings.HasPrefix(line, "  - ") || line != "" && line[0] != ' ' && line[0] != '#':
			return c, false
		}
	}
	return c, c.Title != "" && len(c.Tables) > 0
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// passage is a text as it is printed, once, for all works that have it.
type passage struct {
	body  string
	ids   []string
	works []string
}

// write prints the notices of the works.
func write(out io.Writer, works []work) error {
	passages := unite(works)
	p := printer{out: out}
	p.printf("Licences of privkern and of what it contains\n\n")
	p.printf("The program `run` is part of privkern, which is licensed under Apache-2.0. It is linked with Go's " +
		"library and\nthe modules below, unchanged; a build may leave some of them out. Licences are named by their SPDX\n" +
		"identifiers; the numbers are those of the texts further below. Scripts and styles of reports and kernels for\n" +
		"GPUs are privkern's own. Nothing of CUDA, OpenBLAS or MKL is in the program: it loads them, where they\n" +
		"are installed, when it runs.\n\n")
	p.table(works, passages)
	p.printf("\nCredits\n\n")
	for _, w := range works {
		if credit := credits[w.name]; credit != "" {
			p.printf("%s\n\n", credit)
		}
	}
	for i, t := range passages {
		p.printf("%s\n[%d] %s\n    of %s\n%s\n\n%s\n\n", rule, i+1,
			strings.Join(t.ids, ", "), strings.Join(t.works, "\n       "), rule, t.body)
	}
	return p.err
}

var rule = strings.Repeat("-", 80)

// unite puts equal texts of the works together, in the order of the works.
func unite(works []work) []*passage {
	var passages []*passage
	for _, w := range works {
		for _, t := range w.texts {
			i := slices.IndexFunc(passages, func(p *passage) bool { return same(p.body, t.body) })
			if i < 0 {
				i = len(passages)
				passages = append(passages, &passage{body: t.body, ids: t.ids})
			}
			if p := passages[i]; !slices.Contains(p.works, w.name) {
				p.works = append(p.works, w.name)
			}
		}
	}
	return passages
}

// same reports whether two texts have the same words.
func same(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// printer keeps the first error of its writes.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// table has a line for every work: name, version, licences, numbers of its texts.
func (p *printer) table(works []work, passages []*passage) {
	columns := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	lines := printer{out: columns, err: p.err}
	for _, w := range works {
		var ids, numbers []string
		for _, t := range w.texts {
			ids = append(ids, t.ids...)
		}
		for i, t := range passages {
			if slices.Contains(t.works, w.name) {
				numbers = append(numbers, fmt.Sprint(i+1))
			}
		}
		slices.Sort(ids)
		version := w.version
		if version == "" {
			version = "-"
		}
		lines.printf("%s\t%s\t%s\t[%s]\n", w.name, version,
			strings.Join(slices.Compact(ids), " AND "), strings.Join(numbers, ", "))
	}
	p.err = lines.err
	if p.err == nil {
		p.err = columns.Flush()
	}
}

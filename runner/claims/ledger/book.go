package ledger

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"privkern/runner/experiment"
)

// Book holds the ledgers of several papers with the experiments that they refer to.
type Book struct {
	Papers      []experiment.Paper // also those without a ledger
	Experiments *experiment.Registry

	ledgers map[string]func() (*Ledger, error) // by paper
}

// Open returns the ledgers of the papers that have one. Each is read and checked on its
// first use, because many commands need none.
func Open(papers []experiment.Paper) *Book {
	b := &Book{Papers: papers, Experiments: experiment.RegistryOf(papers), ledgers: map[string]func() (*Ledger, error){}}
	for _, p := range papers {
		if len(p.Ledger) > 0 {
			b.ledgers[p.Name] = sync.OnceValues(func() (*Ledger, error) {
				l, err := readValid(p, b.Experiments)
				if err != nil {
					return nil, fmt.Errorf("a defect in a ledger: %w", err)
				}
				return l, nil
			})
		}
	}
	return b
}

// readValid reads the ledger of a paper, and validates it against the experiments of all.
func readValid(p experiment.Paper, reg *experiment.Registry) (*Ledger, error) {
	l, err := Read(p.Name+"/ledger.yaml", p.Ledger)
	if err != nil {
		return nil, err
	}
	if l.Paper != p.Name {
		return nil, l.source.errorf("$.paper", "%q is not the paper %q that embeds this ledger", l.Paper, p.Name)
	}
	if err := l.Validate(reg); err != nil {
		return nil, err
	}
	return l, l.checkFigures(p.Figures)
}

// Ledger returns the ledger of a paper, nil where it has none.
func (b *Book) Ledger(paper string) (*Ledger, error) {
	if read := b.ledgers[paper]; read != nil {
		return read()
	}
	return nil, nil
}

// Ledgers returns all ledgers, in the order of the papers.
func (b *Book) Ledgers() ([]*Ledger, error) {
	var out []*Ledger
	for _, p := range b.Papers {
		l, err := b.Ledger(p.Name)
		if err != nil {
			return nil, err
		}
		if l != nil {
			out = append(out, l)
		}
	}
	return out, nil
}

// Names returns the names of all tables, in the order of the ledgers.
func (b *Book) Names() ([]string, error) {
	all, err := b.Contents()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Tables...)
	}
	return names, nil
}

// Table returns the table of that name, or an *experiment.UnknownError with
// the nearest valid name.
func (b *Book) Table(name string) (*Table, error) {
	paper, _, _ := strings.Cut(name, "/")
	l, err := b.Ledger(paper)
	if err != nil {
		return nil, err
	}
	if l != nil {
		if t, err := l.Table(name); err == nil {
			return t, nil
		}
	}
	names, err := b.Names()
	if err != nil {
		return nil, err
	}
	return nil, experiment.Unknown("table", name, names)
}

// HasReferences reports whether any cell of the tables has a reference value.
func (b *Book) HasReferences(tables []string) (bool, error) {
	for _, name := range tables {
		t, err := b.Table(name)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(t.Cells, func(c *Cell) bool { return len(c.Reference) > 0 }) {
			return true, nil
		}
	}
	return false, nil
}

// Trials returns the trials of the table of that name.
func (b *Book) Trials(name string) ([]experiment.Identity, error) {
	t, err := b.Table(name)
	if err != nil {
		return nil, err
	}
	return t.Trials(b.Experiments)
}

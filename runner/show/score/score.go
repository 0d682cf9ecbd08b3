// Package score counts the verdicts of all tables of all papers: a line for each paper and
// one for all.
//
// It runs nothing, and reads records in output folders and tables that were written as
// CSV, such as the project's own results. Records take precedence. A value that neither
// has is not run.
package score

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// Board is the scoreboard of the papers.
type Board struct {
	Papers []Paper
	// Skipped lists parts of the folders that could not be used, with reasons.
	Skipped []string
	// Violations are values outside their reference bands or without a result; References
	// is the number of values with a reference.
	Violations []judge.Violation
	References int
	// Outside are the judged values outside their bands, and the claims that do not hold.
	Outside []Outside
	// Sources are the origins of the tables that have records.
	Sources []Source
	// Trials is the number of records that were used, and Files that of CSV tables.
	Trials, Files int

	Evaluated []*judge.Evaluation // every table of every paper
}

// Paper is the line of a paper.
type Paper struct {
	Name string
	judge.Tally
}

// All returns the sum over all papers.
func (b *Board) All() judge.Tally {
	var out judge.Tally
	for i := range b.Papers {
		out.Add(b.Papers[i].Tally)
	}
	return out
}

// Read counts the tables of all papers from folders: output folders, folders that hold
// such, and folders with tables as CSV. A missing folder is an error.
func Read(d disk.Disk, book *ledger.Book, folders []string) (*Board, error) {
	r := &reader{disk: d, book: book, board: &Board{}, rows: map[rowKey]row{}, trials: map[string]computed{}}
	for _, dir := range folders {
		if err := r.folder(dir); err != nil {
			return nil, err
		}
	}
	index, err := judge.Index(func(yield func(*record.Record) bool) { r.records(yield) })
	if err != nil {
		return nil, err
	}
	ledgers, err := book.Ledgers()
	if err != nil {
		return nil, err
	}
	for _, l := range ledgers {
		var evaluated []*judge.Evaluation
		for _, t := range l.Tables {
			e, err := judge.Evaluate(t, book.Experiments, index)
			if err != nil {
				return nil, err
			}
			r.restoreJoint(e, r.restore(e))
			for i := range e.Cells {
				if e.Cells[i].Reference != nil {
					r.board.References++
				}
			}
			r.board.Violations = append(r.board.Violations, judge.Check(e)...)
			r.board.outside(e)
			r.board.source(e, r.trials)
			evaluated = append(evaluated, e)
		}
		judge.Holm(evaluated...)
		r.board.Evaluated = append(r.board.Evaluated, evaluated...)
		r.board.Papers = append(r.board.Papers, Paper{l.Paper, judge.TallyOf(evaluated...)})
	}
	return r.board, nil
}

type reader struct {
	disk  disk.Disk
	book  *ledger.Book
	board *Board
	plans []string // output folders
	rows  map[rowKey]row
	// trials are the records that were used, by key.
	trials map[string]computed
}

// folder reads the tables of a folder, and finds plans in it and in the folders below it.
func (r *reader) folder(dir string) error {
	names, err := r.disk.Names(dir)
	if err != nil {
		return fmt.Errorf("the folder of results: %w", err)
	}
	slices.Sort(names)
	if slices.Contains(names, planFile) {
		r.plans = append(r.plans, dir)
		return nil
	}
	before := len(r.plans) + len(r.board.Skipped) + r.board.Files
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch _, err := r.disk.Stat(filepath.Join(path, planFile)); {
		case strings.HasSuffix(name, ".csv"):
			if err := r.table(path); err != nil {
				return err
			}
		case err == nil:
			r.plans = append(r.plans, path)
		case !errors.Is(err, fs.ErrNotExist) && !isFile(r.disk, path):
			r.skip(path, err)
		}
	}
	if len(r.plans)+len(r.board.Skipped)+r.board.Files == before {
		r.skip(dir, errors.New("it has no output folders and no tables as CSV"))
	}
	return nil
}

const planFile = "plan.json"

func isFile(d disk.Disk, path string) bool {
	info, err := d.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (r *reader) skip(path string, why error) {
	r.board.Skipped = append(r.board.Skipped, fmt.Sprintf("%s: %v", path, why))
}

// records yields the records of all output folders that have the current versions of their
// experiments.
func (r *reader) records(yield func(*record.Record) bool) {
	seen := map[string]bool{} // keys with a result
	for _, dir := range r.plans {
		s, p, err := store.OpenPlan(r.disk, dir, r.book.Experiments)
		if err != nil {
			r.skip(dir, err)
			continue
		}
		older := 0
		for i := range p.Trials {
			rec, _, err := s.Get(p.Trials[i].Key)
			if err != nil {
				r.skip(dir, err)
				break
			}
			if rec == nil || seen[rec.Key] {
				continue
			}
			seen[rec.Key] = rec.Status == record.OK
			if e, err := r.book.Experiments.Lookup(rec.Experiment); err != nil || rec.ResultVersion != e.Version {
				older++
				continue
			}
			r.board.Trials++
			r.trials[rec.Key] = computedOf(rec)
			if !yield(rec) {
				return
			}
		}
		if older > 0 {
			r.skip(dir, fmt.Errorf("%d records are of other versions of their experiments", older))
		}
		for _, a := range s.Asides() {
			r.skip(filepath.Join(dir, a.File), errors.New(a.Reason))
		}
	}
}

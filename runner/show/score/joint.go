package score

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
	"privkern/runner/text"
)

// jointColumns are those of a joint verdict; a file without them was written by an older program.
var jointColumns = []string{"joint_verdict", "joint_reason", "joint_above", "joint_below", "joint_shift", "joint_draws",
	"joint_p_value", "joint_terms"}

// joint reads the joint verdict that the value of a line is part of, nil for none.
func (l *csvLine) joint() *judge.Joint {
	if l.at[jointColumns[0]] < 0 || l.text("joint_terms") == "" {
		return nil
	}
	j := &judge.Joint{Terms: l.text("joint_terms"), Verdict: judge.JointVerdict(l.text("joint_verdict")),
		Reason: l.text("joint_reason"), Above: l.count("joint_above"), Below: l.count("joint_below"),
		Draws: l.count("joint_draws"), P: l.number("joint_p_value")}
	if l.text("joint_shift") != "" {
		shift := l.number("joint_shift")
		j.Shift = &shift
	}
	if l.err == nil && !(j.P > 0 && j.P <= 1) {
		l.err = fmt.Errorf("joint_p_value is %v, expected a number above 0 and up to 1", j.P)
	}
	return j
}

// restoreJoint sets the joint verdicts of a table whose trials are missing to those of the tables
// that were read, where their conditions are those of the ledger; reported is true where it is known
// that some are not.
func (r *reader) restoreJoint(e *judge.Evaluation, reported bool) {
	for _, j := range e.Joint {
		if j.Missing == 0 {
			continue
		}
		changed, values := false, 0
		for _, i := range j.Cells {
			known := r.rows[keyOf(e.Table, &e.Cells[i])].joint
			if known != nil && known.Terms == j.Terms {
				values++
				j.Restore(known, values)
			}
			changed = changed || known != nil
		}
		if changed && values == 0 && !reported {
			r.skip(e.Table, errors.New("the trials of a joint verdict have changed since the table was written"))
		}
	}
}

// of returns the evaluations of a paper's tables.
func (b *Board) of(paper string) []*judge.Evaluation {
	return slices.DeleteFunc(slices.Clone(b.Evaluated), func(e *judge.Evaluation) bool { return e.Paper != paper })
}

// joint compares the joint verdicts of tables that both have results of, of equal numbers of draws.
// Their p-values are adjusted for those that are compared alone, as one of the two may have made more tests.
func (a *Agreement) joint(here, there []*judge.Evaluation) {
	type pair struct {
		cell Cell
		j, o *judge.Joint
	}
	var pairs []pair
	both := [2][]*judge.Evaluation{}
	for i, e := range here {
		theirs := map[string]*judge.Joint{}
		for _, o := range there[i].Joint {
			theirs[o.Terms] = o
		}
		for _, j := range e.Joint {
			o := theirs[j.Terms]
			cell := Cell{Table: e.Table, Place: "jointly, " + j.Name(), Counts: j.Headline,
				entry: entry{e.Paper, e.Table + " | jointly | " + j.Name()}}
			switch {
			case o == nil || !j.Ran() && !o.Ran() || !hasResults(e) || !hasResults(there[i]):
			case j.Draws != o.Draws || !j.Ran() || !o.Ran():
				reason := fmt.Sprintf("%s of %s here, %s of %d there", j.Verdict, text.Count(j.Draws, "draw"), o.Verdict, o.Draws)
				a.LeftOut = append(a.LeftOut, LeftOut{cell, reason})
				if cell.Counts {
					a.Joint.Open++
				}
			default:
				mine, other := *j, *o
				pairs = append(pairs, pair{cell, &mine, &other})
				for k, v := range []*judge.Joint{&mine, &other} {
					both[k] = append(both[k], &judge.Evaluation{Paper: e.Paper, Joint: []*judge.Joint{v}})
				}
			}
		}
	}
	judge.Holm(both[0]...)
	judge.Holm(both[1]...)
	for _, p := range pairs {
		a.Joint.Compared++
		if p.j.Verdict == p.o.Verdict {
			a.Joint.Same++
			continue
		}
		a.Changes = append(a.Changes, Change{Cell: p.cell, Ours: p.j.Chance(), Verdict: judge.Verdict(p.j.Verdict),
			Other: p.o.Chance(), OtherVerdict: judge.Verdict(p.o.Verdict)})
	}
}

// jointTable are the joint verdicts of a table, for programs.
type jointTable struct {
	Table string `json:"table"`
	*judge.Joint
}

func (b *Board) joint() []jointTable {
	out := []jointTable{}
	for _, e := range b.Evaluated {
		for _, j := range e.Joint {
			if j.Found() {
				out = append(out, jointTable{e.Table, j})
			}
		}
	}
	return out
}

// WriteJoint writes the joint verdicts as text, in lines of a width, or Markdown; the scoreboard's JSON includes them.
func WriteJoint(w io.Writer, b *Board, f tables.Format, width int) error {
	if f != tables.FormatText && f != tables.FormatMarkdown {
		return fmt.Errorf("joint verdicts are not written as %s", f)
	}
	var out strings.Builder
	for _, j := range b.joint() {
		out.WriteString(item(f, j.Table, j.Sentence(), width))
	}
	if out.Len() == 0 {
		out.WriteString("No table here has the draws of a joint verdict.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

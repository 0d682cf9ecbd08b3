// Command printed compares every number that the papers print with their ledgers: it
// must be in an entry, or in the paper's list of numbers without one, with the reason.
//
//	go run ./tests/printed FOLDER [PAPER...]
//
// FOLDER holds the texts, PAPER.txt, which are not part of the project. The command runs in
// the root of the repository. The exit status is 1 where a number is missing, or where a
// ledger or a list has a number that the text lacks.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const folder = "experiments" // with a folder for each paper

var errMissing = errors.New("texts, ledgers and lists do not fit together")

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tests/printed FOLDER [PAPER...]")
		os.Exit(2)
	}
	if err := check(os.Stdout, folder, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "printed:", err)
		os.Exit(1)
	}
}

// check prints a report on each of the papers, by default all with a ledger.
func check(out io.Writer, experiments, texts string, papers []string) error {
	if len(papers) == 0 {
		ledgers, err := filepath.Glob(filepath.Join(experiments, "*", "ledger.yaml"))
		if err != nil {
			return err
		}
		for _, path := range ledgers {
			papers = append(papers, filepath.Base(filepath.Dir(path)))
		}
		if len(papers) == 0 {
			return fmt.Errorf("%s has no ledger", experiments)
		}
	}
	var missing error
	for _, paper := range papers {
		r, err := examine(filepath.Join(experiments, paper), filepath.Join(texts, paper+".txt"))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, r.String()); err != nil {
			return err
		}
		if len(r.missing)+len(r.strange)+len(r.stale) > 0 {
			missing = errMissing
		}
	}
	return missing
}

// report counts the numbers of one text.
type report struct {
	paper   string
	total   int
	ledger  int
	listed  map[string]int // by reason
	left    map[rule]int
	missing []string // with line and context
	strange []string // of the ledger, where the text has no such number
	stale   []string // entries of the list
}

// examine compares the numbers of a text with the ledger and the list of a paper's folder.
func examine(home, path string) (report, error) {
	r := report{paper: filepath.Base(home), listed: map[string]int{}}
	raw, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	claims, err := readLedger(filepath.Join(home, "ledger.yaml"))
	if err != nil {
		return r, err
	}
	list, err := readUnclaimed(filepath.Join(home, "unclaimed.yaml"), r.paper)
	if err != nil {
		return r, err
	}
	t := areas(string(raw))
	numbers, left := t.numbers()
	r.total, r.left = len(numbers), left
	reasons, stale := list.find(t, numbers)
	r.strange, r.stale = list.unprinted(claims, numbers)
	r.stale = append(r.stale, stale...)
	for i, n := range numbers {
		switch reason := reasons[i]; {
		case reason != "":
			r.listed[reason]++
		case claims.take(n):
			r.ledger++
		default:
			r.missing = append(r.missing, fmt.Sprintf("line %d: %s in %q", n.line, n.text, context(t.lines[n.line-1], n)))
		}
	}
	return r, nil
}

func (r report) String() string {
	var b strings.Builder
	listed := 0
	for _, n := range r.listed {
		listed += n
	}
	fmt.Fprintf(&b, "%s: %d numbers: %d in the ledger, %d listed, %d missing\n",
		r.paper, r.total, r.ledger, listed, len(r.missing))
	for _, reason := range ordered(r.listed) {
		fmt.Fprintf(&b, "  %4d listed: %s\n", r.listed[reason], reason)
	}
	for _, why := range ordered(r.left) {
		fmt.Fprintf(&b, "  %4d not asked for: %s\n", r.left[why], why)
	}
	for _, m := range r.missing {
		fmt.Fprintf(&b, "  missing: %s\n", m)
	}
	for _, s := range r.strange {
		fmt.Fprintf(&b, "  in the ledger, not in the text: %s\n", s)
	}
	for _, s := range r.stale {
		fmt.Fprintf(&b, "  in the list, not in the text: %s\n", s)
	}
	return b.String()
}

// ordered returns the keys, the most frequent first.
func ordered[K ~string](counts map[K]int) []K {
	var keys []K
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(string(a), string(b))
	})
	return keys
}

// context returns the number with about forty bytes on either side, cut at blanks.
func context(line string, n number) string {
	start, end := max(n.start-40, 0), min(n.end+40, len(line))
	if i := strings.IndexByte(line[start:n.start], ' '); start > 0 && i >= 0 {
		start += i + 1
	}
	if i := strings.LastIndexByte(line[n.end:end], ' '); end < len(line) && i >= 0 {
		end = n.end + i
	}
	return strings.ToValidUTF8(line[start:end], "")
}

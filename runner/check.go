package runner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/store"
)

// Inspection is the result of a check of an output folder.
type Inspection struct {
	Schema   int    `json:"schema"` // of this report
	Dir      string `json:"dir"`
	Trials   int    `json:"trials"`   // of the plan
	Records  int    `json:"records"`  // files, those with problems too
	Unsealed int    `json:"unsealed"` // records without a digest, before any repair
	Sealed   int    `json:"sealed"`   // files that were given a digest
	// Foreign are records of trials that the plan does not have, such as those of
	// another plan. An unsealed one is sealed where the plan has the version of its
	// results; others cannot be judged.
	Foreign int `json:"foreign"`
	// Shared counts the results of shared work in the folder, and SharedBytes their
	// bytes.
	Shared      int   `json:"shared"`
	SharedBytes int64 `json:"shared_bytes"`
	// AtWork is true where a runner was at work in the folder: tables and plots, which
	// it writes at its end, were not checked.
	AtWork   bool     `json:"at_work"`
	Problems []Defect `json:"problems"`
}

// Defect is something in an output folder that does not hold.
type Defect struct {
	File   string `json:"file"` // relative to the output folder
	Reason string `json:"reason"`
	Repair string `json:"repair"` // the repair; "" for none
}

// Check verifies an output folder: digest and keys of the plan; digest, key and content
// of every record; digests of the results of shared work; and that tables and plots are
// those of the records. With repair it gives unsealed records and plans their digests,
// puts invalid files aside, and writes tables, plots and report anew; an invalid plan
// stays. version is that of this program, for the report.
//
// Where the plan is invalid, records are checked alone, and tables are not.
func (c *Catalogue) Check(dir string, repair bool, version string) (*Inspection, error) {
	s, err := store.Open(c.Disk, dir)
	if err == nil && repair {
		s, err = store.Create(c.Disk, dir)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	k := &checker{catalogue: c, store: s, repair: repair, version: version,
		Inspection: &Inspection{Schema: 1, Dir: dir, Problems: []Defect{}}}
	p, err := k.plan()
	if err == nil {
		err = k.records()
	}
	if err == nil {
		err = k.shared()
	}
	if err == nil && p != nil {
		err = k.shown(p)
	}
	return k.Inspection, err
}

type checker struct {
	*Inspection
	catalogue *Catalogue
	store     *store.Store
	repair    bool
	version   string
	differing []differing
}

// differing is a table or plot that differs from that of the records.
type differing struct {
	problem int // place in Problems
	file    string
	sum     string    // SHA-256 of the content
	written time.Time // by the clock of the machine that wrote it
}

func (k *checker) problem(file, reason, repair string) {
	k.Problems = append(k.Problems, Defect{file, reason, repair})
}

// plan returns the plan, nil where it does not hold.
func (k *checker) plan() (*plan.Plan, error) {
	p, err := k.store.VerifyPlan(k.catalogue.Experiments)
	if err != nil {
		k.problem("plan.json", strings.TrimPrefix(err.Error(), filepath.Join(k.Dir, "plan.json")+": ")+
			"; `run sweep FILE --replan` makes it anew", "")
		return nil, nil
	}
	k.Trials = len(p.Trials)
	if p.Sealed || !k.repair {
		return p, nil
	}
	done, err := k.store.SealPlan(k.catalogue.Experiments)
	if done {
		k.Sealed++
	}
	return p, err
}

// records looks at every file in the folder of records.
func (k *checker) records() error {
	names, err := k.store.Files()
	if err != nil {
		return err
	}
	for _, name := range names {
		key, ok := strings.CutSuffix(name, ".json")
		if ok {
			err = k.record(key)
		} else {
			err = k.stray(filepath.Join("trials", name), "no record of a trial")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record looks at the record of one trial.
func (k *checker) record(key string) error {
	v, err := k.store.Examine(key)
	if err != nil || !v.There { // put aside since the folder was listed
		return err
	}
	k.Records++
	if !v.Planned {
		k.Foreign++
	}
	unsealed := v.Problem == "" && !v.Sealed
	if unsealed {
		k.Unsealed++
	}
	if v.Problem == "" && !unsealed {
		return nil
	}
	file := filepath.Join("trials", key+".json")
	done := ""
	if k.repair {
		if done, err = k.mend(key, unsealed); err != nil {
			return err
		}
	}
	if v.Problem != "" {
		k.problem(file, v.Problem, done)
	}
	return nil
}

// mend seals the record of a trial or puts it aside, and returns a description of the
// repair.
func (k *checker) mend(key string, unsealed bool) (done string, err error) {
	unlock, ok, err := k.store.Lock(key)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", nil // a runner is at it
	}
	defer unlock()
	if unsealed {
		ok, err := k.store.Seal(key)
		if ok {
			k.Sealed++
		}
		return "", err
	}
	before := len(k.store.Asides())
	if err := k.store.PutAside(key); err != nil {
		return "", err
	}
	return k.moved(before), nil
}

// moved returns the new place of the last file that was put aside; before counts the
// earlier ones.
func (k *checker) moved(before int) string {
	if asides := k.store.Asides(); len(asides) > before {
		return "put aside as " + asides[len(asides)-1].Moved
	}
	return ""
}

// stray reports a file that should not be there.
func (k *checker) stray(file, reason string) error {
	done := ""
	if k.repair {
		before := len(k.store.Asides())
		if err := k.store.Discard(file, reason); err != nil {
			return err
		}
		done = k.moved(before)
	}
	k.problem(file, reason, done)
	return nil
}

// shared looks at the results of shared work, where there are any.
func (k *checker) shared() error {
	names, err := k.store.Memos()
	if err != nil { // such as a file of that name: no result depends on it
		k.problem("shared", err.Error(), "")
		return nil
	}
	for _, name := range names {
		problem, bytes, there, err := k.store.ExamineMemo(name)
		if err != nil {
			return err
		}
		if !there { // removed since the folder was listed
			continue
		}
		k.Shared++
		k.SharedBytes += bytes
		if problem != "" {
			if err := k.stray(filepath.Join("shared", name), problem); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown compares the tables and plots, where there are any, with those of the records.
func (k *checker) shown(p *plan.Plan) (err error) {
	if k.AtWork, err = k.store.Busy(); err != nil || k.AtWork {
		return err
	}
	var have []string // keys with a record
	r, err := show.Evaluate(k.catalogue.Book, k.store, p, func(key string) (*record.Record, bool, error) {
		rec, ok, err := k.store.Get(key)
		if ok {
			have = append(have, key)
		}
		return rec, ok, err
	})
	if err != nil {
		return err
	}
	before := len(k.Problems)
	if err := k.folder(show.TablesDir, []string{".md", ".csv", ".tex", ".json"}, r.EachTable); err != nil {
		return err
	}
	err = k.folder(show.PlotsDir, []string{".svg", ".png", ".csv"}, r.EachPlot)
	if err == nil {
		err = k.older(p, have)
	}
	if err != nil || !k.repair || len(k.Problems) == before {
		return err
	}
	if err := r.WriteTables(); err != nil {
		return err
	}
	_, err = r.WriteReport(k.version)
	return err
}

// older separates files that were made before some of the records from changed ones: it
// makes them of the records that are not newer, and compares. Clocks of machines
// differ, and copies of folders have other times, so only equal content is evidence.
func (k *checker) older(p *plan.Plan, have []string) error {
	if len(k.differing) == 0 {
		return nil
	}
	times := make(map[string]time.Time, len(have))
	for _, key := range have {
		at, err := k.store.Modified(key)
		if err != nil {
			return err
		}
		times[key] = at
	}
	sums := map[int]map[string]string{} // of files, by the number of records they are made of
	for _, d := range k.differing {
		earlier := 0
		for _, at := range times {
			if !at.After(d.written) {
				earlier++
			}
		}
		if earlier == len(have) {
			continue
		}
		if sums[earlier] == nil {
			var err error
			if sums[earlier], err = k.sumsUpTo(p, times, d.written); err != nil {
				return err
			}
		}
		problem := &k.Problems[d.problem]
		if sums[earlier][d.file] == d.sum {
			problem.Reason = fmt.Sprintf("it is older than the records, and made of %d of %d", earlier, len(have)) + k.hint(anew)
			continue
		}
		problem.Reason = "it is not what the records give: some of them are newer, it was changed, " +
			"or another version of this program wrote it" + k.hint(anew)
	}
	return nil
}

const anew = "; run report writes it anew"

// hint returns the way to mend a file, empty where that is being done.
func (k *checker) hint(way string) string {
	if k.repair {
		return ""
	}
	return way
}

// sumsUpTo returns the SHA-256 of the tables and plots that the records up to a time give.
func (k *checker) sumsUpTo(p *plan.Plan, times map[string]time.Time, last time.Time) (map[string]string, error) {
	r, err := show.Evaluate(k.catalogue.Book, k.store, p, func(key string) (*record.Record, bool, error) {
		if at, ok := times[key]; !ok || at.After(last) {
			return nil, false, nil
		}
		return k.store.Get(key)
	})
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	into := func(folder string) show.Visitor {
		return func(file string, write func(io.Writer) error) error {
			sum := sha256.New()
			if err := write(sum); err != nil {
				return err
			}
			sums[filepath.Join(folder, file)] = string(sum.Sum(nil))
			return nil
		}
	}
	if err := r.EachTable(into(show.TablesDir)); err != nil {
		return nil, err
	}
	return sums, r.EachPlot(into(show.PlotsDir))
}

// folder compares the files of a folder, which may be absent, with their expected
// content. Files with other endings belong to others.
func (k *checker) folder(name string, endings []string, each func(visit show.Visitor) error) error {
	dir := filepath.Join(k.Dir, name)
	names, err := k.store.Disk().Names(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	expected := map[string]bool{}
	err = each(func(file string, write func(io.Writer) error) error {
		expected[file] = true
		want := sha256.New()
		if err := write(want); err != nil {
			return err
		}
		return k.compare(filepath.Join(name, file), want)
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		if !expected[n] && !strings.HasPrefix(n, ".") && slices.Contains(endings, filepath.Ext(n)) {
			if err := k.stray(filepath.Join(name, n), "the records give no such file"); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare compares a file with the hash of its expected content. For a repair it puts
// anything else in its place aside; the file is written by [checker.shown].
func (k *checker) compare(file string, want hash.Hash) error {
	done := ""
	if k.repair {
		done = "written anew"
	}
	f, err := k.store.Disk().Open(filepath.Join(k.Dir, file))
	if err == nil {
		defer func() { _ = f.Close() }()
		got := sha256.New()
		if _, err = io.Copy(got, f); err == nil {
			if sum := string(got.Sum(nil)); sum != string(want.Sum(nil)) {
				d := differing{problem: len(k.Problems), file: file, sum: sum}
				if info, err := k.store.Disk().Stat(filepath.Join(k.Dir, file)); err == nil {
					d.written = info.ModTime()
				}
				k.differing = append(k.differing, d)
				k.problem(file, "it is not what the records give: "+
					"it was changed, or another version of this program wrote it"+k.hint(anew), done)
			}
			return nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		k.problem(file, "it is missing"+k.hint("; run report writes it"), done)
		return nil
	}
	reason := fmt.Sprintf("it cannot be read: %v", errors.Unwrap(err))
	if k.repair {
		if err := k.store.Discard(file, reason); err != nil {
			return err
		}
	}
	k.problem(file, reason, done)
	return nil
}

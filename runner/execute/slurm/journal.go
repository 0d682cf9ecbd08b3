package slurm

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"privkern/runner/plan"
	"privkern/runner/store/disk"
)

// Names inside the output folder.
const (
	folder      = "slurm"
	journalFile = "jobs.json"
)

const journalSchema = 1

// journal is OUT/slurm/jobs.json: what was submitted for the plan. It is what
// lets a later command attach to jobs that are there. A submission is written
// before sbatch runs, without the job's id, and again with it: where a program ends
// between the two, the next one finds the job in the queue by its name, which
// has the output folder's identifier and the number of the submission.
type journal struct {
	Schema int    `json:"schema"`
	Sweep  string `json:"sweep"` // identifies the output folder in the names of jobs
	// A round is what one or more commands do until all parts have their results
	// or are given up; retries are counted in it.
	Round   int       `json:"round"`
	Open    bool      `json:"open"`
	Started time.Time `json:"started"` // of the round, by the clock of the file system
	Plan    string    `json:"plan"`    // digest of the keys
	Parts   int       `json:"parts"`   // into which the round divides the plan
	// TimedParts is how many of them, the last ones, are of timed trials.
	TimedParts int `json:"timed_parts,omitempty"`
	// Submissions are the array jobs of all rounds, in their order.
	Submissions []submission `json:"submissions"`
}

// submission is an array job.
type submission struct {
	Number    int       `json:"number"`
	Round     int       `json:"round"`
	Name      string    `json:"name"` // of the job
	Job       string    `json:"job"`  // its id; "" until Slurm has given one
	User      string    `json:"user"` // who submitted it, by number
	Submitted time.Time `json:"submitted"`
	Script    string    `json:"script"` // relative to the output folder
	Parts     partList  `json:"parts"`  // of its tasks, in their order
}

// partList are numbers of parts, counted from 1 and rising. In JSON it is a text
// such as "1-24,30".
type partList []int

// MarshalText writes runs of numbers as ranges.
func (l partList) MarshalText() ([]byte, error) {
	var out []byte
	for i := 0; i < len(l); {
		j := i
		for j+1 < len(l) && l[j+1] == l[j]+1 {
			j++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(l[i]), 10)
		if j > i {
			out = fmt.Appendf(out, "-%d", l[j])
		}
		i = j + 1
	}
	return out, nil
}

// maxTasks is how many tasks an array job can have at most: the largest MaxArraySize
// that Slurm takes.
const maxTasks = 4_000_001

// UnmarshalText reads what MarshalText writes.
func (l *partList) UnmarshalText(text []byte) error {
	*l = nil
	last := 0
	for piece := range strings.SplitSeq(string(text), ",") {
		from, to, isRange := strings.Cut(piece, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a <= last || b < a {
			return fmt.Errorf("%q is no list of parts", text)
		}
		if b-a >= maxTasks-len(*l) {
			return fmt.Errorf("%q has more parts than an array job has tasks (%d)", text, maxTasks)
		}
		for part := a; part <= b; part++ {
			*l = append(*l, part)
		}
		last = b
	}
	return nil
}

// readJournal returns nil where there is none.
func readJournal(dir string) (*journal, error) {
	path := filepath.Join(dir, folder, journalFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, fmt.Errorf("%s cannot be read (%w); cancel the jobs of this folder, if any, and remove the file", path,
			err)
	}
	if j.Schema != journalSchema {
		return nil, fmt.Errorf("%s has schema %d; this version reads %d", path, j.Schema, journalSchema)
	}
	for _, s := range j.Submissions {
		if len(s.Parts) == 0 {
			return nil, fmt.Errorf("%s: job %s has no parts; cancel the jobs of this folder, if any, and remove the file", path,
				s.Job)
		}
	}
	for _, s := range j.current() {
		if s.Parts[len(s.Parts)-1] > j.Parts {
			return nil, fmt.Errorf("%s: job %s has parts beyond the %d that there are; cancel the jobs of this folder, if "+
				"any, and remove the file", path, s.Job, j.Parts)
		}
	}
	if j.Open && (j.Parts < 1 || j.TimedParts < 0 || j.TimedParts > j.Parts) {
		return nil, fmt.Errorf("%s: the plan is in %d parts, %d of them of timed trials; cancel the jobs of this folder, "+
			"if any, and remove the file", path, j.Parts, j.TimedParts)
	}
	return &j, nil
}

// write writes the journal durably.
func (j *journal) write(dir string) error {
	raw, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.System, filepath.Join(dir, folder, journalFile), append(raw, '\n'))
}

// begin opens a round and writes the journal. Its start is the time that the
// file system gives to the file: the records' times are of the same clock,
// whatever machine writes them.
func (j *journal) begin(dir, digest string, d *division) error {
	j.Schema, j.Plan, j.Parts, j.TimedParts, j.Open = journalSchema, digest, d.parts, d.timed, true
	j.Round++
	if j.Sweep == "" {
		id := make([]byte, 4)
		_, _ = rand.Read(id) // never fails
		j.Sweep = hex.EncodeToString(id)
	}
	if err := j.write(dir); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(dir, folder, journalFile))
	if err != nil {
		return err
	}
	j.Started = info.ModTime()
	return j.write(dir)
}

// next returns the submission that comes next.
func (j *journal) next(parts []int) submission {
	n := 1
	if len(j.Submissions) > 0 {
		n = j.Submissions[len(j.Submissions)-1].Number + 1
	}
	return submission{
		Number: n, Round: j.Round, Name: fmt.Sprintf("privkern-%s-%d", j.Sweep, n), User: fmt.Sprint(os.Getuid()),
		Script: filepath.Join(folder, fmt.Sprintf("%03d.sh", n)), Parts: parts,
	}
}

// current returns the submissions of the round.
func (j *journal) current() []submission {
	for i, s := range j.Submissions {
		if s.Round == j.Round {
			return j.Submissions[i:]
		}
	}
	return nil
}

// jobs returns the ids of the round's jobs.
func (j *journal) jobs() []string {
	var out []string
	for _, s := range j.current() {
		if s.Job != "" {
			out = append(out, s.Job)
		}
	}
	return out
}

// digest identifies the trials of a plan.
func digest(p *plan.Plan) string {
	h := sha256.New()
	for _, t := range p.Trials {
		h.Write([]byte(t.Key))
	}
	return hex.EncodeToString(h.Sum(nil))
}

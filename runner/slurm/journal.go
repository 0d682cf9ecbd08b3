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
	"time"

	"privkern/runner/plan"
	"privkern/runner/store"
)

// Names inside the output folder.
const (
	folder      = "slurm"
	journalFile = "jobs.json"
)

const journalSchema = 1

// journal is OUT/slurm/jobs.json: what was submitted for the plan. It is what
// lets a later command attach to jobs that are there.
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
	Parts     []int     `json:"parts"`  // of its tasks, counted from 1
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
		return nil, fmt.Errorf("%s cannot be read (%w); cancel the jobs of this folder, if any, and remove the file", path, err)
	}
	if j.Schema != journalSchema {
		return nil, fmt.Errorf("%s has schema %d; this version reads %d", path, j.Schema, journalSchema)
	}
	return &j, nil
}

// write writes the journal durably.
func (j *journal) write(dir string) error {
	raw, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(dir, folder, journalFile), append(raw, '\n'))
}

// begin opens a round and writes the journal. Its start is the time that the
// file system gives to the file: the records' times are of the same clock,
// whatever machine writes them.
func (j *journal) begin(dir, digest string, parts int) error {
	j.Schema, j.Plan, j.Parts, j.Open = journalSchema, digest, parts, true
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

//go:build unix

package budget

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// childVar makes the test program book releases: PATH, a name, and how many; and perhaps a file of the
// data and the column of persons in it.
const childVar = "PRIVKERN_BUDGET_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		os.Exit(child(strings.Split(job, "\n")))
	}
	os.Exit(m.Run())
}

// child books releases one after another and prints a line for each that is
// confirmed. It ends with 3 at the first that the limit refuses.
func child(job []string) int {
	l, err := Open(job[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n, err := strconv.Atoi(job[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	book := func(s experiment.Spending) error { return l.book(s, "") }
	if len(job) > 3 {
		d, err := DataOf("csv:"+job[3], job[3], table.Reading{}, job[4])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		book = func(s experiment.Spending) error {
			if s.Data = fresh(1).Data; job[4] != "" {
				s.Units = append([]string{"person"}, s.Units...)
			}
			_, err := l.Book(s, d, Request{})
			return err
		}
	}
	for i := range n {
		s := small(fmt.Sprint(job[1], "/", i))
		var limit *LimitError
		switch err := book(s); {
		case errors.As(err, &limit):
			return 3
		case err != nil:
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(s.Experiment)
	}
	return 0
}

func small(name string) (s experiment.Spending) {
	s = spend(8, 0, 0) // so large that sums of epsilon are the smallest
	s.Experiment, s.Units = name, []string{"row", "output"}
	return s
}

func start(t *testing.T, path, name string, n int, data ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	job := append([]string{path, name, strconv.Itoa(n)}, data...)
	cmd.Env = append(os.Environ(), childVar+"="+strings.Join(job, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// names returns the bookings of an account, and fails where one is there twice.
func names(t *testing.T, a *Account) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, e := range a.Entries {
		if out[e.Experiment] {
			t.Errorf("%s is booked twice", e.Experiment)
		}
		out[e.Experiment] = true
	}
	return out
}

// A limit for exactly 24 releases admits exactly 24 when goroutines and processes book at
// once.
func TestConcurrentBookings(t *testing.T) {
	const admitted = 24
	l := limited(t, admitted*8)
	var mu sync.Mutex
	confirmed := map[string]bool{}
	var wg sync.WaitGroup
	for p := range 3 {
		cmd, lines := start(t, l.path, fmt.Sprint("process", p), admitted)
		wg.Go(func() {
			for lines.Scan() {
				mu.Lock()
				confirmed[lines.Text()] = true
				mu.Unlock()
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 3 {
				t.Errorf("process %d ends with %d, not at the limit", p, code)
			}
		})
	}
	for g := range 12 {
		wg.Go(func() {
			for i := range 4 {
				s := small(fmt.Sprint("goroutine", g, "/", i))
				err := l.book(s, "")
				var limit *LimitError
				if err == nil {
					mu.Lock()
					confirmed[s.Experiment] = true
					mu.Unlock()
				} else if !errors.As(err, &limit) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Accounts {
		booked := names(t, a)
		if len(a.Entries) != admitted || len(confirmed) != admitted {
			t.Errorf("unit %s: %d bookings, %d confirmed, the limit admits %d", a.Unit, len(a.Entries),
				len(confirmed), admitted)
		}
		for name := range confirmed {
			if !booked[name] {
				t.Errorf("unit %s: %s was confirmed, and is not booked", a.Unit, name)
			}
		}
	}
}

// Three processes release files at once of which the second overlaps both others, and one of them is
// killed: people in two files spend no more than the limit, however the accounts were opened.
func TestConcurrentOverlap(t *testing.T) {
	const admitted, n = 8, 200
	for name, c := range map[string]struct {
		person string
		common int // rows of a file that are in the next one, too
	}{"rows": {"", n / 2}, "one person": {"id", 1}} {
		t.Run(name, func(t *testing.T) {
			l, dir, all := limited(t, admitted*8), t.TempDir(), patients(3*n, 1)
			var wg sync.WaitGroup
			confirmed := make([]int, 3)
			var booked []string
			var mu sync.Mutex
			listen := func(i int, cmd *exec.Cmd, lines *bufio.Scanner) {
				for lines.Scan() {
					mu.Lock()
					confirmed[i]++
					booked = append(booked, lines.Text())
					mu.Unlock()
				}
				_ = cmd.Wait()
			}
			files := make([]string, 3)
			for i := range files {
				from := 1 + i*(n-c.common)
				files[i] = fmt.Sprint(dir, "/", i, ".csv")
				save(t, files[i], append(all[:1:1], all[from:from+n]...), ",", "")
			}
			for i, file := range files {
				cmd, lines := start(t, l.path, fmt.Sprint("file", i), admitted+1, file, c.person)
				wg.Go(func() {
					listen(i, cmd, lines)
					if code := cmd.ProcessState.ExitCode(); code != 3 {
						t.Errorf("process %d ends with %d, not at the limit", i, code)
					}
				})
			}
			cmd, lines := start(t, l.path, "killed", admitted+1, files[1], c.person)
			if lines.Scan() {
				mu.Lock()
				confirmed[1]++
				booked = append(booked, lines.Text())
				mu.Unlock()
			}
			_ = cmd.Process.Kill()
			listen(1, cmd, lines)
			wg.Wait()
			s, err := l.Read()
			if err != nil {
				t.Fatal(err)
			}
			there := map[string]bool{}
			for _, a := range s.Accounts {
				for name := range names(t, a) {
					there[name] = true
				}
				if len(a.Entries) > admitted {
					t.Errorf("account %d has %d entries, and the limit admits %d", a.Number, len(a.Entries), admitted)
				}
			}
			for _, name := range booked {
				if !there[name] {
					t.Errorf("%s was confirmed, and is not booked", name)
				}
			}
			for i := range 2 {
				if n := confirmed[i] + confirmed[i+1]; n > admitted {
					t.Errorf("files %d and %d share people: %d releases, and the limit admits %d", i, i+1, n, admitted)
				}
			}
		})
	}
}

// Processes that are killed while they book leave a whole ledger with every
// booking that was confirmed, in both accounts.
func TestKilledBookings(t *testing.T) {
	tier.Sequential(t)
	kills, rng := tier.Random(t, 12, 100)
	l := limited(t, 1e6)
	confirmed := map[string]bool{}
	for round := range kills {
		cmd, lines := start(t, l.path, fmt.Sprint("round", round), 1000000)
		other, rest := start(t, l.path, fmt.Sprint("other", round), 2)
		for range 1 + rng.IntN(4) {
			if !lines.Scan() {
				t.Fatal("the process ended before it was killed")
			}
			confirmed[lines.Text()] = true
		}
		for range rng.IntN(200000) { // a moment of the next booking
			runtime.Gosched()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*bufio.Scanner{lines, rest} {
			for s.Scan() {
				confirmed[s.Text()] = true
			}
		}
		_ = cmd.Wait()
		if err := other.Wait(); err != nil {
			t.Errorf("the other process: %v", err)
		}
		s, err := l.Read()
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for _, a := range s.Accounts {
			booked := names(t, a)
			for name := range confirmed {
				if !booked[name] {
					t.Fatalf("round %d, unit %s: %s was confirmed, and is not booked", round, a.Unit, name)
				}
			}
		}
		if x, y := len(s.Accounts[0].Entries), len(s.Accounts[1].Entries); x != y {
			t.Fatalf("round %d: %d bookings of rows, %d of outputs", round, x, y)
		}
	}
	book(t, l, small("after"))
	left, err := filepath.Glob(filepath.Join(filepath.Dir(l.path), ".*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("files of killed processes are left: %v, %v", left, err)
	}
}

// mount makes a folder a file system in memory for the duration of a test.
func mount(t *testing.T, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append(append([]string{"-t", "tmpfs"}, options...), "tmpfs", dir)
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here (root only): %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := mount(t, "-o", "size=64k")
	l, err := Open(filepath.Join(dir, "budget.json"))
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	booked := 0
	for ; booked < 10000 && failed == nil; booked++ {
		failed = l.book(spend(1e-3, 1e-9, 1e-3), "")
	}
	booked--
	var file *FileError
	if !errors.As(failed, &file) || !errors.Is(failed, syscall.ENOSPC) {
		t.Fatalf("after %d bookings: %v", booked, failed)
	}
	s, err := l.Read()
	if err != nil || len(s.Accounts[0].Entries) != booked {
		t.Fatalf("%d bookings were confirmed: %+v, %v", booked, s, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	readOnly := func(t *testing.T, dir string) {
		if os.Getuid() != 0 {
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		} else if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
			t.Skipf("root writes everywhere, and nothing can be mounted read-only: %v %s", err, out)
		}
	}
	folder := func(t *testing.T) string {
		if os.Getuid() == 0 {
			return mount(t)
		}
		return t.TempDir()
	}
	for _, c := range []struct {
		name    string
		earlier int // bookings before the folder is read-only
	}{{"new ledger", 0}, {"old ledger", 2}} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t)
			l, err := Open(filepath.Join(dir, "budget.json"))
			if err != nil {
				t.Fatal(err)
			}
			for range c.earlier {
				book(t, l, spend(1e-3, 0, 0))
			}
			readOnly(t, dir)
			for what, err := range map[string]error{"Book": l.book(spend(1e-3, 0, 0), ""), "Check": l.Check()} {
				var file *FileError
				if !errors.As(err, &file) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if s, err := l.Read(); c.earlier > 0 && (err != nil || len(s.Accounts[0].Entries) != c.earlier) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

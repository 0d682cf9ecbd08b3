package crash

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"privkern/tests/program"
)

// fullPipe returns a pipe that nobody reads, and that takes nothing more.
func fullPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = read.Close()
		_ = write.Close()
	})
	block := bytes.Repeat([]byte("."), 1<<20)
	for n := 1; n > 0 && err == nil; { // as long as there is room
		if err = write.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err == nil {
			n, err = write.Write(block)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return read, write
}

// begin starts a program that writes into the end of a pipe, which is closed here.
func begin(t *testing.T, cmd *exec.Cmd, write *os.File) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
}

// Messages that nobody reads hold up neither the trials nor the end of a sweep, which one signal
// brings about.
func TestUnreadMessagesAndASignal(t *testing.T) {
	t.Parallel() // most of it waits
	// The sweep takes so long that it has not ended where this process waits for a processor.
	text := strings.Replace(program.Slow, "iterations: 300", "iterations: 10000", 1)
	out, command := program.SweepIn(t, t.TempDir(), text)
	cmd := command("--jobs", "1")
	_, write := fullPipe(t)
	cmd.Stderr = write
	begin(t, cmd, write)
	program.WaitFor(t, out, 3)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	program.ExitsWith(t, cmd.Wait(), nil, 130, "")
	if n := program.Finished(t, out); n < 3 || n == 24 {
		t.Errorf("%d records", n)
	}
}

// When they are read again, they go on.
func TestMessagesThatAreReadAgain(t *testing.T) {
	t.Parallel() // most of it waits
	out, command := program.NewSweep(t)
	cmd := command("--jobs", "1")
	read, write := fullPipe(t)
	cmd.Stderr = write
	begin(t, cmd, write)
	program.WaitFor(t, out, 3)
	text, err := io.ReadAll(read)
	if err = errors.Join(err, cmd.Wait()); err != nil || !strings.HasPrefix(strings.TrimLeft(string(text), "."),
		"24 trials on cpu\n") || !bytes.Contains(text, []byte("\n24 ok in ")) {
		t.Errorf("%v\n%s", err, bytes.TrimLeft(text, "."))
	}
}

// Neither does a terminal that is stopped hold up a sweep.
func TestStoppedTerminal(t *testing.T) {
	t.Parallel() // most of it waits
	out, _ := program.NewSweep(t)
	file, ended := filepath.Join(filepath.Dir(out), "sweep.yaml"), filepath.Join(filepath.Dir(out), "ended")
	// script reads no more of the terminal than it can hand on; yes fills the rest of the buffer.
	cmd := program.OnTerminal(t, 80, "yes >&2 & $RUN sweep '"+file+"' --out '"+out+"' > /dev/null; touch '"+ended+"'")
	_, write := fullPipe(t)
	cmd.Stdout = write
	begin(t, cmd, write)
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	program.WaitFor(t, out, 24)
	for range 12000 { // it writes until then
		if _, err := os.Stat(ended); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the sweep has its trials, and has not ended after two minutes")
}

// Where a reader is gone, its output ends and the sweep does not, which its log notes.
func TestReadersThatAreGone(t *testing.T) {
	t.Parallel() // most of it waits
	for _, c := range []struct {
		name   string
		stream func(cmd *exec.Cmd, to *os.File)
		note   string
	}{
		{"of messages", func(cmd *exec.Cmd, to *os.File) { cmd.Stderr = to }, "nobody reads standard error any more"},
		{"of results", func(cmd *exec.Cmd, to *os.File) { cmd.Stdout = to }, "nobody reads standard output any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, command := program.NewSweep(t)
			cmd := command("--jobs", "1")
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c.stream(cmd, write)
			if err := read.Close(); err != nil {
				t.Fatal(err)
			}
			begin(t, cmd, write)
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if n := program.Finished(t, out); n != 24 {
				t.Errorf("%d records", n)
			}
			if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
				t.Error(err)
			}
			log, err := os.ReadFile(filepath.Join(out, "log.jsonl"))
			if err != nil || bytes.Count(log, []byte(c.note)) != 1 || program.Events(t, out, "notice") != 1 {
				t.Errorf("%v\n%s", err, log)
			}
		})
	}
}

// A command that only prints ends where its reader is gone, with the status of SIGPIPE, and by one
// signal where he does not read.
func TestUnreadResults(t *testing.T) {
	t.Parallel() // most of it waits
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := program.Command(t, "list")
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	begin(t, cmd, write)
	if program.ExitsWith(t, cmd.Wait(), stderr.Bytes(), 141, ""); stderr.Len() > 0 {
		t.Errorf("%s", stderr.String())
	}

	_, write = fullPipe(t)
	cmd = program.Command(t, "trial", "privacygp/example1")
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	begin(t, cmd, write)
	if n, err := messages.Read(make([]byte, 1)); n != 1 || err != nil { // it has begun, and listens to signals
		t.Fatal(n, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	program.ExitsWith(t, cmd.Wait(), nil, 130, "")
}

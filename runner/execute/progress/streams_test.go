package progress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"privkern/runner/execute/progress"
)

// pipe returns a pipe whose ends are closed at the end of the test.
func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = read.Close()
		_ = write.Close()
	})
	return read, write
}

// Unread messages are not waited for: messages without room are dropped, and their
// number follows the kept ones, in their order. Later messages are read again.
func TestUnreadMessages(t *testing.T) {
	read, write := pipe(t)
	m := progress.NewMessages(write, 256<<10)
	m.Missing(func(n int) string { return fmt.Sprint("missing ", n) })
	const sent = 4000
	line := strings.Repeat("x", 500)
	for i := range sent {
		if n, err := fmt.Fprintf(m, "%d %s\n", i, line); err != nil || n < 500 {
			t.Fatal(n, err)
		}
	}
	m.Flush() // not for long
	m.Flush() // not again
	in := bufio.NewScanner(read)
	kept, last := 0, -1
	for kept < sent && in.Scan() && !strings.HasPrefix(in.Text(), "missing ") {
		number, rest, _ := strings.Cut(in.Text(), " ")
		i, err := strconv.Atoi(number)
		if err != nil || i <= last || rest != line {
			t.Fatalf("%q after message %d", in.Text(), last)
		}
		kept, last = kept+1, i
	}
	if want := fmt.Sprint("missing ", sent-kept); in.Text() != want || kept < 500 || kept == sent {
		t.Fatalf("after %d messages: %q, want %q", kept, in.Text(), want)
	}
	if _, err := fmt.Fprintln(m, "again"); err != nil || !in.Scan() || in.Text() != "again" {
		t.Errorf("%q, %v, %v", in.Text(), in.Err(), err)
	}
}

// Without a note of how many are missing, they are left out silently.
func TestUnreadMessagesWithoutANote(t *testing.T) {
	read, write := pipe(t)
	m := progress.NewMessages(write, 256<<10)
	for range 4000 {
		_, _ = fmt.Fprintln(m, strings.Repeat("x", 500))
	}
	kept := make(chan string)
	go func() {
		raw, _ := io.ReadAll(read)
		kept <- string(raw)
	}()
	m.Flush()
	_ = write.Close()
	// At least the messages up to the last one that fits are kept, and more if some are
	// written meanwhile.
	if text := <-kept; strings.Trim(text, "x\n") != "" || len(text) <= 256<<10-501 || len(text) > 2000*501 {
		t.Errorf("%d bytes: %.600q", len(text), text)
	}
}

// A message that is longer than all that may wait is no reason to drop it.
func TestLongMessage(t *testing.T) {
	read, write := pipe(t)
	m := progress.NewMessages(write, 10)
	const text = "a stack that is long\n"
	_, _ = io.WriteString(m, text)
	m.Flush()
	_ = write.Close()
	if got, err := io.ReadAll(read); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
}

// A reader who is gone costs nothing but the messages, with one notice.
func TestMessagesWithoutAReader(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("told late: %v", late), func(t *testing.T) {
			read, write := pipe(t)
			m := progress.NewMessages(write, 256<<10)
			gone := 0
			if !late {
				m.OnGone(func() { gone++ })
			}
			_ = read.Close()
			for range 3 {
				if _, err := fmt.Fprintln(m, "a message"); err != nil {
					t.Error(err)
				}
				m.Flush()
			}
			if late {
				m.OnGone(func() { gone++ })
				m.Flush()
			}
			if gone != 1 {
				t.Errorf("told %d times", gone)
			}
		})
	}
}

// Results stand behind the messages of before.
func TestResultsFollowMessages(t *testing.T) {
	read, write := pipe(t)
	m := progress.NewMessages(write, 256<<10)
	r := progress.NewResults(t.Context(), write, m)
	want := ""
	for i := range 20 {
		text := fmt.Sprintf("message %d\nresult %[1]d\n", i)
		want += text
		message, result, _ := strings.Cut(text, "\n")
		_, _ = fmt.Fprintln(m, message)
		if _, err := io.WriteString(r, result); err != nil {
			t.Fatal(err)
		}
	}
	_ = write.Close()
	if got, err := io.ReadAll(read); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// Where the reader of results is gone, a program that only prints ends, and one that has more to do
// goes on.
func TestResultsWithoutAReader(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		t.Run(fmt.Sprintf("goes on: %v", goesOn), func(t *testing.T) {
			read, write := pipe(t)
			r := progress.NewResults(t.Context(), write, progress.NewMessages(write, 256<<10))
			gone := 0
			if goesOn {
				r.OnGone(func() { gone++ })
			}
			_ = read.Close()
			for range 3 {
				n, err := io.WriteString(r, "a table")
				if goesOn && (n != 7 || err != nil || gone != 1) || !goesOn && !errors.Is(err, progress.ErrNoReader) {
					t.Errorf("%d, %v, told %d times", n, err, gone)
				}
			}
		})
	}
}

// An interruption ends a wait for the reader of results; without one he is waited for.
func TestInterruptedResults(t *testing.T) {
	read, write := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := progress.NewResults(ctx, write, progress.NewMessages(write, 256<<10))
	large := strings.Repeat("x", 1<<20)
	got := make(chan int)
	go func() {
		n, _ := io.ReadFull(read, make([]byte, len(large)))
		got <- n
	}()
	if n, err := io.WriteString(r, large); n != len(large) || err != nil || <-got != len(large) {
		t.Errorf("%d, %v", n, err)
	}
	cancel()
	if _, err := io.WriteString(r, large); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A note is a line of the log.
func TestNote(t *testing.T) {
	var log strings.Builder
	progress.Note(&log, "nobody reads")
	if text := log.String(); !strings.HasSuffix(text, `,"event":"notice","message":"nobody reads"}`+"\n") {
		t.Errorf("%q", text)
	}
}

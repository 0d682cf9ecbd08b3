//go:build linux && (amd64 || arm64)

package cuda

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/graphs/cuda/driver"
)

// compilerVariable makes the test binary a process that compiles: its value is the file to make. With the second
// variable it never ends the compilation.
const (
	compilerVariable = "PRIVKERN_TEST_COMPILED_FILE"
	hangVariable     = "PRIVKERN_TEST_COMPILATION_HANGS"
)

// size loads code as a number, that of its bytes.
func size(image []byte) (driver.Module, error) { return driver.Module(len(image)), nil }

// TestCompilingProcess is the body of the processes of the tests below, and tests nothing by itself.
func TestCompilingProcess(t *testing.T) {
	file := os.Getenv(compilerVariable)
	if file == "" {
		return
	}
	compile := func() ([]byte, error) {
		fmt.Println("compiles")
		if os.Getenv(hangVariable) != "" {
			_, err := io.Copy(io.Discard, os.Stdin) // until the process is killed
			return nil, err
		}
		busy, err := os.OpenFile(file+".busy", os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond) // so that others come meanwhile
		return []byte("code"), errors.Join(busy.Close(), os.Remove(busy.Name()))
	}
	m, err := (&compilation{file: file}).alone(compile, size)
	if err != nil || m != 4 {
		t.Errorf("module %d, %v", m, err)
	}
}

// compilingProcess starts one.
func compilingProcess(t *testing.T, file string, env ...string) (p *exec.Cmd, out *bufio.Reader, in io.Closer) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p = exec.Command(program, "-test.run=^TestCompilingProcess$")
	p.Env = append(append(os.Environ(), compilerVariable+"="+file), env...)
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, bufio.NewReader(stdout), stdin
}

// Of processes that need the same code at once one compiles.
func TestOneProcessCompiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuda", "code.bin")
	var said strings.Builder
	var wait []func() error
	for range 4 {
		p, out, _ := compilingProcess(t, file)
		wait = append(wait, func() error {
			text, err := io.ReadAll(out)
			said.Write(text)
			return errors.Join(err, p.Wait())
		})
	}
	for _, w := range wait {
		if err := w(); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(said.String(), "compiles"); n != 1 {
		t.Errorf("%d of 4 processes compile:\n%s", n, &said)
	}
}

// A process that is killed while it compiles leaves its turn to the next.
func TestCompilingProcessIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cuda", "code.bin")
	first, out, in := compilingProcess(t, file, hangVariable+"=1")
	defer in.Close()
	if line, err := out.ReadString('\n'); line != "compiles\n" {
		t.Fatalf("%q, %v", line, err)
	}
	second, after, _ := compilingProcess(t, file)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	text, err := io.ReadAll(after)
	if err = errors.Join(err, second.Wait()); err != nil || !strings.Contains(string(text), "compiles") {
		t.Errorf("%v:\n%s", err, text)
	}
	if string(readCache(file)) != "code" {
		t.Error("nothing is kept")
	}
}

// A file of the cache that is cut off, changed, or refused by the driver is made anew.
func TestTornFilesOfTheCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "code.bin")
	refuse := func(image []byte) (driver.Module, error) {
		if string(image) != "code" {
			return 0, driver.InvalidImage
		}
		return size(image)
	}
	good := []byte("code")
	for name, spoil := range map[string]func() error{
		"cut off":   func() error { return os.Truncate(file, 33) },
		"empty":     func() error { return os.Truncate(file, 0) },
		"refused":   func() error { return writeCache(file, []byte("other")) },
		"changed":   func() error { return os.WriteFile(file, []byte(strings.Repeat("x", 36)), 0o600) },
		"not there": func() error { return os.Remove(file) },
		"whole":     func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(writeCache(file, good), spoil()); err != nil {
				t.Fatal(err)
			}
			compiled := 0
			m, err := (&compilation{file: file}).alone(func() ([]byte, error) { compiled++; return good, nil }, refuse)
			if err != nil || m != 4 || string(readCache(file)) != "code" || compiled == 1 != (name != "whole") {
				t.Errorf("module %d, %v, %d compilations, %q kept", m, err, compiled, readCache(file))
			}
		})
	}
}

// A compilation that takes long is reported once in a process, and a short one never.
func TestNoticeOfCompilation(t *testing.T) {
	defer func(before time.Duration) { noticeAfter = before }(noticeAfter)
	said := make(chan string, 3)
	n := notice{say: func(text string) { said <- text }}
	noticeAfter = time.Hour
	n.begin("short")()
	noticeAfter = 0
	end := n.begin("long")
	if text := <-said; text != "long" {
		t.Errorf("got %q", text)
	}
	end()
	n.begin("again")()
	if n.say != nil || len(said) > 0 {
		t.Errorf("there is another notice: %q", <-said)
	}
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"privkern/runner/experiment"
)

// Variables of the environment of a program.
const (
	seedVariable    = "PRIVKERN_SEED"
	backendVariable = "PRIVKERN_BACKEND"
	dtypeVariable   = "PRIVKERN_DTYPE"
	workersVariable = "PRIVKERN_WORKERS"
	scratchVariable = "PRIVKERN_SCRATCH"
)

// threadLimits are the variables by which libraries limit their threads.
var threadLimits = []string{workersVariable, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}

const (
	// maxWords bounds the standard error that is kept for the log of a failed trial.
	maxWords = 64 << 10
	// outputGrace is how long output is awaited after the end of a program.
	outputGrace = time.Second
)

// failure is the error of a program that ended without a result.
type failure struct{ reason, output string }

func (f *failure) Error() string { return f.reason }

// Detail is the end of the program's standard error.
func (f *failure) Detail() string { return f.output }

// ended is the end of a program by a signal from outside, which is no result.
type ended struct{ reason string }

func (e *ended) Error() string { return e.reason }

// MachineAdvice makes the end the machine's doing.
func (e *ended) MachineAdvice() string {
	return "run fewer trials at a time (--jobs 1), raise the limit on memory, or use a smaller setting"
}

// run computes a trial: it runs the program and reads its result.
func run(ctx context.Context, t *experiment.Trial, p experiment.Params) (*experiment.Result, error) {
	d, err := Of(p)
	if err != nil {
		return nil, err
	}
	if t.Folder == "" {
		return nil, errors.New("a program runs in the folder of its sweep file, by run sweep or run work")
	}
	files := datasets(p)
	if err := unchanged(t, files); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "privkern-")
	if err != nil {
		return nil, fmt.Errorf("no scratch folder can be made: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	process, err := newProcess(d, t, p, scratch)
	if err != nil {
		return nil, err
	}
	if err := process.run(ctx); err != nil {
		return nil, err
	}
	t.Spent.Add(process.usage())
	if err := process.failure(); err != nil {
		return nil, err
	}
	result, err := process.result(d, scratch)
	if err != nil {
		return nil, &failure{fmt.Sprintf("%s: %v", process.name, err), string(process.errors.kept)}
	}
	if err := unchanged(t, files); err != nil {
		return nil, err
	}
	if process.left > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%s left processes behind, which were killed", process.name))
	}
	return result, nil
}

// process is a program that runs for one trial.
type process struct {
	name   string // of the program, for messages
	cmd    *exec.Cmd
	input  []byte // for its standard input; nil for none
	output tail
	errors tail
	left   int // processes that it left behind
}

// newProcess prepares the program with the values of a trial.
func newProcess(d *Definition, t *experiment.Trial, p experiment.Params, scratch string) (*process, error) {
	values := texts(p)
	values["seed"], values["backend"] = strconv.FormatInt(t.Seed, 10), t.Backend
	values["workers"], values["scratch"] = strconv.Itoa(t.Workers), scratch
	args := make([]string, len(d.Command))
	for i, text := range d.Command {
		var err error
		if args[i], err = Fill(text, values); err != nil {
			return nil, err
		}
	}
	out := &process{name: d.Label(), cmd: exec.Command(args[0], args[1:]...),
		output: tail{limit: maxResult}, errors: tail{limit: maxWords}}
	out.cmd.Dir, out.cmd.Env = t.Folder, environment(t, scratch)
	out.cmd.SysProcAttr = endWithParent()
	if d.Stdin == StdinJSON {
		var err error
		if out.input, err = settingsJSON(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Label names a program for messages: by its first file, such as the script of an
// interpreter, or by itself.
func (d *Definition) Label() string {
	if len(d.Files) > 0 {
		return filepath.Base(d.Files[0])
	}
	return filepath.Base(d.Command[0])
}

// environment returns the variables of a trial's program.
func environment(t *experiment.Trial, scratch string) []string {
	env := append(os.Environ(), seedVariable+"="+strconv.FormatInt(t.Seed, 10), backendVariable+"="+t.Backend,
		dtypeVariable+"="+t.DType, scratchVariable+"="+scratch)
	for _, name := range threadLimits {
		env = append(env, name+"="+strconv.Itoa(t.Workers))
	}
	// A worker has one of the devices, by its number among those that are visible.
	if device := os.Getenv("PRIVKERN_DEVICE"); device != "" && t.Backend == "cuda" {
		visible := strings.Split(os.Getenv("CUDA_VISIBLE_DEVICES"), ",")
		if n, err := strconv.Atoi(device); err == nil && n < len(visible) && visible[0] != "" {
			device = visible[n]
		}
		env = append(env, "CUDA_VISIBLE_DEVICES="+device)
	}
	return env
}

// run runs the program to its end, with all that it has started. The error is that of a
// program that cannot be started, or of ctx, whose end kills it.
func (p *process) run(ctx context.Context) error {
	adoptOrphans()
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", p.name, err)
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("%s cannot be started: %w", p.name, err), outRead.Close(), outWrite.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr = outWrite, errWrite
	var in io.WriteCloser
	if p.input != nil {
		in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	_, _ = outWrite.Close(), errWrite.Close() // the program has its own
	defer func() { _, _ = outRead.Close(), errRead.Close() }()
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", p.name, err)
	}
	if in != nil {
		go func() {
			_, _ = in.Write(p.input) // a program need not read it
			_ = in.Close()
		}()
	}
	read := make(chan struct{}, 2)
	for _, stream := range []struct {
		to   *tail
		from *os.File
	}{{&p.output, outRead}, {&p.errors, errRead}} {
		go func() {
			_, _ = io.Copy(stream.to, stream.from)
			read <- struct{}{}
		}()
	}
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	p.cmd.ProcessState, err = p.cmd.Process.Wait()
	stop()
	p.left = endLeft()
	if in != nil {
		_ = in.Close()
	}
	await(read, outRead, errRead)
	return errors.Join(ctx.Err(), err)
}

// await waits until both streams are read. A process that holds one, and could not be
// ended, is not waited for.
func await(read <-chan struct{}, streams ...*os.File) {
	late := time.AfterFunc(outputGrace, func() {
		for _, s := range streams {
			_ = s.Close()
		}
	})
	defer late.Stop()
	for range streams {
		<-read
	}
}

// failure returns why the program has no result by its exit; nil for status 0.
func (p *process) failure() error {
	state := p.cmd.ProcessState
	if state.Success() {
		return nil
	}
	if by := outsideSignal(state); by != "" {
		return &ended{fmt.Sprintf("%s was ended from outside (%s)", p.name, by)}
	}
	how := fmt.Sprintf("%s ended with %v", p.name, state)
	words := p.errors.kept
	if lastWords(words) == "" {
		words = p.output.kept[max(0, len(p.output.kept)-maxWords):]
	}
	if last := lastWords(words); last != "" {
		how += fmt.Sprintf(": %.400s", last)
	}
	return &failure{how, string(words)}
}

// result reads the result of a program that ended well.
func (p *process) result(d *Definition, scratch string) (*experiment.Result, error) {
	text, where := p.output.kept, "standard output"
	dropped := p.output.dropped
	if d.Output != "" {
		where = d.Output
		f, err := os.Open(filepath.Join(scratch, filepath.FromSlash(d.Output)))
		if err != nil {
			return nil, fmt.Errorf("it did not write %s into its scratch folder (%s): %w", d.Output, scratchVariable, err)
		}
		defer func() { _ = f.Close() }()
		text, err = io.ReadAll(io.LimitReader(f, maxResult+1))
		if err != nil {
			return nil, err
		}
		if len(text) > maxResult {
			return nil, fmt.Errorf("%s has more than %d MiB", d.Output, maxResult>>20)
		}
		if whole := strings.TrimSpace(string(text)); strings.HasPrefix(whole, "{") && strings.HasSuffix(whole, "}") {
			if result, err := readResult([]byte(whole)); err == nil { // on one line or several
				return result, nil
			}
		}
	}
	object := lastObject(text)
	switch {
	case object == nil && dropped:
		return nil, fmt.Errorf("there is no line of JSON in the last %d MiB of %s", maxResult>>20, where)
	case object == nil:
		return nil, p.nothing(where)
	}
	return readResult(object)
}

// nothing is the error of a program that printed no result.
func (p *process) nothing(where string) error {
	said := ""
	if last := lastWords(p.errors.kept); last != "" {
		said = fmt.Sprintf("; its last line on standard error: %.300s", last)
	}
	return fmt.Errorf(`there is no line of JSON on %s, such as {"metrics": {"loss": 0.5}}%s`, where, said)
}

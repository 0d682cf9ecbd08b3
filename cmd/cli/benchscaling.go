package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privkern/experiments"
	"privkern/runner/execute/bench/curves"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/plot"
	"privkern/runner/store/disk"
)

// scalingFlags are the flags of run bench scaling.
type scalingFlags struct {
	out, table, python string
	methods            []string
	limit              time.Duration
	seed               uint64
	quick, noPeers     bool
}

func (a *app) scalingCommand() *cobra.Command {
	f := new(scalingFlags)
	cmd := &cobra.Command{
		Use:   "scaling",
		Short: "Measure how time and memory of each method grow with its data",
		Long: `Measure the processor time and the peak memory of every method for your own
data, on simulated data of growing sizes: 100 to 100,000 rows, 1 to 1,000
inputs, and 1 to 1,000 of a method's own number, such as its inducing inputs.
Each measurement is a process of its own on one core. Sizes grow until the time
of --limit is used up, or one is refused. All of it takes about a quarter of an
hour.

The page scaling.md, its picture scaling.svg and the measurements scaling.csv go
to the folder --out, which --quick and --methods require. Costs are fitted by
fixed + scale * size^exponent. Where a python3 of PATH has scikit-learn, similar
methods of it are measured, too; without it the page says so.

scaling.csv has each measurement as soon as it is made: an interrupted command
goes on with those that the same revision made on the same processor. --table
writes the laws to a file, from which the next build predicts in run list NAME
and run trial: runner/execute/bench/curves/costs.json of the source.

The exit status is 130 when interrupted, and 1 where a file cannot be written or
is of another kind.`,
		Example: `  run bench scaling
  run bench scaling --methods dpgp,cloaking/regression --limit 60s -o page
  run bench scaling --quick --out quick
  run bench scaling --table runner/execute/bench/curves/costs.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "out", "table"); err != nil {
				return err
			}
			switch {
			case f.limit <= 0:
				return usagef("--limit is %v; it is a time such as 20s", f.limit)
			case f.quick && f.table != "":
				return usagef("--quick and --table exclude each other: a few small sizes predict no others")
			case (f.quick || len(f.methods) > 0) && !cmd.Flags().Changed("out"):
				return usagef("the page of some sizes or methods would replace that of all in %s: name another folder, --out",
					f.out)
			case f.noPeers && f.python != "":
				return usagef("--peers and --no-peers exclude each other")
			}
			return a.scaling(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "results", "folder of page and measurements")
	flags.StringVar(&f.table, "table", "", "write the laws to this `FILE`, too (default: nowhere)")
	flags.StringSliceVar(&f.methods, "methods", nil, "names of methods, or how they begin (default: all)")
	flags.DurationVar(&f.limit, "limit", 20*time.Second, "processor time of a method, all sizes")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the simulated data")
	flags.BoolVar(&f.quick, "quick", false, "few small sizes, by default of two methods")
	flags.StringVar(&f.python, "peers", "", "the `PYTHON` with scikit-learn (default: python3)")
	flags.BoolVar(&f.noPeers, "no-peers", false, "measure no peers")
	return cmd
}

// quickMethods are those that --quick measures.
var quickMethods = []string{"dpgp/regression", "baseline/class-means"}

// scalingCases are the selected cases.
func (f *scalingFlags) scalingCases() ([]experiments.ScalingCase, error) {
	all := experiments.ScalingCases()
	wanted := f.methods
	if len(wanted) == 0 && f.quick {
		wanted = quickMethods
	}
	if len(wanted) == 0 {
		return all, nil
	}
	var names []string
	used := map[string]bool{}
	out := slices.DeleteFunc(slices.Clone(all), func(c experiments.ScalingCase) bool {
		names = append(names, c.Experiment)
		selected := false
		for _, w := range wanted {
			if strings.HasPrefix(c.Name(), w) {
				selected, used[w] = true, true
			}
		}
		return !selected
	})
	for _, w := range wanted {
		if !used[w] {
			return nil, experiment.Unknown("method", w, names)
		}
	}
	return out, nil
}

// scaling measures, and writes the page.
func (a *app) scaling(ctx context.Context, f *scalingFlags) (err error) {
	cases, err := f.scalingCases()
	if err != nil {
		return usageError{err}
	}
	if err := disk.MakeFolder(a.Disk, f.out, 0o777); err != nil {
		return err
	}
	h := host("")
	by, err := measuredBy(h, f.seed)
	if err != nil {
		return err
	}
	log, err := curves.OpenLog(filepath.Join(f.out, "scaling.csv"), by)
	if err != nil {
		return err
	}
	if log.LeftOut > 0 {
		a.say("%s: lines that are torn, or of another revision, seed or processor, are left out: %d", log.Path, log.LeftOut)
	}
	temporary, err := os.MkdirTemp("", "privkern-scaling-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	page := &curves.Page{Limit: curves.Seconds(f.limit.Seconds()), Peers: "none were asked for"}
	var python *curves.Python
	if !f.noPeers {
		python, err = curves.FindPython(ctx, f.python)
		switch {
		case errors.Is(err, curves.ErrAbsent):
			page.Peers = "none: " + err.Error()
			a.say("peers: %s", page.Peers)
		case err != nil:
			return err
		default:
			page.Peers = python.Libraries + ", with as many fits as a trial, less the time of imports"
		}
	}
	s := scaled{data: temporary, seed: f.seed, python: python}
	page.Subjects = s.subjects(cases)
	a.say("%s, revision %s", h.CPU, h.Revision)
	err = curves.Run(ctx, page.Subjects, log, curves.Options{Limit: f.limit, Quick: f.quick, Say: a.say})
	if err != nil {
		a.say("what is measured is in %s; the same command goes on with it", log.Path)
		return err
	}
	page.Log, page.Costs = log, curves.FitAll(log, h.CPU, h.Revision)
	return a.writeScaling(f, page)
}

// measuredBy tells this program on this machine from others, by its digest where its revision is not known or changed.
func measuredBy(h record.Provenance, seed uint64) (string, error) {
	revision := h.Revision
	if revision == "unknown" || strings.HasSuffix(revision, "-dirty") {
		path, err := os.Executable()
		if err != nil {
			return "", err
		}
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		digest := sha256.New() // of a stream: the peak of a process that is started has the memory of this one
		_, err = io.Copy(digest, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		revision += fmt.Sprintf(" %x", digest.Sum(nil)[:6])
	}
	return fmt.Sprintf("revision %s, seed %d, %s", revision, seed, h.CPU), nil
}

// writeScaling writes the files, the measurements last, as they are those that an interrupted command needs.
func (a *app) writeScaling(f *scalingFlags, page *curves.Page) error {
	var picture bytes.Buffer
	err := plot.SVG(&picture, page.Panels(), plot.Options{Title: "Time and memory by size",
		Description: "Processor time and peak memory of methods by the size of their data, on logarithmic axes."})
	if err != nil {
		return err
	}
	costs, err := page.Encode()
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path    string
		content []byte
	}{{filepath.Join(f.out, "scaling.svg"), picture.Bytes()}, {filepath.Join(f.out, "scaling.md"), page.Markdown()},
		{f.table, costs}, {page.Path, page.CSV()}} {
		if file.path == "" {
			continue
		}
		if err := disk.WriteFile(a.Disk, file.path, file.content); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(a.out, file.path)
	}
	return nil
}

// scaled makes the processes that are measured.
type scaled struct {
	data   string // folder of simulated data
	seed   uint64
	python *curves.Python // nil for none
}

// subjects are the cases, each followed by its peer.
func (s scaled) subjects(cases []experiments.ScalingCase) (out []curves.Subject) {
	for _, c := range cases {
		out = append(out, curves.Subject{Name: c.Name(), Family: c.Family, Inner: c.Inner,
			Command: func(ctx context.Context, size curves.Size) (*exec.Cmd, error) {
				program, err := os.Executable()
				if err != nil {
					return nil, err
				}
				file, err := s.file(c, size)
				cmd := exec.CommandContext(ctx, program, append([]string{"trial", c.Experiment, "--backend", "cpu", "--quiet"},
					c.Arguments(file, size.Inner)...)...)
				cmd.Env = append(cmd.Environ(), "GOMAXPROCS=1")
				return cmd, err
			}})
		if c.Peer != "" && s.python != nil {
			out = append(out, curves.Subject{Name: "scikit-learn " + c.Peer, Family: c.Family, Peer: true,
				Command: func(ctx context.Context, size curves.Size) (*exec.Cmd, error) {
					file, err := s.file(c, size)
					return s.python.Work(ctx, c.Peer, file, c.Fits), err
				}})
		}
	}
	return out
}

// file writes simulated data, unless they are there.
func (s scaled) file(c experiments.ScalingCase, size curves.Size) (string, error) {
	path := filepath.Join(s.data, fmt.Sprintf("%s-%dx%d.csv", c.Data, size.Rows, size.Inputs))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	return path, errors.Join(experiments.WriteScalingData(f, c.Data, s.seed, size.Rows, size.Inputs), f.Close())
}

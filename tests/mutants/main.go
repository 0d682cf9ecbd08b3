// Command mutants changes the most important lines of the product one at a time,
// and looks whether a test dies of it. A mutant that survives is a line that
// nothing holds.
//
//	go run ./tests/mutants               those whose file or tests have changed since they were seen to die
//	go run ./tests/mutants --all         all
//	go run ./tests/mutants kernel        those with the word in their name
//	go run ./tests/mutants --all --keep  writes down which were seen to die
//
//	go run ./tests/mutants --propose 50 --seed 7 ./graphs/hull ./runner/store,./runner
//
// tries 50 mutations of lines of these packages that are not on the list, on the
// tests of the package and of those after commas, and prints those that survive.
//
// It is run in the root of the repository, and changes no file of it: the go
// command gets each mutant as an overlay. Mutants of device code need
// the build with CUDA and the simulator, as .ci/cuda has them (--simulator).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

type options struct {
	all, keep bool
	simulator string // folder of the simulated driver; "" for the host's mutants
	words     []string
	propose   int // how many mutations that are not on the list; 0 for those on it
	seed      uint64
}

func main() {
	var o options
	flag.BoolVar(&o.all, "all", false, "also those that were seen to die at this text")
	flag.BoolVar(&o.keep, "keep", false, "write down in "+seenFile+" what was seen")
	flag.StringVar(&o.simulator, "simulator", "",
		"run the mutants of the device, with the simulated driver of this folder")
	flag.IntVar(&o.propose, "propose", 0, "try this many mutations of the packages that are named instead")
	flag.Uint64Var(&o.seed, "seed", 1, "which of them")
	flag.Parse()
	o.words = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	work := run
	if o.propose > 0 {
		work = propose
	}
	survived, err := work(ctx, os.Stdout, o)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case survived > 0:
		os.Exit(1)
	}
}

// run reports on the chosen mutants and returns how many survived.
func run(ctx context.Context, out io.Writer, o options) (survived int, err error) {
	kept, err := readSeen(seenFile)
	if err != nil {
		return 0, err
	}
	var chosen []Mutant
	unchanged := 0
	for _, m := range mutants {
		if m.Device != (o.simulator != "") || !m.named(o.words) {
			continue
		}
		text, err := m.fingerprint(".")
		if err != nil {
			return 0, err
		}
		if !o.all && kept[m.Name] == text {
			unchanged++
			continue
		}
		chosen = append(chosen, m)
	}
	t := &tester{simulator: o.simulator, limit: limit}
	if err := t.baseline(ctx, chosen); err != nil {
		return 0, err
	}
	for m, found := range t.outcomes(ctx, chosen) {
		if ctx.Err() != nil {
			return survived, ctx.Err()
		}
		if found.by == "" {
			survived++
			delete(kept, m.Name)
			fmt.Fprintf(out, "SURVIVED  %s: %s in %s\n", m.Name, oneLine(m.New), m.File)
			if found.err != nil {
				fmt.Fprintf(out, "%v\n", found.err)
			}
			continue
		}
		fmt.Fprintf(out, "%4.0f s  %s: %s\n", found.took.Seconds(), m.Name, found.by)
		if kept[m.Name], err = m.fingerprint("."); err != nil {
			return survived, err
		}
	}
	fmt.Fprintf(out, "%d mutants died, %d survived; %d are unchanged since they died\n",
		len(chosen)-survived, survived, unchanged)
	if o.keep {
		return survived, writeSeen(seenFile, kept)
	}
	return survived, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Command tally reads what `go test -json` reports, for .ci/run.
//
//	tally step [-run NAMES] FILE    prints a run in short; fails where nothing was tested
//	tally unchecked FILE...         lists what was skipped in one run and passed in none
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := tally(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: tally step [-run NAMES] FILE, or tally unchecked FILE and more")

func tally(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	run := flags.String("run", "", "names of tests, with | between them, of which each must be there")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	var runs []*events
	for _, path := range flags.Args() {
		e, err := readFile(path)
		if err != nil {
			return err
		}
		runs = append(runs, e)
	}
	switch {
	case args[0] == "step" && len(runs) == 1:
		return step(out, *run, runs[0])
	case args[0] == "unchecked":
		for _, line := range unchecked(runs) {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
		return nil
	}
	return errUsage
}

// Command tally reads the reports of `go test -json`, for the gate and the night.
//
//	tally step [-run NAMES] FILE    prints a run in short; fails where nothing was tested
//	tally unchecked FILE...         lists the tests that were skipped in one run and passed in none
//	tally again REASON FILE...      prints, as arguments of go test after -run, the tests skipped for a reason
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := tally(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: tally step [-run NAMES] FILE, tally unchecked FILE..., " +
	"or tally again REASON FILE..., of events")

func tally(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	run := flags.String("run", "", "names of tests, with | between them, of which each must be there")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	files, reason := flags.Args(), ""
	if args[0] == "again" && len(files) > 0 {
		reason, files = files[0], files[1:]
	}
	var runs []*events
	for _, path := range files {
		e, err := readFile(path)
		if err != nil {
			return err
		}
		runs = append(runs, e)
	}
	switch {
	case args[0] == "step" && len(runs) == 1:
		return step(out, *run, runs[0])
	case args[0] == "again" && reason != "":
		names, packages, err := again(reason, runs)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, strings.Join(names, "|"), strings.Join(packages, " "))
		return err
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

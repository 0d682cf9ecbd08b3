// Command generate writes the third-party notices of the program: for every
// module that one of its builds links, name, version, SPDX identifier and the
// texts of its licences, read from the module cache. A text that is not
// recognised, or whose licence is not among the allowed ones, is an error.
//
//	go generate ./cmd/cli/notices     writes third-party.txt
//	go run ./cmd/cli/notices/generate prints it
//
// With -spdx it prints a bill of materials of a release instead, in the JSON of SPDX 2.3.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
)

func main() {
	var r release
	spdx := flag.Bool("spdx", false, "write a bill of materials")
	flag.StringVar(&r.version, "version", "", "with -spdx: the version of the release")
	flag.StringVar(&r.revision, "revision", "", "with -spdx: its commit")
	flag.StringVar(&r.created, "created", "", "with -spdx: the date of the commit, RFC 3339")
	flag.Parse()
	var err error
	if *spdx {
		err = r.check()
	}
	if err == nil {
		err = generate(flag.Args(), *spdx, r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// generate writes the notices, or the bill of materials of a release, to the file that args names, or to standard
// output.
func generate(args []string, spdx bool, r release) error {
	if len(args) > 1 {
		return fmt.Errorf("one file is written, not %d", len(args))
	}
	works, err := linked("privkern/cmd/run", builds)
	if err != nil {
		return err
	}
	var document bytes.Buffer
	if spdx {
		err = writeSPDX(&document, works, r)
	} else {
		err = write(&document, works)
	}
	if err != nil {
		return err
	}
	if len(args) == 0 {
		_, err = os.Stdout.Write(document.Bytes())
		return err
	}
	return os.WriteFile(args[0], document.Bytes(), 0o644)
}

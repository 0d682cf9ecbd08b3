// Command generate writes the third-party notices of the program: for every
// module that one of its builds links, name, version, SPDX identifier and the
// texts of its licences, read from the module cache. A text that is not
// recognised, or whose licence is not among the allowed ones, is an error.
//
//	go generate ./cmd/run/notices     writes third-party.txt
//	go run ./cmd/run/notices/generate prints it
package main

import (
	"bytes"
	"fmt"
	"os"
)

func main() {
	if err := generate(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// generate writes the notices to the file that args names, or to standard output.
func generate(args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("one file is written, not %d", len(args))
	}
	works, err := linked("privkern/cmd/run", builds)
	if err != nil {
		return err
	}
	var document bytes.Buffer
	if err := write(&document, works); err != nil {
		return err
	}
	if len(args) == 0 {
		_, err = os.Stdout.Write(document.Bytes())
		return err
	}
	return os.WriteFile(args[0], document.Bytes(), 0o644)
}

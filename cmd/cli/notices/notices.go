// Package notices holds the licences of the program and of everything that is
// linked or embedded into it, of all its builds: the notices that have to go
// with a copy of the binary.
package notices

import _ "embed"

//go:generate go run ./generate third-party.txt

// Text is the document: the modules with their versions and SPDX identifiers, the
// credits that licences ask for, and every licence text once.
//
//go:embed third-party.txt
var Text string

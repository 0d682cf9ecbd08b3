package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// text is a licence text of a work.
type text struct {
	file string   // in the work's folder
	ids  []string // SPDX identifiers of the licences in it; none if it concerns nothing that is linked
	body string
}

// allowed are the licences under which something may be linked: the permissive ones
// that ask for no more than a copy of their text and a credit. Others, such as the
// GPL and the AGPL, would bind who passes the program on, and are refused.
var allowed = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC-BY-4.0", "CC0-1.0", "ISC",
	"LicenseRef-Bogaert", patents, "MIT", "OFL-1.1", "SunPro", "Unlicense", "Zlib",
}

// patents names the grant that goes with Go's own modules, which SPDX has no identifier
// for and the scanner another.
const patents = "LicenseRef-Google-Patents"

// credits are the acknowledgements that a licence asks for, in addition to its text.
var credits = map[string]string{
	"github.com/ajstarks/svgo": `"svgo", copyright Anthony Starks, https://github.com/ajstarks/svgo, is licensed under ` +
		`the Creative
Commons Attribution 4.0 International licence, https://creativecommons.org/licenses/by/4.0/, which
disclaims all warranties in its section 5. It is linked as it was published, without changes.`,
}

// asksForCredit are the licences that do.
var asksForCredit = []string{"CC-BY-4.0"}

// A judgement is a person's reading of a text that the scanner does not recognise,
// or in which it finds licences that do not concern the program. It holds for one text:
// an update that changes it is to be read again.
type judgement struct {
	digest string // SHA-256 of the text, in hexadecimal
	ids    []string
	why    string
}

var judged = map[string]judgement{
	"github.com/ajstarks/svgo/LICENSE-link.txt": {
		"faef26bb83b741b22eed4593980048f1607bdc679232ca9635ccf505cf2abe77", []string{"CC-BY-4.0"},
		"a sentence that names the licence",
	},
	"github.com/apache/arrow/go/arrow/LICENSE.txt": {
		"b9bb118a7b522be9463470835c0a50451255b4e8dd350465c366a1656128f622", []string{"Apache-2.0", "BSD-3-Clause"},
		"the text of all of Arrow; beside its own licence, that of the Go project alone concerns the module",
	},
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Bogaert-LICENSE": {
		"19912b29acb89536920c5bac54feb6a3da6c6989b35b7878f38728fbdb4c1535", []string{"LicenseRef-Bogaert"},
		"a copyright and a disclaimer without a condition",
	},
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/MT19937-64-LICENSE": {
		"c9c37150f4da119e5bacf333f091e7b266bab7b86ec69fa447588fc6cdfd7b61", []string{"BSD-3-Clause"},
		"with references and addresses around it",
	},
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Sun-LICENSE": {
		"1fad26590385d93b00c0d91989ee71cd1c91c74a126485f1b4f0bb44f7a32354", []string{"SunPro"},
		"the notice of SunPro's mathematical library",
	},
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/W3C-TestSuite-LICENSE": {
		"aa82ad47b727abeada5eeb819a984f2843ba7c9b57da2c9d54fac6e58531b2d4", nil,
		"the terms of test data that are not linked",
	},
}

// recognised is the part of a text, in per cent of its words, that must belong to
// licences that the scanner knows; the rest is names, headings and addresses.
const recognised = 75

// identify returns the licences that a text holds.
func identify(work, file string, raw []byte) (text, error) {
	t := text{file: file, body: strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", "\n"))}
	place := work + "/" + file
	if j, found := judged[place]; found {
		if digest := sha256.Sum256(raw); j.digest != hex.EncodeToString(digest[:]) {
			return t, fmt.Errorf("%s is not the text any more that was judged (%s): read it and renew its entry; "+
				"its SHA-256 is %x", place, j.why, digest)
		}
		t.ids = j.ids
	} else {
		cover := licensecheck.Scan(raw)
		if cover.Percent < recognised {
			return t, fmt.Errorf("%s is recognised as a licence only by %.0f per cent: read it and give it an entry "+
				"among the judged texts", place, cover.Percent)
		}
		for _, m := range cover.Match {
			if m.ID == "GooglePatentsFile" {
				m.ID = patents
			}
			t.ids = append(t.ids, m.ID)
		}
		slices.Sort(t.ids)
		t.ids = slices.Compact(t.ids)
	}
	for _, id := range t.ids {
		if !slices.Contains(allowed, id) {
			return t, fmt.Errorf("%s is under %s, which is not among the allowed licences (%s)", place, id,
				strings.Join(allowed, ", "))
		}
		if slices.Contains(asksForCredit, id) && credits[work] == "" {
			return t, fmt.Errorf("%s is under %s, which asks for a credit: write one for %s", place, id, work)
		}
	}
	return t, nil
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const mit = `MIT License

Copyright (c) 2020 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

const agpl = `Copyright (c) 2020 Somebody

This program is free software: you can redistribute it and/or modify
it under the terms of the GNU Affero General Public License as
published by the Free Software Foundation, either version 3 of the
License, or (at your option) any later version.

This program is distributed in the hope that it will be useful,
but WITHOUT ANY WARRANTY; without even the implied warranty of
MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the
GNU Affero General Public License for more details.

You should have received a copy of the GNU Affero General Public License
along with this program.  If not, see <https://www.gnu.org/licenses/>.
`

func TestIdentify(t *testing.T) {
	for _, row := range []struct {
		name, work, file, text string
		ids, problem           string
	}{
		{name: "permissive", work: "example.org/a", file: "LICENSE", text: mit, ids: "MIT"},
		{name: "carriage returns", work: "example.org/a", file: "LICENSE", text: strings.ReplaceAll(mit, "\n", "\r\n"),
			ids: "MIT"},
		{name: "not allowed", work: "example.org/a", file: "COPYING", text: agpl,
			problem: "is under AGPL-3.0-or-later, which is not among the allowed"},
		{name: "one of two not allowed", work: "example.org/a", file: "LICENSE", text: mit + agpl,
			problem: "is under AGPL-3.0-or-later"},
		{name: "no licence", work: "example.org/a", file: "LICENSE", text: "All rights reserved, and ask before use.",
			problem: "recognised as a licence only by 0 per cent"},
		{name: "empty", work: "example.org/a", file: "LICENSE", problem: "only by 0 per cent"},
		{
			name: "asks for a credit", work: "example.org/a", file: "LICENSE",
			problem: "is under CC-BY-4.0, which asks for a credit",
			text:    "https://creativecommons.org/licenses/by/4.0/",
		},
		{name: "changed since it was judged", work: "gonum.org/v1/gonum", file: "THIRD_PARTY_LICENSES/Sun-LICENSE", text: mit,
			problem: "not the text any more"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := identify(row.work, row.file, []byte(row.text))
			if row.problem != "" {
				if err == nil || !strings.Contains(err.Error(), row.problem) {
					t.Fatalf("licences %v, error %v; want an error with %q", got.ids, err, row.problem)
				}
				return
			}
			if err != nil || strings.Join(got.ids, ",") != row.ids {
				t.Errorf("licences %v, error %v; want %s", got.ids, err, row.ids)
			}
			if strings.Contains(got.body, "\r") {
				t.Error("the text keeps its carriage returns")
			}
		})
	}
}

// TestTextsIn finds files that are named like licences, in a folder and in its folders of
// licences, and no others.
func TestTextsIn(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"LICENSE", "LICENCE.md", "copying.txt", "license.go", "README", "licenses/own.txt",
		"testdata/LICENSE", "inner/LICENSE"} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(mit), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ dir, want string }{
		{".", "LICENCE.md LICENSE copying.txt licenses/own.txt"},
		{"inner", "inner/LICENSE"},
	} {
		t.Run(row.dir, func(t *testing.T) {
			texts, err := textsIn("example.org/a", root, filepath.Join(root, row.dir))
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, text := range texts {
				files = append(files, text.file)
			}
			if got := strings.Join(files, " "); got != row.want {
				t.Errorf("found %s, want %s", got, row.want)
			}
		})
	}
}

// TestWriteOnce prints a text that two works share a single time, for both.
func TestWriteOnce(t *testing.T) {
	other := strings.ReplaceAll(mit, "Somebody", "Somebody Else")
	var out strings.Builder
	err := write(&out, []work{
		{name: "example.org/a", version: "v1.0.0", texts: []text{{file: "LICENSE", ids: []string{"MIT"}, body: mit}}},
		{name: "example.org/b", version: "v2.0.0", texts: []text{{file: "LICENSE", ids: []string{"MIT"}, body: mit}}},
		{name: "example.org/c", version: "v3.0.0", texts: []text{{file: "LICENSE", ids: []string{"MIT"}, body: other}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		"Permission is hereby granted":                              2,
		"[1] MIT\n    of example.org/a\n       example.org/b\n":     1,
		"[2] MIT\n    of example.org/c\n":                           1,
		"example.org/b  v2.0.0  MIT  [1]\n":                         1,
		"The program `run` is part of privkern, which is licensed ": 1,
	} {
		t.Run(text, func(t *testing.T) {
			if n := strings.Count(out.String(), text); n != times {
				t.Errorf("%q is there %d times, want %d:\n%s", text, n, times, &out)
			}
		})
	}
}

// A bill of materials has the program and each module, with licences and relations by identifiers that exist.
func TestSPDX(t *testing.T) {
	works := []work{
		{name: program, texts: []text{{ids: []string{"Apache-2.0"}}}},
		{name: library, texts: []text{{ids: []string{"BSD-3-Clause"}}, {ids: []string{"LicenseRef-X"}, body: "patents"}}},
		{name: "example.org/a_b/v2", version: "v2.1.0",
			texts: []text{{ids: []string{"MIT", "BSD-2-Clause"}}, {ids: []string{"MIT"}}}},
	}
	r := release{version: "1.2.0", revision: "0123abcd", created: "2026-02-03T04:05:06+02:00"}
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	for _, b := range []*bytes.Buffer{&once, &twice} {
		if err := writeSPDX(b, works, r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Error("two documents of one release differ")
	}
	var d spdxDocument
	if err := json.Unmarshal(once.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{d.ID: true}
	for _, p := range d.Packages {
		ids[p.ID] = true
	}
	if len(ids) != 4 || d.Creation.Created != "2026-02-03T02:05:06Z" ||
		!strings.HasSuffix(d.Namespace, ":1.2.0:0123abcd") {
		t.Errorf("document %+v", d)
	}
	if p := d.Packages[2]; p.Declared != "BSD-2-Clause AND MIT" || p.ID != "SPDXRef-example.org-a-b-v2" ||
		p.Others[0].Locator != "pkg:golang/example.org/a_b/v2@v2.1.0" {
		t.Errorf("module %+v", p)
	}
	if p := d.Packages[0]; p.Version != "1.2.0" || p.Declared != "Apache-2.0" {
		t.Errorf("program %+v", p)
	}
	if len(d.Extracted) != 1 || d.Extracted[0] != (spdxText{"LicenseRef-X", "patents"}) {
		t.Errorf("extracted %+v", d.Extracted)
	}
	if len(d.Relationships) != 3 {
		t.Errorf("relationships %+v", d.Relationships)
	}
	for _, rel := range d.Relationships {
		if !ids[rel.Of] || !ids[rel.To] || rel.Of == rel.To {
			t.Errorf("relationship %+v", rel)
		}
	}
	for _, wrong := range []release{{}, {version: "1", revision: "HEAD", created: r.created},
		{version: "1", revision: "0123abcd", created: "yesterday"}} {
		if wrong.check() == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

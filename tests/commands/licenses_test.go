package commands

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privkern/tests/program"
)

// TestLicensesNameWhatIsLinked holds the modules that the linker put into the program
// against those whose licences it prints; where they differ, run
// `go generate ./cmd/cli/notices`.
func TestLicensesNameWhatIsLinked(t *testing.T) {
	raw, err := program.Command(t, "licenses").Output()
	if err != nil {
		t.Fatal(err)
	}
	printed := string(raw)
	lines := map[string]bool{}
	for line := range strings.Lines(printed) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	named := func(prefix string) bool {
		for line := range lines {
			if strings.HasPrefix(line, prefix+" ") {
				return true
			}
		}
		return false
	}
	info, err := buildinfo.ReadFile(program.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 {
		t.Fatal("the program names no module that it is linked with")
	}
	for _, m := range info.Deps {
		if !named(m.Path + " " + m.Version) {
			t.Errorf("%s %s is linked, and no licence of it is printed", m.Path, m.Version)
		}
	}
	if !named("Go standard library and runtime - BSD-3-Clause") {
		t.Error("Go's own licence is not printed")
	}
	if !strings.Contains(printed, `"svgo", copyright Anthony Starks`) {
		t.Error("the credit that CC BY 4.0 asks for is not printed")
	}
	own, err := os.ReadFile(filepath.Join(program.Root(t), "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(printed, strings.TrimSpace(string(own))) {
		t.Error("the program's own licence is not printed")
	}
}

// TestImagesHoldLicences looks for the program's licence and the third parties' in the
// last stage of every Dockerfile.
func TestImagesHoldLicences(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(program.Root(t), "docker", "Dockerfile*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Dockerfile: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			stages := strings.Split(string(raw), "\nFROM ")
			last := stages[len(stages)-1]
			copied := "\nCOPY --from=build /src/LICENSE /src/cmd/cli/notices/third-party.txt /usr/share/doc/privkern/\n"
			if !strings.Contains(last, copied) {
				t.Error("the image has no licences")
			}
			if strings.Contains(last, "/usr/share/doc ") || strings.Contains(last, "rm -rf /usr") {
				t.Error("the copyright files of the image's packages are removed")
			}
		})
	}
	for _, file := range []string{"LICENSE", "cmd/cli/notices/third-party.txt"} {
		if _, err := os.Stat(filepath.Join(program.Root(t), file)); err != nil {
			t.Error(err)
		}
	}
}

package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privkern/tests/tier"

	"github.com/goccy/go-yaml"
)

// module is the path of this module, with which its own imports begin.
const module = "privkern/"

// layer is a rule of the linter: the allowed imports of files in some folders.
type layer struct {
	Mode  string   `yaml:"list-mode"`
	Files []string `yaml:"files"`
	Allow []string `yaml:"allow"`
}

// layers reads the rules of .golangci.yml.
func layers(t *testing.T) map[string]layer {
	t.Helper()
	raw, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Enable   []string
			Settings struct {
				Depguard struct{ Rules map[string]layer }
			}
		}
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	rules := config.Linters.Settings.Depguard.Rules
	if !slices.Contains(config.Linters.Enable, "depguard") || len(rules) == 0 {
		t.Fatal("the linter holds no layers")
	}
	return rules
}

// covers reports whether the rule applies to a file, named from the root of the module.
func (l layer) covers(file string) bool {
	covered := false
	for _, pattern := range l.Files {
		pattern, not := strings.CutPrefix(pattern, "!")
		if matches(pattern, file) {
			covered = !not
		}
	}
	return covered
}

// matches reports whether a file matches a pattern of the linter: ** stands for any
// folders, or any files in them.
func matches(pattern, file string) bool {
	if pattern == "$test" {
		return strings.HasSuffix(file, "_test.go")
	}
	if known, ok := patterns[pattern]; ok {
		return known.MatchString(file)
	}
	expression := "^" + regexp.QuoteMeta(strings.TrimPrefix(pattern, "${base-path}/")) + "$"
	expression = strings.ReplaceAll(expression, `\*\*`, ".*")
	patterns[pattern] = regexp.MustCompile(strings.ReplaceAll(expression, `\*`, "[^/]*"))
	return patterns[pattern].MatchString(file)
}

// patterns are those of the linter as regular expressions.
var patterns = map[string]*regexp.Regexp{}

// allows reports whether the rule lists an import.
func (l layer) allows(name string) bool {
	return slices.ContainsFunc(l.Allow, func(entry string) bool {
		if entry == "$gostd" {
			first, _, _ := strings.Cut(name, "/")
			return first != strings.TrimSuffix(module, "/") && !strings.Contains(first, ".")
		}
		if whole, ok := strings.CutSuffix(entry, "$"); ok {
			return name == whole
		}
		return strings.HasPrefix(name, entry)
	})
}

// layeredFolders are the folders whose packages all belong to a layer.
var layeredFolders = []string{"graphs", "experiments", "runner", "cmd"}

// goFiles calls visit with the path of each Go file of folders of the module, from its root.
func goFiles(t *testing.T, folders []string, visit func(file, path string)) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case filepath.Ext(at) == ".go":
				visit(filepath.ToSlash(strings.TrimPrefix(at, ".."+string(filepath.Separator))), at)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// imports calls visit with each import of the files of the layers.
func imports(t *testing.T, visit func(file, name string)) {
	t.Helper()
	goFiles(t, layeredFolders, func(file, path string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			visit(file, name)
		}
	})
}

// Every file has one list, and imports packages on it; every module that is
// listed is imported, and every pattern is that of a file.
func TestLayers(t *testing.T) {
	rules := layers(t)
	used := map[string]bool{}
	imports(t, func(file, name string) {
		var of []string
		for rule, l := range rules {
			for _, pattern := range l.Files {
				if pattern, _ := strings.CutPrefix(pattern, "!"); matches(pattern, file) {
					used[rule+" "+pattern] = true
				}
			}
			if l.Mode != "strict" || !l.covers(file) {
				continue
			}
			of = append(of, rule)
			if !l.allows(name) {
				t.Errorf("%s imports %s, which the layer %s does not list", file, name, rule)
			}
			for _, entry := range l.Allow {
				if (layer{Allow: []string{entry}}).allows(name) {
					used[rule+" "+entry] = true
				}
			}
		}
		if len(of) != 1 {
			t.Errorf("%s has the layers %q, not one", file, of)
		}
	})
	for rule, l := range rules {
		for _, pattern := range l.Files {
			if pattern, _ := strings.CutPrefix(pattern, "!"); !used[rule+" "+pattern] {
				t.Errorf("the layer %s has no file %s", rule, pattern)
			}
		}
		for _, entry := range l.Allow { // a wing sees those below it, whether it uses them or not
			if !used[rule+" "+entry] && !strings.HasPrefix(entry, module) {
				t.Errorf("the layer %s lists %s, which it does not import", rule, entry)
			}
		}
	}
}

// wings are the folders of the runner from the ground up.
var wings = []string{"experiment", "text", "command", "record", "claims", "plan", "store", "execute", "show", ""}

// wingOf returns the position of the wing that a file or package belongs to.
func wingOf(name string) int {
	below := strings.Split(strings.TrimPrefix(name, "runner"), "/")
	if len(below) < 2 || strings.HasSuffix(below[1], ".go") {
		return slices.Index(wings, "")
	}
	return slices.Index(wings, below[1])
}

// A wing of the runner imports itself and those below it.
func TestWingsImportDownwards(t *testing.T) {
	const runner = module + "runner"
	if wingOf("runner/runner.go") <= wingOf("runner/show/tables.go") || wingOf("runner/text") != 1 {
		t.Fatal("the wings of files are not found")
	}
	imports(t, func(file, name string) {
		if !strings.HasPrefix(file, "runner/") || name != runner && !strings.HasPrefix(name, runner+"/") {
			return
		}
		from, to := wingOf(file), wingOf(strings.TrimPrefix(name, module))
		if from < 0 || to < 0 {
			t.Errorf("%s imports %s: one of them is of no wing", file, name)
		} else if to > from {
			t.Errorf("%s imports %s, which is above it", file, name)
		}
	})
}

// The program holds no package of tests or of planted errors: these are mutants.
func TestProgramHoldsNoTests(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../cmd/run").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, name := range packages {
		own, ours := strings.CutPrefix(name, module)
		if name == "testing" || ours && regexp.MustCompile(`^tests/|fault|mutant|test$`).MatchString(own) {
			t.Errorf("the program holds %s", name)
		}
	}
	if !slices.Contains(packages, module+"experiments/audit") {
		t.Errorf("of %d packages none is that of audits", len(packages))
	}
}

// plantedImports are files that are added to a copy of the program, with their
// imports.
var plantedImports = []struct {
	file, name string
	layer      string // that refuses the import; "" where it is allowed
}{
	{"graphs/planted1/planted.go", "privkern/runner/experiment", "graphs"},
	{"graphs/planted2/planted.go", "privkern/experiments/mechanism", "graphs"},
	{"graphs/planted3/planted.go", "github.com/spf13/cobra", "graphs"},
	{"graphs/planted4/planted.go", "privkern/graphs/engine", ""},
	{"graphs/planted5/planted.go", "gorgonia.org/gorgonia", ""},
	{"experiments/planted1/planted.go", "privkern/runner", "experiments"},
	{"experiments/planted2/planted.go", "privkern/runner/execute/machine", "experiments"},
	{"experiments/planted3/planted.go", "privkern/runner/store/disk", "experiments"},
	{"experiments/planted4/planted.go", "github.com/spf13/cobra", "experiments"},
	{"experiments/planted5/planted.go", "privkern/runner/experiment", ""},
	{"experiments/planted6/planted.go", "gonum.org/v1/gonum/mat", ""},
	{"experiments/budget/planted1/planted.go", "privkern/runner/store", "budget"},
	{"experiments/budget/planted2/planted.go", "privkern/runner/store/disk", ""},
	{"experiments/release/planted1/planted.go", "math/rand/v2", "releases"},
	{"experiments/release/planted2/planted.go", "crypto/rand", "releases"},
	{"experiments/release/planted3/planted.go", "gonum.org/v1/gonum/stat/distuv", "releases"},
	{"experiments/release/planted4/planted.go", "crypto/sha256", ""},
	{"experiments/planted7/release.go", "math/rand/v2", "releases"},
	{"experiments/planted8/exactly.go", "crypto/rand", "releases"},
	{"experiments/planted9/planted.go", "math/rand/v2", ""},
	{"runner/experiment/planted1/planted.go", "privkern/runner/text", "runner/experiment"},
	{"runner/experiment/planted2/planted.go", "gonum.org/v1/gonum/mat", "runner/experiment"},
	{"runner/text/planted1/planted.go", "privkern/runner/experiment", "runner/text"},
	{"runner/record/planted1/planted.go", "privkern/runner/plan", "runner/record"},
	{"runner/claims/planted1/planted.go", "privkern/runner/plan/sweep", "runner/claims"},
	{"runner/plan/planted1/planted.go", "privkern/runner/store", "runner/plan"},
	{"runner/store/disk/planted1/planted.go", "privkern/runner/record", "runner/store/disk"},
	{"runner/execute/planted1/planted.go", "privkern/runner/show/tables", "runner/execute"},
	{"runner/execute/planted2/planted.go", "privkern/graphs/engine", "runner/execute"},
	{"runner/execute/planted3/planted.go", "privkern/runner/store", ""},
	{"runner/show/planted1/planted.go", "privkern/runner/execute/trial", "runner/show"},
	{"runner/show/planted2/planted.go", "privkern/runner", "runner/show"},
	{"runner/show/planted3/planted.go", "privkern/runner/claims/judge", ""},
	{"cmd/planted1/planted.go", "github.com/chromedp/chromedp", "cmd"},
	{"cmd/planted2/planted.go", "privkern/runner/show", ""},
}

// The linter refuses each import that is planted by the name of its layer, and no
// other one.
func TestLinterRefusesImports(t *testing.T) {
	tier.Gate(t, "the linter takes a while to build")
	script, err := os.ReadFile("../.ci/lib.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, pinned, _ := strings.Cut(string(script), "\ngolangci_lint=")
	linter, _, _ := strings.Cut(pinned, "\n")
	dir := copyOfProgram(t)
	arguments := []string{"run", linter, "run", "--allow-parallel-runners", "--enable-only", "depguard",
		"--max-issues-per-linter", "0", "--max-same-issues", "0", "--output.json.path", "stdout", "--show-stats=false"}
	for _, p := range plantedImports {
		at := filepath.Join(dir, filepath.FromSlash(p.file))
		if err := os.Mkdir(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		text := fmt.Appendf(nil, "package planted\n\nimport _ %q\n", p.name)
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "./"+path.Dir(p.file))
	}
	cmd := exec.Command("go", arguments...)
	cmd.Dir = dir
	var messages bytes.Buffer
	cmd.Stderr = &messages
	raw, err := cmd.Output()
	var exit *exec.ExitError // the linter ends with a status where it finds issues
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var report struct {
		Issues []struct {
			FromLinter, Text string
			Pos              struct{ Filename string }
		}
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		t.Fatalf("%v\n%s%s", err, raw, messages.Bytes())
	}
	found := map[string][]string{}
	for _, i := range report.Issues {
		file := filepath.ToSlash(i.Pos.Filename)
		found[file] = append(found[file], i.FromLinter+": "+i.Text)
	}
	for _, p := range plantedImports {
		t.Run(p.file, func(t *testing.T) {
			got := found[p.file]
			if p.layer == "" {
				if len(got) != 0 {
					t.Errorf("the import of %s is refused: %q", p.name, got)
				}
				return
			}
			want := fmt.Sprintf("depguard: import '%s' is not allowed from list '%s'", p.name, p.layer)
			if len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%q, not %q", got, want)
			}
		})
	}
}

// copyOfProgram copies the sources of the layers and the linter's configuration.
func copyOfProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{"go.mod", "go.sum", ".golangci.yml"}, layeredFolders...) {
		from, to := filepath.Join("..", name), filepath.Join(dir, name)
		if filepath.Ext(name) == "" {
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

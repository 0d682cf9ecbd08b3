package commands

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privkern/tests/program"
	"privkern/tests/tier"
)

// readmeWords bounds the README: it is read in a few minutes, and the rest is in docs.
const readmeWords = 900

func TestReadmeIsShort(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(program.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(raw))); n >= readmeWords {
		t.Errorf("%d words, want fewer than %d", n, readmeWords)
	}
}

// pages are the files of documentation whose commands are tested.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join(program.Root(t), "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	root := program.Root(t)
	return append([]string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}, docs...)
}

// codeBlock is a fenced block of a page. Its note is the comment in the line before it,
// which a reader does not see:
//
//	<!-- run: status 2 -->       commands that end with this exit status, not 0
//	<!-- run: with data -->      commands that need the data folder
//	<!-- run: minutes -->        commands that run by night
//	<!-- parse: needs Slurm -->  commands that no test can run: they are parsed
//	<!-- file: mine.yaml -->     a file that later commands of the page read
//	<!-- change: a/b.go -->      lines that a file of the repository gets
//	<!-- prints -->              lines that the commands above print; "..." leaves some out
type codeBlock struct {
	line           int // of the page, from 1
	language, note string
	text           string
}

var (
	fence = regexp.MustCompile("^(\\s*)```(\\S*)$")
	note  = regexp.MustCompile(`^\s*<!-- (.*) -->$`)
	// bare are commands outside of a block, where no test sees them.
	bare = regexp.MustCompile(`^ {4,}(run|go|git|docker|kubectl|pip|apt-get|bash|sbatch) `)
)

func readBlocks(t *testing.T, page string) []codeBlock {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []codeBlock
	var inside bool
	var comment string
	for i, line := range strings.Split(string(raw), "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && !inside:
			out = append(out, codeBlock{line: i + 1, language: m[2], note: comment})
		case inside && m == nil:
			out[len(out)-1].text += line + "\n"
		case bare.MatchString(line):
			t.Errorf("%s:%d: a command outside of a fenced block", filepath.Base(page), i+1)
		}
		if m != nil {
			inside = !inside
		}
		comment = ""
		if n := note.FindStringSubmatch(line); n != nil && !inside {
			comment = n[1]
		}
	}
	if inside {
		t.Errorf("%s: the last block is not closed", filepath.Base(page))
	}
	return out
}

// Every block is labelled, so that no command is passed over.
func TestBlocksOfDocumentation(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			previous := ""
			for _, b := range readBlocks(t, page) {
				kind, argument, _ := strings.Cut(b.note, ": ")
				known := false
				switch b.language {
				case "sh":
					_, err := strconv.Atoi(strings.TrimPrefix(argument, "status "))
					known = b.note == "" || kind == "parse" && argument != "" ||
						kind == "run" && (argument == "with data" || argument == "minutes" || err == nil)
				case "yaml", "csv", "go", "awk", "python":
					known = kind == "file" && filepath.IsLocal(argument)
				case "text":
					known = b.note == "" || b.note == "prints" && previous == "sh"
				case "diff":
					known = kind == "change" && filepath.IsLocal(argument)
				case "json":
					known = b.note == ""
				}
				if !known {
					t.Errorf("line %d: a block of %q with the note %q", b.line, b.language, b.note)
				}
				previous = b.language
			}
		})
	}
}

// The commands of every page run as a reader runs them: block after block in one
// folder, with the files that the page shows. Commands that need data, minutes or other
// machines are parsed only.
func TestCommandsOfDocumentation(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			if filepath.Base(page) != "README.md" {
				tier.Gate(t, "its commands take seconds")
			}
			follow(t, page, func(note string) bool {
				return note == "" || strings.HasPrefix(note, "run: status")
			})
		})
	}
}

// TestCommandsOfDocumentationOnData runs the commands that need the data folder too, and by night
// the long ones.
func TestCommandsOfDocumentationOnData(t *testing.T) {
	tier.Gate(t, "the commands take minutes")
	data := os.Getenv("PRIVKERN_DATA")
	if data == "" {
		t.Skip("no data folder: PRIVKERN_DATA is not set")
	}
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PRIVKERN_DATA", data)
	long := tier.AtNight()
	for _, page := range pages(t) {
		blocks := readBlocks(t, page)
		needsData := func(b codeBlock) bool {
			return b.note == "run: with data" || long && b.note == "run: minutes"
		}
		if !slices.ContainsFunc(blocks, needsData) {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			follow(t, page, func(note string) bool {
				return !strings.HasPrefix(note, "parse:") && (long || note != "run: minutes")
			})
		})
	}
}

// follow goes through a page as a reader does, and runs the commands whose note
// runs accepts.
func follow(t *testing.T, page string, runs func(note string) bool) {
	dir := t.TempDir()
	prepare(t, dir)
	var printed string
	var ran bool
	for _, b := range readBlocks(t, page) {
		place := fmt.Sprintf("%s:%d", filepath.Base(page), b.line)
		switch b.language {
		case "yaml", "csv", "go", "awk", "python":
			writeFile(t, filepath.Join(dir, strings.TrimPrefix(b.note, "file: ")), b.text)
		case "sh":
			ran = runs(b.note)
			script := b.text
			if !ran {
				script = onlyParsed + b.text
			}
			want := 0
			if _, status, ok := strings.Cut(b.note, "run: status "); ok {
				want, _ = strconv.Atoi(status)
			}
			var status int
			printed, status = shell(t, dir, script)
			if status != want {
				t.Errorf("%s: exit status %d, want %d:\n%s\n%s", place, status, want, b.text, printed)
			}
		case "text":
			if b.note == "prints" && ran {
				if missing, ok := shows(printed, b.text); !ok {
					t.Errorf("%s: the commands do not print %q in its place, but:\n%s", place, missing, printed)
				}
			}
		}
	}
}

// prepare fills the folder in which a page's commands run: the sweep files of the
// repository, and a reader's own data.
func prepare(t *testing.T, dir string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(program.Root(t), "configs"), filepath.Join(dir, "configs")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "docs"))); err != nil {
		t.Fatal(err)
	}
}

// onlyParsed goes before commands that are not run. The program only parses its
// arguments, and must know the command; of the others the names are checked, where the
// shell finds nothing else.
const onlyParsed = `
run() {
  if [ "$1" = help ]; then "$PROGRAM" "$@"; return; fi
  local usage
  usage=$("$PROGRAM" "$@" --help 2>&1) || { echo "run $*: $usage"; return 1; }
  while IFS= read -r line; do
    case $line in "  run $1"*) return 0 ;; esac
  done <<<"$usage"
  echo "run has no command $1"
  return 1
}
for name in apt-get cd docker git go kubectl mlflow pip python3 tar privkern-gpu-kit/gpu; do eval "$name() { :; }"; done
PATH=
`

// shell runs a script and returns its output and its exit status.
func shell(t *testing.T, dir, script string) (printed string, status int) {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PROGRAM="+program.Path(t), "NO_COLOR=1", "COLUMNS=",
		"PATH="+filepath.Dir(program.Path(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"XDG_CONFIG_HOME="+filepath.Join(dir, ".config"), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// shows reports whether all lines of an excerpt are printed, in their order and one
// directly below the other except where a line "..." is between them; otherwise it
// returns the first line that is not there.
func shows(printed, excerpt string) (missing string, ok bool) {
	lines := trimmedLines(printed)
	at, anywhere := 0, true
	for _, want := range trimmedLines(strings.TrimRight(excerpt, "\n")) {
		if strings.TrimSpace(want) == "..." {
			anywhere = true
			continue
		}
		found := at < len(lines) && lines[at] == want
		for i := at; anywhere && !found && i < len(lines); i++ {
			if found = lines[i] == want; found {
				at = i
			}
		}
		if !found {
			return want, false
		}
		at, anywhere = at+1, false
	}
	return "", true
}

func trimmedLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestShows(t *testing.T) {
	const printed = "a\nb  \n\nc\nd\n"
	for _, c := range []struct{ excerpt, missing string }{
		{"a\nb\n\nc\nd\n", ""},
		{"b\n", ""},
		{"a\n...\nc\n", ""},
		{"...\nd\n", ""},
		{"a\nc\n", "c"},
		{"c\n...\na\n", "a"},
		{"e\n", "e"},
		{" a\n", " a"},
	} {
		t.Run(c.excerpt, func(t *testing.T) {
			if missing, ok := shows(printed, c.excerpt); missing != c.missing || ok != (c.missing == "") {
				t.Errorf("%q, %v, want %q", missing, ok, c.missing)
			}
		})
	}
}

// Commands that are only parsed are refused where the program would refuse them.
func TestParsedCommands(t *testing.T) {
	for _, c := range []struct {
		name, script string
		ok           bool
	}{
		{"a sweep", "run sweep mine.yaml epsilon=0.5 \\\n  --executor slurm --slurm time=1:00:00  # a comment\n", true},
		{"a topic", "run help clusters\n", true},
		{"another program", "go build -o ~/bin/run ./cmd/run\n", true},
		{"an unknown flag", "run sweep mine.yaml --executer slurm\n", false},
		{"an unknown command", "run sweeep mine.yaml\n", false},
		{"an unknown topic", "run help clutser\n", false},
		{"an unknown program", "gcc x.c\n", false},
		{"a command that fails before others", "run sweeep\nrun doctor\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, status := shell(t, t.TempDir(), onlyParsed+c.script); (status == 0) != c.ok {
				t.Errorf("exit status %d: %s", status, out)
			}
		})
	}
}

var (
	link    = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)`)
	blocks  = regexp.MustCompile("(?ms)^```.*?^```$")
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
)

// anchors are the names by which a page's headings are linked to, as GitHub makes them.
func anchors(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(blocks.ReplaceAllString(page, ""), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ' || r == '-':
				b.WriteByte('-')
			case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				b.WriteRune(r)
			}
		}
		out[b.String()] = true
	}
	return out
}

// Links between files lead somewhere, and every page can be reached from the README.
func TestLinksOfDocumentation(t *testing.T) {
	var more []string
	for _, name := range []string{"CHANGELOG.md", "results/README.md", "results/outside.md", "results/provenance.md"} {
		more = append(more, filepath.Join(program.Root(t), name))
	}
	linked := map[string]bool{}
	for _, page := range append(pages(t), more...) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			raw, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(blocks.ReplaceAllString(string(raw), ""), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				path, anchor, _ := strings.Cut(m[1], "#")
				target := filepath.Join(filepath.Dir(page), path)
				if path == "" {
					target = page
				}
				info, err := os.Stat(target)
				if err != nil {
					t.Errorf("%s leads nowhere", m[1])
					continue
				}
				if filepath.Base(page) == "README.md" && filepath.Dir(page) == program.Root(t) {
					linked[target] = true
				}
				if anchor == "" || info.IsDir() {
					continue
				}
				other, err := os.ReadFile(target)
				if err != nil {
					t.Fatal(err)
				}
				if !anchors(string(other))[anchor] {
					t.Errorf("%s: there is no such heading", m[1])
				}
			}
		})
	}
	for _, page := range pages(t)[1:] {
		if !linked[page] {
			t.Errorf("the README does not link to %s", filepath.Base(page))
		}
	}
}

package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privkern/tests/program"
)

// TestImagesHoldTheProgram checks properties that need no container engine: the
// program is built to a path that is no folder of the base image (go build would write
// into /run), that path is what the image gets, and Kubernetes can tell its user from
// root.
func TestImagesHoldTheProgram(t *testing.T) {
	root := filepath.Join(program.Root(t), "docker")
	files, err := filepath.Glob(filepath.Join(root, "Dockerfile*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Dockerfile: %v", err)
	}
	folders := strings.Fields("bin boot dev etc go home lib media mnt opt proc root run sbin srv src sys tmp usr var")
	built := regexp.MustCompile(`go build .*-o /(\S+)`)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(raw)
			program := built.FindStringSubmatch(text)
			if program == nil || slices.Contains(folders, program[1]) {
				t.Fatalf("the program is built to %q", program)
			}
			if !strings.Contains(text, "\nCOPY --from=build /"+program[1]+" /usr/local/bin/run\n") {
				t.Errorf("the image does not get /%s", program[1])
			}
			if !strings.Contains(text, "\nUSER 1000:1000\n") {
				t.Error("the user is no number")
			}
		})
	}
}

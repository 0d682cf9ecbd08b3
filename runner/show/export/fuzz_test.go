package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzReadExperiment reads a meta.yaml written by MLflow or by another program.
func FuzzReadExperiment(f *testing.F) {
	f.Add([]byte("artifact_location: file:///x\nexperiment_id: '17'\nlifecycle_stage: active\nname: cloaking\n"))
	f.Add([]byte("experiment_id: 17\nname: [a]\n"))
	f.Add([]byte("experiment_id: \"17\"\nname: |\n  two\n  lines\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte(strings.Repeat("{a: ", 200)))
	f.Add([]byte("experiment_id: '17'\n#" + strings.Repeat("x", maxMeta)))
	f.Fuzz(func(t *testing.T, meta []byte) {
		dir := filepath.Join(t.TempDir(), "17")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "meta.yaml"), meta, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := readExperiment(dir)
		if err == nil && (e.ID != "17" || !strings.Contains(string(meta), "17") || len(meta) > maxMeta) {
			t.Errorf("%q is the experiment %+v", meta, e)
		}
	})
}

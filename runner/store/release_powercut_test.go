package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/store/disk/disktest"
)

// Where the power goes while a release is written, there is both of it and whole,
// the description alone, or nothing; once it is written, both.
func TestPowerCutOfRelease(t *testing.T) {
	const path, side = "/out/noisy.csv", "/out/noisy.csv" + store.DescriptionSuffix
	rel := &experiment.Release{Columns: []string{"prediction"}, Rows: [][]float64{{1}, {2}}}
	rec := &record.Record{Experiment: "demo/a"}
	for moment := 1; ; moment++ {
		written := false
		for seed := range uint64(50) {
			on := disktest.New()
			p := on.Process("p")
			if err := disk.MakeFolder(p, "/out", 0o777); err != nil {
				t.Fatal(err)
			}
			p.KillAt(moment)
			err := store.WriteReleaseOn(p, path, rec, rel)
			if written = err == nil; !written && !errors.Is(err, disktest.ErrKilled) {
				t.Fatal(err)
			}
			after := on.PowerCut(rand.New(rand.NewPCG(seed, 0)))
			content, description := string(after.Look(path)), string(after.Look(side))
			if written && content == "" || content != "" && content != "prediction\n1\n2\n" {
				t.Fatalf("killed at %d: the release is %q", moment, content)
			}
			if (content != "" || description != "") && !strings.HasSuffix(description, "}\n") {
				t.Fatalf("killed at %d: the release is %q, its description %q", moment, content, description)
			}
		}
		if written {
			return
		}
	}
}

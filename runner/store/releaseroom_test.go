package store_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
)

// long returns numbers that are as long as numbers get, in a table and in JSON.
func long(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = -math.Ldexp(1+rng.Float64(), -1019)
		if i%2 == 0 {
			out[i] = -(1 + rng.Float64()) * 1e-6
		}
	}
	return out
}

// releaseOfSize returns a release of rows with long numbers and long names of columns and classes,
// and its size.
func releaseOfSize() (*experiment.Release, experiment.Size) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, columns = 600, 60
	class := strings.Repeat(`"`, 150)
	rel := &experiment.Release{ClassColumn: "class"}
	size := experiment.Size{Rows: rows, Columns: columns, Class: len(class), Names: len(class) + len("class")}
	for range columns {
		name := strings.Repeat("\x01", 8) + string(rune('a'+len(rel.Columns)))
		rel.Columns = append(rel.Columns, name)
		size.Names += len(name)
	}
	var samples [][]float64
	for range rows {
		rel.Rows, rel.Classes = append(rel.Rows, long(rng, columns)), append(rel.Classes, class)
		for range 60 { // each in a list of its own
			samples = append(samples, long(rng, 1))
		}
	}
	size.Numbers, size.Lists = len(samples), len(samples)
	rel.Model = map[string]any{"inputs": rel.Columns, "classes": []string{class},
		"machines": []any{map[string]any{"samples": samples}}}
	return rel, size
}

// picturesOfSize returns pictures of noise, one pixel wide: each pixel takes two bytes.
func picturesOfSize() (*experiment.Release, experiment.Size) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, height = 200, 3600
	rel := &experiment.Release{ClassColumn: "class", Picture: &experiment.Picture{Width: 1, Height: height}}
	rel.Columns, rel.Model = make([]string, height), 1
	for range rows {
		row := make([]float64, height)
		for i := range row {
			row[i] = rng.Float64()
		}
		rel.Rows, rel.Classes = append(rel.Rows, row), append(rel.Classes, "a")
	}
	return rel, experiment.Size{Rows: rows, Columns: height, Class: 1}
}

// The room that is probed before a budget is spent suffices for the release. It exceeds the size of
// long numbers by little more than 1 MiB.
func TestRoomForRelease(t *testing.T) {
	rec := &record.Record{Experiment: "demo/a"}
	rel, size := releaseOfSize()
	pictures, sizeOfPictures := picturesOfSize()
	table := &experiment.Release{Columns: rel.Columns, Rows: rel.Rows}
	sizeOfTable := experiment.Size{Rows: size.Rows, Columns: size.Columns, Names: size.Names}
	for _, c := range []struct {
		name, path string
		forms      []experiment.Form
		release    *experiment.Release
		size       experiment.Size
		most       float64 // of the room for numbers to that which they take
	}{
		{"a table of several forms", "/out/rows.csv", allForms, rel, size, 1.1},
		{"arrays", "/out/rows.npy", allForms, rel, size, 1.1},
		{"a model of several forms", "/out/rows.json", allForms, rel, size, 1.2},
		{"pictures", "/out/rows/", allForms, pictures, sizeOfPictures, 5}, // files take whole blocks
		{"a table", "/out/rows", nil, table, sizeOfTable, 1.1},
		{"a model", "/out/model", nil, &experiment.Release{Model: rel.Model},
			experiment.Size{Numbers: size.Numbers, Lists: size.Lists, Names: size.Names}, 1.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			on, p := emptyOut(t)
			if err := store.WriteRelease(p, c.path, rec, c.release); err != nil {
				t.Fatal(err)
			}
			written := 0
			for _, content := range lookAll(on, "/out") {
				written += len(content)
			}
			ask := func(free int) error {
				on, p := emptyOut(t)
				on.SetFree(free)
				err := store.CheckReleasePath(p, c.path, c.forms, c.size)
				if left := on.List("/out"); len(left) > 0 {
					t.Errorf("left are %q", left)
				}
				return err
			}
			const rest, description = 1 << 20, 1 << 14
			if free := written - description + rest; !errors.Is(ask(free), syscall.ENOSPC) {
				t.Errorf("%d bytes are written, and %d are enough", written, free)
			}
			if err := ask(rest + int(c.most*float64(written))); err != nil {
				t.Errorf("%d bytes are written: %v", written, err)
			}
		})
	}
}

// A disk may turn out to be full when its content is to be durable.
func TestRoomIsSynced(t *testing.T) {
	for moment := 3; ; moment++ { // after it was looked whether something has the names
		_, p := emptyOut(t)
		p.FailAt(moment)
		err := store.CheckReleasePath(p, "/out/rows.csv", nil, experiment.Size{})
		if !p.Failed() {
			if err != nil || moment < 9 { // create, two halves of a write, sync, close, remove
				t.Errorf("%d operations, %v", moment-1, err)
			}
			return
		}
		if err == nil {
			t.Errorf("operation %d failed without an error", moment)
		}
	}
}

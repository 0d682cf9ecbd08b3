//go:build linux && (amd64 || arm64)

package cuda

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/elf"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernels"
)

// The archive has every kernel for every target, made of the program's sources, and PTX for the oldest driver.
func TestArchive(t *testing.T) {
	archive, err := heldImages()
	if err != nil {
		t.Fatal(err)
	}
	if len(held) > 6<<20 {
		t.Errorf("the archive has %d bytes, more than 6 MiB", len(held))
	}
	for _, p := range allParts() {
		source, err := kernels.Source(p.unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			code, err := archive.image(p, target, digestOf(p, source))
			if err != nil {
				t.Fatal(err)
			}
			begin, end := "\x00", "\x00" // in the table of symbols
			switch {
			case target.ptx:
				begin, end = ".visible .entry ", "("
				if !bytes.Contains(code, []byte(".version 8.0\n.target sm_70\n")) {
					t.Errorf("%s is not of CUDA 12.0 for compute capability 7.0", target.entry(p))
				}
			case len(code) < 64 || string(code[:4]) != elf.ELFMAG || elf.Machine(code[18]) != elf.EM_CUDA:
				t.Errorf("%s is no machine code", target.entry(p))
			}
			for _, k := range kernels.Of(p.unit) {
				if name, _ := kernels.Pack(k); !bytes.Contains(code, []byte(begin+name+end)) {
					t.Errorf("%s has no kernel %s", target.entry(p), name)
				}
			}
		}
	}
}

// Devices get machine code of their major capability, and PTX where there is none.
func TestTargets(t *testing.T) {
	for capability, want := range map[int]string{70: "compute_70", 75: "compute_70", 80: "sm_80 compute_70",
		89: "sm_80 compute_70", 90: "sm_90 compute_70", 103: "sm_100 compute_70", 110: "compute_70",
		121: "sm_120 compute_70", 60: ""} {
		var got []string
		for _, target := range targets {
			if target.serves(capability) {
				got = append(got, target.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("compute capability %d: %v, want %s", capability, got, want)
		}
	}
}

// compiledArchive is an archive of the installed NVRTC, with units in an element type.
func compiledArchive(t *testing.T, dtype tensor.Dtype, units []kernels.Unit, targets ...target) []byte {
	t.Helper()
	nvrtc := installedCompiler(t)
	var parts []part
	for _, u := range units {
		parts = append(parts, part{u, dtype})
	}
	var archive bytes.Buffer
	if err := writeArchive(&archive, nvrtc, nvrtc, targets, parts); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// hold lets the program hold another archive.
func hold(t *testing.T, archive []byte) {
	t.Helper()
	before := heldImages
	heldImages = func() (images, error) { return openImages(archive) }
	t.Cleanup(func() { heldImages = before })
}

// anew opens an engine of a device that no kernels are loaded into.
func anew(t *testing.T, dtype tensor.Dtype) *engine.Engine {
	t.Helper()
	before := shared.gpu
	shared.gpu = nil
	t.Cleanup(func() {
		if err := Release(); err != nil {
			t.Error(err)
		}
		shared.gpu = before
	})
	e, err := engine.Open("cuda", dtype.String(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// changed is an archive whose entries are others.
func changed(t *testing.T, archive []byte, change func(h *zip.FileHeader, code []byte) []byte) []byte {
	t.Helper()
	m, err := openImages(archive)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		r, err := m[name].Open()
		if err != nil {
			t.Fatal(err)
		}
		code, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		header := zip.FileHeader{Name: name, Comment: m[name].Comment}
		code = change(&header, code)
		f, err := w.CreateHeader(&header)
		if err == nil {
			_, err = f.Write(code)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The code that the program holds is used where it suits the sources and the device. Else the kernels are compiled
// and kept, the reason is known, and results are the same.
func TestHeldKernels(t *testing.T) {
	engines(t, "float64")
	capability := shared.gpu.info.Major*10 + shared.gpu.info.Minor
	code, ptx := target{capability, false}, target{minimum, true}
	before := targets
	targets = []target{code, ptx}
	t.Cleanup(func() { targets = before })
	archive := compiledArchive(t, tensor.Float64, []kernels.Unit{kernels.Elements}, code, ptx)
	if !bytes.Equal(archive, compiledArchive(t, tensor.Float64, []kernels.Unit{kernels.Elements}, code, ptx)) {
		t.Error("the same compiler makes two archives")
	}
	p := engine.Program{Name: "negative", Key: "negative", Build: func(b *engine.Builder) {
		b.Output("out", b.Neg(b.Input("a", 1, 1)))
	}}
	spoil := func(h *zip.FileHeader, code []byte) []byte {
		if h.Name[:3] == "sm_" {
			return []byte("no code\n")
		}
		return code
	}
	stale := func(h *zip.FileHeader, code []byte) []byte { h.Comment = "00"; return code }
	for _, c := range []struct {
		name    string
		archive []byte
		want    []string
		kept    bool
	}{
		{"machine code", archive, []string{": " + code.String() + " is used"}, false},
		{"machine code that the driver refuses", changed(t, archive, spoil), []string{": compute_70 is used"}, false},
		{"code of other sources", changed(t, archive, stale), []string{": compiled by NVRTC ", " and kept in ",
			"the kernels have changed: go run ./graphs/cuda/precompile makes the archive anew"}, true},
		{"half an archive", archive[:len(archive)/2], []string{": compiled by NVRTC ",
			"the program's archive of kernels: zip: not a valid zip file"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			t.Setenv("XDG_CACHE_HOME", cache)
			hold(t, c.archive)
			e := anew(t, tensor.Float64)
			out, err := e.Run(context.Background(), p, engine.Values{"a": e.Column([]float64{3})})
			if err != nil {
				t.Fatal(err)
			}
			near(t, "out", out["out"], e.Column([]float64{-3}), 0)
			for _, want := range c.want {
				if got := Kernels(); !strings.Contains(got, want) {
					t.Errorf("%s has no %q", got, want)
				}
			}
			files, err := filepath.Glob(filepath.Join(cache, "privkern", "cuda", "*.bin"))
			if err != nil || len(files) != map[bool]int{true: 1}[c.kept] {
				t.Errorf("the cache has %v, %v", files, err)
			}
		})
	}
}

//go:build linux && (amd64 || arm64)

package cuda

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"gorgonia.org/tensor"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/kernels"
)

// held is an archive (zip) of the kernels' code, with an entry for each part and each of the
// targets. An entry's comment is the digest of its source and options.
//
//go:embed kernels.zip
var held []byte

// generator is the command that makes the archive.
const generator = "go run ./graphs/cuda/precompile"

// target is the devices that an entry of the archive serves: those of one major compute capability
// from this one on by machine code (SASS), and by PTX, which the driver finishes, all from this one on.
type target struct {
	capability int // 90 is 9.0
	ptx        bool
}

// targets are those of the archive, better ones for a device first.
var targets = []target{{120, false}, {100, false}, {90, false}, {80, false}, {minimum, true}}

// String is the compiler's name of the architecture.
func (t target) String() string {
	if t.ptx {
		return fmt.Sprintf("compute_%d", t.capability)
	}
	return fmt.Sprintf("sm_%d", t.capability)
}

// serves reports whether devices of a compute capability run the code.
func (t target) serves(capability int) bool {
	return t.capability <= capability && (t.ptx || t.capability/10 == capability/10)
}

// entry is the name of a part's code in the archive.
func (t target) entry(p part) string { return fmt.Sprintf("%v/%s-%v", t, p.unit, p.dtype) }

// digestOf is the SHA-256 of a part's source and options, in hexadecimal digits.
func digestOf(p part, source string) string {
	sum := sha256.Sum256([]byte(strings.Join(compileOptions(p), " ") + "\n" + source))
	return hex.EncodeToString(sum[:])
}

// errStale reports an entry that was made of other sources or options than the program's.
var errStale = errors.New("the kernels have changed: " + generator + " makes the archive anew")

// images is an archive of code.
type images map[string]*zip.File // by entry

// openImages reads an archive's directory.
func openImages(archive []byte) (images, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("the program's archive of kernels: %w", err)
	}
	m := images{}
	for _, f := range r.File {
		m[f.Name] = f
	}
	return m, nil
}

// image is the code of a part for a target; the error wraps errStale where its digest is another.
func (m images) image(p part, t target, digest string) (code []byte, err error) {
	name := t.entry(p)
	f := m[name]
	if f == nil || f.Comment != digest {
		return nil, fmt.Errorf("%s: %w", name, errStale)
	}
	r, err := f.Open()
	if err == nil {
		code, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return code, nil
}

// hold reports whether there is code of a part for devices of a compute capability.
func (m images) hold(p part, digest string, capability int) bool {
	return slices.ContainsFunc(targets, func(t target) bool {
		f := m[t.entry(p)]
		return f != nil && f.Comment == digest && t.serves(capability)
	})
}

// heldImages is the archive that the program holds; tests on a simulated device, which runs no code of
// NVIDIA's compilers, set another.
var heldImages = sync.OnceValues(func() (images, error) { return openImages(held) })

// refusals are the driver's errors about code that it does not run, which leave the context as it is.
var refusals = []driver.Error{driver.InvalidImage, driver.NoBinaryForDevice, driver.UnsupportedPTX, driver.InvalidPTX,
	driver.NoPTXCompiler, driver.PTXDisabled}

// loadHeld loads a part of the program's archive: machine code of the device where there is some, and
// else PTX. Where found is false, why is the reason.
func (g *gpu) loadHeld(p part, source string) (loaded driver.Module, found bool, why error) {
	archive, err := heldImages()
	if err != nil {
		return loaded, false, err
	}
	digest := digestOf(p, source)
	for _, t := range targets {
		if !t.serves(g.info.Major*10 + g.info.Minor) {
			continue
		}
		loaded, err := g.loadEntry(archive, p, t, digest)
		switch {
		case err == nil:
			return loaded, true, nil
		case !refused(err):
			return loaded, false, err
		case why == nil:
			why = err
		default:
			why = fmt.Errorf("%w; %w", why, err)
		}
	}
	return loaded, false, why
}

// refused reports whether an error is of code that does not suit, so that other code may.
func refused(err error) bool {
	return errors.Is(err, errStale) ||
		slices.ContainsFunc(refusals, func(e driver.Error) bool { return errors.Is(err, e) })
}

// loadEntry loads one entry, unless the driver has refused the same target before.
func (g *gpu) loadEntry(archive images, p part, t target, digest string) (loaded driver.Module, err error) {
	if err := g.origins.refusal(t); err != nil {
		return loaded, err
	}
	image, err := archive.image(p, t, digest)
	if err != nil {
		return loaded, err
	}
	if t.ptx {
		defer g.announce()()
		if folder, err := cacheFolder(); err == nil {
			defer lockCompiler(folder)() // the driver keeps the result
		}
	}
	if loaded, err = g.api.Load(image); err == nil {
		g.origins.add(t.String()+" is used", nil)
		return loaded, nil
	}
	if !refused(err) {
		return loaded, g.failed("loading the kernels", err)
	}
	err = fmt.Errorf("the driver refuses the program's %v: %w", t, err)
	g.origins.refuse(t, err)
	return loaded, err
}

// origins is where a device's kernels come from.
type origins struct {
	mu      sync.Mutex
	refused map[target]error
	all     []string // without duplicates
	why     error    // of the first that the program does not hold
}

func (o *origins) add(origin string, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.all, origin) {
		o.all = append(o.all, origin)
	}
	if o.why == nil {
		o.why = why
	}
}

func (o *origins) refuse(t target, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refused == nil {
		o.refused = map[target]error{}
	}
	o.refused[t] = err
}

func (o *origins) refusal(t target) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused[t]
}

// WriteArchive compiles all kernels for all targets of the program's archive: to machine code by NVRTC 12 of
// one folder and to PTX by that of another. The same compilers write the same bytes.
func WriteArchive(w io.Writer, code, ptx string) error {
	var compilers [2]compilerOf
	for i, folder := range []string{code, ptx} {
		lib, err := compiler.open(12, []string{folder})
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		compilers[i] = compilerOf{lib}
	}
	return writeArchive(w, compilers[0], compilers[1], targets, allParts())
}

// allParts are the units in both element types.
func allParts() (all []part) {
	for _, u := range kernels.Units() {
		all = append(all, part{u, tensor.Float64}, part{u, tensor.Float32})
	}
	return all
}

// writeArchive is WriteArchive for some targets and parts.
func writeArchive(w io.Writer, code, ptx compilerOf, targets []target, parts []part) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, t := range targets {
		c := code
		if t.ptx {
			c = ptx
		}
		for _, p := range parts {
			source, err := kernels.Source(p.unit)
			if err != nil {
				return err
			}
			image, err := c.compile(source, append(compileOptions(p), "--gpu-architecture="+t.String()), !t.ptx)
			if err != nil {
				return err
			}
			if t.ptx { // a string of C
				image = bytes.TrimRight(image, "\x00")
			}
			f, err := archive.CreateHeader(&zip.FileHeader{Name: t.entry(p), Comment: digestOf(p, source), Method: zip.Deflate})
			if err == nil {
				_, err = f.Write(image)
			}
			if err != nil {
				return err
			}
		}
	}
	return archive.Close()
}

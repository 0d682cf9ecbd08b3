package record

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"privkern/runner/text"
)

// LastBits states how far results of two BLAS classes may differ. With default settings
// 4e-11 was measured. Ill-conditioned problems amplify rounding to 1e-7, as do solvers that
// stop at a tolerance one step earlier or later.
const LastBits = "results of different BLAS classes may differ in the last digits, by a relative 1e-10, or 1e-7 " +
	"where a problem is ill-conditioned or a solver stops at a tolerance"

// The texts of a provenance that determine rounding, in the form in which they are written:
//
//	blas  OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0) | privkern (avx512) | gonum (pure Go), each followed by
//	      " without FMA" on a processor without it
//	go    go1.26.8 linux/amd64 | go1.26.8 linux/amd64 v3
//	gpu   NVIDIA H200 (compute capability 9.0), ..., cuBLAS 12.8.4, ...
var (
	blasText    = regexp.MustCompile(`^(\S+)(?: (\S+))?(?: \((.*)\))?( without FMA)?$`)
	coreType    = regexp.MustCompile(`^[A-Z0-9_]+$`)
	goPlatform  = regexp.MustCompile(` [^/ ]+/(\S+)(?: (v[3-9]))?$`)
	gpuKernels  = regexp.MustCompile(`cuBLAS ([0-9][^,\s]*)`)
	gpuProduced = regexp.MustCompile(`compute capability ([0-9]+)\.([0-9]+)`)
	notInClass  = regexp.MustCompile(`[^a-z0-9._+]+`)
)

// Class names the BLAS class of a record: records of one class and one key have the same
// bits. It is derived from the texts of the provenance alone, so that records of all
// versions have one. It consists of
//
//   - the BLAS library with its version and the processor kernels that it chose,
//     such as "openblas-0.3.21-skylakex", "gonum-amd64" for pure Go, or "privkern" for
//     the kernels of this program, whose bits are the same at every level of vector
//     instructions;
//   - "nofma" where an amd64 processor has no fused multiply-add, because Go's
//     exponential rounds differently there; "v3" where the program was built with
//     GOAMD64=v3 or above, because the compiler then fuses products and sums;
//   - on a GPU, "+cublas-12.8.4-sm90": the products' library and the processor's
//     generation.
//
// It is empty where the provenance names no BLAS.
func (p Provenance) Class() string {
	key := [3]string{p.BLAS, p.Go, p.GPU}
	if class, ok := classes.Load(key); ok {
		return class.(string)
	}
	class, _ := classes.LoadOrStore(key, p.class())
	return class.(string)
}

// classes maps the texts of provenances to their classes, so that hundreds of thousands of
// records share one string.
var classes sync.Map

func (p Provenance) class() string {
	if p.BLAS == "" {
		return ""
	}
	platform := append(goPlatform.FindStringSubmatch(p.Go), "", "", "")
	arch, level := platform[1], platform[2]
	parts := []string{p.BLAS}
	if m := blasText.FindStringSubmatch(p.BLAS); m != nil {
		parts = kernels(m[1], m[2], m[3], arch)
		if m[4] != "" {
			parts = append(parts, "nofma")
		}
	}
	class := joined(append(parts, level))
	if p.GPU == "" {
		return class
	}
	library := append(gpuKernels.FindStringSubmatch(p.GPU), "", "")[1]
	generation := ""
	if m := gpuProduced.FindStringSubmatch(p.GPU); m != nil {
		generation = "sm" + m[1] + m[2]
	}
	return class + "+" + joined([]string{"cublas", library, generation})
}

// Toolchain returns the text of a provenance about Go: its version, the platform, and the
// level of the instruction set where it changes bits, because from v3 up the compiler fuses
// products and sums on amd64.
func Toolchain() string {
	text := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" && s.Value >= "v3" {
			text += " " + s.Value
		}
	}
	return text
}

// kernels returns the parts of a class that the library determines. details is the text in
// parentheses: a core type and a path, or a path alone.
func kernels(name, version, details, arch string) []string {
	switch name {
	case "gonum":
		return []string{name, arch}
	case "privkern":
		// Its kernels have the same bits on every processor, but Go fuses the products and
		// sums around them on other architectures than amd64.
		if arch == "amd64" {
			arch = ""
		}
		return []string{name, arch}
	}
	core, file, two := strings.Cut(details, ", ")
	if !two || !coreType.MatchString(core) {
		core, file = arch, details
	}
	if name == "BLAS" { // a library of which only the file is known
		version = path.Base(strings.ReplaceAll(file, `\`, "/"))
	}
	return []string{name, version, core}
}

// joined returns one word with the parts that are not empty.
func joined(parts []string) string {
	var out []string
	for _, s := range parts {
		if s = strings.Trim(notInClass.ReplaceAllString(strings.ToLower(s), "-"), "-"); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "-")
}

// Classes counts trials by their BLAS class; unknownClass stands for records without one.
type Classes map[string]int

const unknownClass = "unknown"

// Add counts trials of a class.
func (c Classes) Add(class string, trials int) {
	c[cmp.Or(class, unknownClass)] += trials
}

// Names returns the classes in descending order of their trials.
func (c Classes) Names() []string {
	names := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(c[b], c[a]) })
	return names
}

// String returns one class, or several with their trials, such as
// "gonum-amd64 (3 trials), openblas-0.3.21-skylakex (2 trials)".
func (c Classes) String() string {
	names := c.Names()
	if len(names) > 1 {
		for i, name := range names {
			names[i] = fmt.Sprintf("%s (%s)", name, text.Count(c[name], "trial"))
		}
	}
	return strings.Join(names, ", ")
}

// Sentence returns the footnote of a table whose trials have several BLAS classes; it is
// empty for one class, because its results are consistent.
func (c Classes) Sentence() string {
	if len(c) < 2 {
		return ""
	}
	return fmt.Sprintf("BLAS: %s; %s.", c, LastBits)
}

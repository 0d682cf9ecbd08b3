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

// LastBits says what two classes of kernels mean for results. The first number is beyond
// what default settings were seen to differ by, 4e-11. The second is what ill-conditioned
// problems make of rounding, and solvers, which stop at a tolerance a step sooner or later.
const LastBits = "results of different classes may differ in the last digits, by a relative 1e-10, or 1e-7 where a " +
	"problem is ill-conditioned or a solver stops at a tolerance"

// The texts of a provenance that say what rounds how, as they are written:
//
//	blas  OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0) | privkern (avx512) | gonum (pure Go), each with " without FMA"
//	      behind it where that is so
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

// Class names the class of kernels that computed a record: what has the same class
// and the same key has the same bits. It is derived from the texts of the
// provenance alone, so that records of all versions have one:
//
//   - the BLAS library with its version and the processor kernels that it chose,
//     such as "openblas-0.3.21-skylakex", "gonum-amd64" for pure Go, or "privkern" for
//     the kernels of this program, whose bits are the same at every level of vector
//     instructions;
//   - "nofma" behind it where an amd64 processor has no fused multiply-add, since
//     Go's exponential rounds differently there; "v3" where the program was built
//     with GOAMD64=v3 or above, since the compiler then fuses products and sums;
//   - on a GPU, "+cublas-12.8.4-sm90" behind it: the products' library and the
//     processor's generation.
//
// It is empty where the provenance names no BLAS.
func (p Provenance) Class() string {
	from := Provenance{BLAS: p.BLAS, Go: p.Go, GPU: p.GPU}
	key := [3]string{from.BLAS, from.Go, from.GPU}
	if class, ok := classes.Load(key); ok {
		return class.(string)
	}
	class, _ := classes.LoadOrStore(key, from.class())
	return class.(string)
}

// classes are those of the texts seen, which are few: records by the hundred
// thousand share one text in memory.
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

// Toolchain is what a provenance says of Go: its version, the platform, and the level
// of the instruction set that the program was built for where it changes bits. From
// v3 up the compiler fuses products and sums on amd64.
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

// kernels are the parts of a class that the library gives; in are the words in
// parentheses, a core type and a path, or a path alone.
func kernels(name, version, in, arch string) []string {
	switch name {
	case "gonum":
		return []string{name, arch}
	case "privkern":
		// Its kernels have the same bits on every processor. What Go compiles around them has
		// not: it fuses products and sums on other architectures than amd64.
		if arch == "amd64" {
			arch = ""
		}
		return []string{name, arch}
	}
	core, file, two := strings.Cut(in, ", ")
	if !two || !coreType.MatchString(core) {
		core, file = arch, in
	}
	if name == "BLAS" { // some library: its file is all that is known of it
		version = path.Base(strings.ReplaceAll(file, `\`, "/"))
	}
	return []string{name, version, core}
}

// joined makes one word of the parts that are not empty.
func joined(parts []string) string {
	var out []string
	for _, s := range parts {
		if s = strings.Trim(notInClass.ReplaceAllString(strings.ToLower(s), "-"), "-"); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "-")
}

// Classes counts trials by their class of kernels; unknownClass stands for the
// records that do not say.
type Classes map[string]int

const unknownClass = "unknown"

// Add counts trials of a class.
func (c Classes) Add(class string, trials int) {
	c[cmp.Or(class, unknownClass)] += trials
}

// Names are the classes, the one of most trials first.
func (c Classes) Names() []string {
	names := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(c[b], c[a]) })
	return names
}

// String names one class, or several with their trials, such as
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

// Sentence says what computed a table of these trials; it is empty where there are
// none.
func (c Classes) Sentence() string {
	switch len(c) {
	case 0:
		return ""
	case 1:
		return "Class of kernels: " + c.String() + "."
	}
	return fmt.Sprintf("%d classes of kernels: %s; %s.", len(c), c, LastBits)
}

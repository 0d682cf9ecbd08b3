package cli

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"privkern/graphs/cpublas"
	"privkern/graphs/cuda"
	"privkern/runner/record"
)

// TestClass holds the texts that a machine writes into records against the classes that
// package record reads from them.
func TestClass(t *testing.T) {
	openBLAS := cpublas.Info{Name: "OpenBLAS", Version: "0.3.21", CoreType: "SKYLAKEX", Path: "libopenblas.so.0"}
	with := func(change func(*cpublas.Info)) cpublas.Info {
		i := openBLAS
		change(&i)
		return i
	}
	gpu := cuda.Info{Name: "NVIDIA H200", Major: 9, Minor: 0, Driver: "570.1", Version: 12080, Compiler: "12.8",
		Products: "12.8.4", Solver: "11.7.3"}
	older := gpu
	older.Products = ""
	for _, c := range []struct {
		name     string
		blas     cpublas.Info
		platform string
		gpu      string
		want     string
	}{
		{"kernels of our own", cpublas.Info{Name: "privkern", CoreType: "avx512"}, "linux/amd64", "", "privkern"},
		{"at another level", cpublas.Info{Name: "privkern", CoreType: "portable"}, "linux/amd64", "", "privkern"},
		{"on another architecture", cpublas.Info{Name: "privkern", CoreType: "neon"}, "linux/arm64", "", "privkern-arm64"},
		{"pure Go", cpublas.Info{Name: "gonum"}, "linux/amd64", "", "gonum-amd64"},
		{"another architecture", cpublas.Info{Name: "gonum"}, "darwin/arm64", "", "gonum-arm64"},
		{"no fused multiply-add", cpublas.Info{Name: "gonum", NoFMA: true}, "linux/amd64", "", "gonum-amd64-nofma"},
		{"built to fuse", cpublas.Info{Name: "gonum"}, "linux/amd64 v3", "", "gonum-amd64-v3"},
		{"OpenBLAS", openBLAS, "linux/amd64", "", "openblas-0.3.21-skylakex"},
		{"the same library in another place", with(func(i *cpublas.Info) { i.Path = "/opt/a, (b)/libopenblas.so" }),
			"linux/amd64", "",
			"openblas-0.3.21-skylakex"},
		{"other processor kernels", with(func(i *cpublas.Info) { i.CoreType = "HASWELL" }), "linux/amd64", "",
			"openblas-0.3.21-haswell"},
		{"another version", with(func(i *cpublas.Info) { i.Version = "0.3.26" }), "linux/amd64", "",
			"openblas-0.3.26-skylakex"},
		{"OpenBLAS without fused multiply-add", with(func(i *cpublas.Info) { i.CoreType, i.NoFMA = "NEHALEM", true }),
			"linux/amd64", "",
			"openblas-0.3.21-nehalem-nofma"},
		{"no kernels named", with(func(i *cpublas.Info) { i.CoreType = "" }), "linux/arm64", "", "openblas-0.3.21-arm64"},
		{"no kernels named, in another place",
			with(func(i *cpublas.Info) { i.CoreType, i.Path = "", "/opt/a, b/libopenblas.so" }),
			"linux/arm64", "", "openblas-0.3.21-arm64"},
		{"MKL", cpublas.Info{Name: "MKL", Version: "2024.2", CoreType: "AVX512", Path: "libmkl_rt.so.2"}, "linux/amd64", "",
			"mkl-2024.2-avx512"},
		{"some library", cpublas.Info{Name: "BLAS", CoreType: "AVX2", Path: "/opt/my blas/libblis.so.4"}, "linux/amd64", "",
			"blas-libblis.so.4-avx2"},
		{"a GPU", openBLAS, "linux/amd64", gpu.String(), "openblas-0.3.21-skylakex+cublas-12.8.4-sm90"},
		{"a GPU of unknown libraries", openBLAS, "linux/amd64", older.String(), "openblas-0.3.21-skylakex+cublas-sm90"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := record.Provenance{Go: "go1.26.8 " + c.platform, BLAS: c.blas.String(), GPU: c.gpu}
			if got := p.Class(); got != c.want {
				t.Errorf("%q, %q: got %q, want %q", p.BLAS, p.Go, got, c.want)
			}
		})
	}
	// This machine's texts are of the same form.
	here, info := host("").Class(), cpublas.Setup()
	want := strings.ToLower(info.Name)
	if info.Name == "gonum" || info.Name == "privkern" && runtime.GOARCH != "amd64" {
		want += "-" + runtime.GOARCH
	}
	if !strings.HasPrefix(here, want) || strings.ContainsAny(here, " (),") {
		t.Errorf("this machine has the class %q; want a word that begins with %q", here, want)
	}
}

// Only a program that was built to run at once is of the commit that the checkout is at.
func TestUnderGoRun(t *testing.T) {
	for _, c := range []struct {
		executable, cache string
		want              bool
	}{
		{"/tmp/go-build1825095738/b001/exe/run", "", true},
		{"/home/ada/.cache/go-build/da/da7366a0-d/run", "", true},
		{"/cache/da/da7366a0-d/run", "/cache", true},
		{"/cache2/run", "/cache", false},
		{"/home/ada/go/bin/run", "", false},
		{"/home/ada/go/bin/run", "/home/ada/.cache/go-build", false},
		{"/home/ada/privkern/go-build", "", false},
	} {
		t.Run(c.executable, func(t *testing.T) {
			if got := underGoRun(c.executable, c.cache); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// The module of a program is named whether its commit is known or not.
func TestBuiltFrom(t *testing.T) {
	at := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}
	for _, c := range []struct {
		path     string
		settings []debug.BuildSetting
		want     string
	}{
		{module, at, "abc-dirty"}, {module, nil, ""}, {"", nil, ""},
		{"example.org/mine", at, "example.org/mine@abc-dirty"}, {"example.org/mine", nil, "example.org/mine@unknown"},
	} {
		if got := builtFrom(&debug.BuildInfo{Main: debug.Module{Path: c.path}, Settings: c.settings}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.path, got, c.want)
		}
	}
}

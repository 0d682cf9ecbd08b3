package simd_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"privkern/graphs/simd"
)

// The level is the best one, unless the environment variable sets another.
func TestLevelOfTheEnvironment(t *testing.T) {
	levels := simd.Levels()
	best := levels[len(levels)-1].String()
	cases := []struct{ set, level, err string }{
		{"", best, ""},
		{"portable", "portable", ""},
		{best, best, ""},
		{"sse9", best, "PRIVKERN_SIMD=sse9: this processor has " + best},
	}
	for _, c := range cases {
		t.Run(c.set, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestReportLevel$", "-test.v")
			cmd.Env = append(os.Environ(), simd.EnvVar+"="+c.set, "PRIVKERN_REPORT_LEVEL=1")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "level "+c.level+"\n") {
				t.Errorf("want level %s:\n%s", c.level, out)
			}
			if strings.Contains(string(out), "error ") != (c.err != "") || !strings.Contains(string(out), c.err) {
				t.Errorf("want error %q:\n%s", c.err, out)
			}
		})
	}
}

// TestReportLevel is the process that TestLevelOfTheEnvironment starts.
func TestReportLevel(t *testing.T) {
	if os.Getenv("PRIVKERN_REPORT_LEVEL") == "" {
		t.Skip("it is started by TestLevelOfTheEnvironment")
	}
	if err := simd.Setup(); err != nil {
		t.Logf("error %v", err)
	}
	t.Logf("level %v", simd.Active())
}

// Use changes the level until it is restored, to one that the processor has.
func TestUse(t *testing.T) {
	before := simd.Active()
	restore := simd.Use(simd.Portable)
	if got := simd.Active(); got != simd.Portable {
		t.Errorf("the level is %v", got)
	}
	restore()
	if got := simd.Active(); got != before {
		t.Errorf("the level is %v, before it was %v", got, before)
	}
	for _, l := range []simd.Level{simd.NEON, simd.AVX2, simd.AVX512} {
		if slices.Contains(simd.Levels(), l) {
			continue
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a processor without %v uses it", l)
				}
			}()
			simd.Use(l)()
		}()
	}
}

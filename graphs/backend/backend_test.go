package backend

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// fake is a device that computes as the host does, but for faults.
type fake struct {
	launch error                // of every operation
	spoil  func(gorgonia.Value) // changes a downloaded value
	closed *int
}

func (f fake) Device() engine.Device { return f }
func (f fake) String() string        { return "A fake device" }
func (f fake) Close() error          { *f.closed++; return nil }

func (f fake) Alloc(int) (engine.Buf, error) { return new(gorgonia.Value), nil }
func (f fake) Free(engine.Buf)               {}
func (f fake) Sync() error                   { return nil }

func (f fake) Detach() (engine.Tail, error)                    { return nil, nil }
func (f fake) After(engine.Tail) error                         { return nil }
func (f fake) Take(t engine.DTensor) (engine.Buf, error)       { return t.Buf, nil }
func (f fake) Lend(kept, _ engine.DTensor) (engine.Buf, error) { return kept.Buf, nil }

func (f fake) Upload(dst engine.DTensor, v gorgonia.Value) (err error) {
	*dst.Buf.(*gorgonia.Value), err = gorgonia.CloneValue(v)
	return err
}

func (f fake) Download(src engine.DTensor) (gorgonia.Value, error) {
	v, err := gorgonia.CloneValue(*src.Buf.(*gorgonia.Value))
	if err == nil && f.spoil != nil {
		f.spoil(v)
	}
	return v, err
}

func (f fake) Launch(o gorgonia.Op, out engine.DTensor, in []engine.DTensor) (err error) {
	if f.launch != nil {
		return f.launch
	}
	values := make([]gorgonia.Value, len(in))
	for i, t := range in {
		values[i] = *t.Buf.(*gorgonia.Value)
	}
	*out.Buf.(*gorgonia.Value), err = o.Do(values...)
	return err
}

// scalars applies f to the scalars that are downloaded, matrices to the elements of
// matrices.
func scalars(f func(float64) float64) func(gorgonia.Value) {
	return func(v gorgonia.Value) {
		switch v := v.(type) {
		case *gorgonia.F64:
			*v = gorgonia.F64(f(float64(*v)))
		case *gorgonia.F32:
			*v = gorgonia.F32(f(float64(*v)))
		}
	}
}

func matrices(f func(float64) float64) func(gorgonia.Value) {
	return func(v gorgonia.Value) {
		switch data := engine.Data(v).(type) {
		case []float64:
			for i := range data {
				data[i] = f(data[i])
			}
		case []float32:
			for i := range data {
				data[i] = float32(f(float64(data[i])))
			}
		}
	}
}

func TestChoose(t *testing.T) {
	absentDriver := fmt.Errorf("%w: no file", engine.ErrNoDriver)
	times := func(by float64) func(float64) float64 { return func(x float64) float64 { return x * by } }
	for _, c := range []struct {
		name   string
		device fake
		open   error // of the device
		loaded bool  // the kernel has the driver
		dtype  string
		want   string // the reason against the device; "" where it is taken
		silent bool   // auto does not say the reason
	}{
		{name: "a device", dtype: "float64"},
		{name: "a device in float32", dtype: "float32"},
		{name: "no driver", open: absentDriver, dtype: "float64", want: "cannot be loaded: no file", silent: true},
		{name: "a build without CUDA", open: engine.ErrNoCUDA, dtype: "float64", want: "CUDA needs Linux",
			silent: true},
		{name: "a driver in the kernel only", open: absentDriver, loaded: true, dtype: "float64",
			want: "backend cuda: the NVIDIA driver cannot be loaded: no file"},
		{name: "no device", open: errors.New("no device"), dtype: "float64", want: "backend cuda: no device"},
		{name: "launches fail", device: fake{launch: engine.ErrDeviceLost}, dtype: "float64",
			want: "backend cuda: a test problem: .*the device is lost"},
		{name: "solutions are wrong", device: fake{spoil: matrices(times(1 + 1e-9))}, dtype: "float64",
			want: "the device computes"},
		{name: "solutions are wrong in float32", device: fake{spoil: matrices(times(1 + 1e-5))}, dtype: "float32",
			want: "the device computes"},
		{name: "logarithms are wrong", device: fake{spoil: scalars(times(1 + 1e-9))}, dtype: "float64",
			want: "a log-determinant of 1.386"},
		{name: "logarithms are no numbers", device: fake{spoil: scalars(times(math.NaN()))}, dtype: "float64",
			want: "a log-determinant of NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := filepath.Join(t.TempDir(), "version")
			if c.loaded {
				if err := os.WriteFile(module, nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			defer func(path string) { kernelModule = path }(kernelModule)
			kernelModule = module
			closed, opened := 0, 0
			c.device.closed = &closed
			engine.Register("cuda", func() (engine.Accelerator, error) {
				if c.open != nil {
					return nil, c.open
				}
				opened++
				return c.device, nil
			})

			named, err := Choose("cuda", c.dtype)
			switch {
			case c.want == "":
				check(t, named, err, Choice{Backend: "cuda", Device: "A fake device"})
			case err == nil || !matches(err, c.want):
				t.Errorf("cuda: %v, want %s", err, c.want)
			}
			auto, err := Choose(Auto, c.dtype)
			refused := auto.Refused
			auto.Refused = nil
			if c.want == "" {
				check(t, auto, err, Choice{Backend: "cuda", Device: "A fake device"})
			} else {
				check(t, auto, err, Choice{Backend: "cpu"})
			}
			if said := c.want != "" && !c.silent; said != (refused != nil) || said && !matches(refused, c.want) {
				t.Errorf("auto: refused because of %v, want %s", refused, c.want)
			}
			cpu, err := Choose("cpu", c.dtype)
			check(t, cpu, err, Choice{Backend: "cpu"})
			if closed != opened {
				t.Errorf("%d of %d engines are closed", closed, opened)
			}
		})
	}
}

func check(t *testing.T, got Choice, err error, want Choice) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// matches reports whether the parts of a pattern, separated by ".*", are in an error in
// their order.
func matches(err error, pattern string) bool {
	rest := err.Error()
	for part := range strings.SplitSeq(pattern, ".*") {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return true
}

func TestChooseRefuses(t *testing.T) {
	for _, c := range []struct{ name, dtype, want string }{
		{"tpu", "float64", `unknown backend "tpu"`},
		{Auto, "float16", `unknown element type "float16"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := Choose(c.name, c.dtype); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Backend: "cpu"}, "cpu"},
		{Choice{Backend: "cuda", Device: "NVIDIA H100"}, "cuda; NVIDIA H100"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := c.choice.String(); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// Each device is opened by its number, and closed.
func TestDevices(t *testing.T) {
	lost := fake{launch: engine.ErrDeviceLost}
	wrong := fake{spoil: matrices(func(x float64) float64 { return 2 * x })}
	for _, c := range []struct {
		name    string
		devices []fake // the first was tested
		taken   []int
		refused []string
	}{
		{"one", []fake{{}}, []int{0}, nil},
		{"all pass", []fake{{}, {}, {}}, []int{0, 1, 2}, nil},
		{"one fails", []fake{{}, wrong, {}}, []int{0, 2}, []string{"device 1 is not taken: .*the device computes"}},
		{"the last is lost", []fake{{}, {}, lost}, []int{0, 1}, []string{"device 2 is not taken: .*the device is lost"}},
		{"one is lost", []fake{{}, lost, {}, {}}, []int{0},
			[]string{"device 1 is not taken: .*the device is lost", "devices from 2 on are not tested after that"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(engine.DeviceVariable, "") // restored at the end
			opened, closed := 0, 0
			engine.Register("cuda", func() (engine.Accelerator, error) {
				i, err := strconv.Atoi(os.Getenv(engine.DeviceVariable))
				if err != nil {
					return nil, err
				}
				opened++
				d := c.devices[i]
				d.closed = &closed
				return d, nil
			})
			taken, refused := Devices(len(c.devices), "float64")
			if !slices.Equal(taken, c.taken) {
				t.Errorf("took %v, want %v", taken, c.taken)
			}
			if len(refused) != len(c.refused) {
				t.Fatalf("refused %v, want %q", refused, c.refused)
			}
			for i, want := range c.refused {
				if !matches(refused[i], want) {
					t.Errorf("refused %v, want %s", refused[i], want)
				}
			}
			if closed != opened {
				t.Errorf("%d of %d engines are closed", closed, opened)
			}
			if set, ok := os.LookupEnv(engine.DeviceVariable); ok {
				t.Errorf("%s stays %q", engine.DeviceVariable, set)
			}
		})
	}
}

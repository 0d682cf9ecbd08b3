package cost_test

import (
	"math"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/op"
)

func TestPredict(t *testing.T) {
	d := cost.Device{Times: cost.Times{Start: 2, Compile: 100}}
	half := cost.Tried{Trials: 8, Host: 10, Outside: 4, Device: 1} // of a second trial that takes as long
	for _, c := range []struct {
		name        string
		plan        cost.Plan
		cpu, device float64
		pays        bool
	}{
		{"one at a time", cost.Plan{Tried: []cost.Tried{half}, Jobs: 1, DeviceJobs: 1, Devices: 1, Starts: 1}, 80, 42, true},
		{"many cores", cost.Plan{Tried: []cost.Tried{half}, Jobs: 4, DeviceJobs: 1, Devices: 1, Starts: 1}, 20, 42, false},
		{"more cores than trials", cost.Plan{Tried: []cost.Tried{half}, Jobs: 99, DeviceJobs: 1, Devices: 1}, 10, 40, false},
		{"jobs share a device", cost.Plan{Tried: []cost.Tried{half}, Jobs: 4, DeviceJobs: 4, Devices: 1}, 20, 16, true},
		{"two devices", cost.Plan{Tried: []cost.Tried{half}, Jobs: 4, DeviceJobs: 2, Devices: 2, Starts: 2}, 20, 24, false},
		{"first compilation", cost.Plan{Tried: []cost.Tried{half}, Jobs: 1, Starts: 1, Cold: true}, 80, 142, false},
		{"trials that run alone", cost.Plan{Tried: []cost.Tried{half, {Trials: 1, Host: 100, Device: 1, Alone: true}},
			Jobs: 8, DeviceJobs: 2, Devices: 2, Starts: 1}, 110, 23, true},
		{"within the margin", cost.Plan{Tried: []cost.Tried{{Trials: 1, Host: 10, Outside: 8, Device: .1}}}, 10, 8.1, false},
		{"outside of it", cost.Plan{Tried: []cost.Tried{{Trials: 1, Host: 10, Outside: 7.8, Device: .1}}}, 10, 7.9, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.plan.Predict(d)
			if math.Abs(p.CPU-c.cpu) > 1e-9 || math.Abs(p.Device-c.device) > 1e-9 || p.Pays() != c.pays {
				t.Errorf("%+v, pays: %v", p, p.Pays())
			}
		})
	}
}

// Work is predicted for a device of one's own as for a named one, and by its own parameters.
func TestOwnDevice(t *testing.T) {
	shape := tensor.Shape{500, 500}
	cost.SetOwn(cost.Devices[1])
	as := count(t, op.Cholesky(), shape, shape)
	slow := cost.Devices[1]
	slow.Stage *= 100
	cost.SetOwn(slow)
	slower := count(t, op.Cholesky(), shape, shape)
	own, named := as.Seconds.Own(), as.Seconds[1]
	if own != named || slower.Seconds.Own() < 10*own || slower.Seconds[1] != named {
		t.Errorf("%v and %v", as.Seconds, slower.Seconds)
	}
	if s := cost.Copies(1, 1e9, 1e9); s[1] < 0.3 || s[1] > 0.4 { // 10 GB/s up and 5 down are the host's
		t.Errorf("copies take %g s", s[1])
	}
}

func TestModelOf(t *testing.T) {
	for _, c := range []struct {
		name              string
		minor, processors int
		like              string
		share             float64 // of its product rate
	}{
		{"NVIDIA H200", 0, 132, "H200", 1},
		{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 0, 16, "H100", 16. / 132},
		{"Tesla V100-SXM2-16GB", 0, 80, "A100", 80. / 108},
		{"NVIDIA L4", 9, 58, "RTX 4070 Laptop", 58. / 36},
		{"Simulated CUDA device 0", 0, 4, "simulated device", 1},
	} {
		d, of := cost.ModelOf(c.name, c.minor, c.processors), cost.ModelOf(c.name, c.minor, 0)
		if d.Name != c.like || math.Abs(d.Product64-c.share*of.Product64) > 1e-9*of.Product64 {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

func TestCalibrationFile(t *testing.T) {
	const device = "NVIDIA H200 (compute capability 9.0), CUDA 12.8"
	content, err := (&cost.Calibration{Device: device, Model: cost.Devices[1]}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.ReadCalibration(content, device)
	if err != nil || c.Model != cost.Devices[1] {
		t.Fatalf("%+v, %v", c, err)
	}
	whole := string(content)
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "it is cut off"},
		{"torn", whole[:len(whole)/2], "it is cut off"},
		{"two", whole + whole, "more than one"},
		{"text", "not found", "no calibration"},
		{"another shape", `{"schema": 1, "h200": {}}`, "no calibration"},
		{"a later schema", strings.Replace(whole, `"schema": 1`, `"schema": 2`, 1), "schema 2"},
		{"another driver", strings.Replace(whole, "12.8", "12.9", 1), "it is of NVIDIA H200"},
		{"small problems", strings.Replace(whole, `"small": false`, `"small": true`, 1), "--small"},
		{"not a number", strings.Replace(whole, `"wait": 0.00002`, `"wait": NaN`, 1), "no calibration"},
		{"negative", strings.Replace(whole, `"wait": 0.00002`, `"wait": -0.00002`, 1), "wait is -2e-05"},
		{"absent", strings.Replace(whole, `"wait": 0.00002`, `"wait": 0`, 1), "wait is 0"},
		{"absurd", strings.Replace(whole, `"memory": 4800000000000`, `"memory": 4.8e30`, 1), "memory is 4.8e+30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.content == whole {
				t.Fatal("nothing was changed")
			}
			if _, err := cost.ReadCalibration([]byte(c.content), device); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := (&cost.Calibration{Device: device, Model: cost.Device{Name: "nothing"}}).Encode(); err == nil {
		t.Error("zeros are written")
	}
}

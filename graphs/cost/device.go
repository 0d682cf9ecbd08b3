package cost

import (
	"math"
	"strings"
	"sync/atomic"
)

// Device holds the parameters of a device in the model: rates in operations per second,
// bandwidths in bytes per second, times in seconds.
type Device struct {
	Name string `json:"name"`
	// Product64 and Product32 are the peak rates of matrix products, with tensor cores
	// where they compute in full precision; Vector64 and Vector32 those of all else.
	Product64  float64 `json:"product64"`
	Product32  float64 `json:"product32"`
	Vector64   float64 `json:"vector64"`
	Vector32   float64 `json:"vector32"`
	Memory     float64 `json:"memory"` // bandwidth of the memory
	Processors int     `json:"processors"`
	Times
}

// Times are those parameters that depend more on the host than on the device.
type Times struct {
	// Up and Down are the rates at which values get to the device and back: through page-locked
	// memory, in one copy by a thread of the host and one over the link.
	Up     float64 `json:"up"`
	Down   float64 `json:"down"`
	Launch float64 `json:"launch"` // from one launch to the next of a queue
	Node   float64 `json:"node"`   // from one kernel to the next of a CUDA graph
	Stage  float64 `json:"stage"`  // one of a library's kernels that waits for the one before
	Column float64 `json:"column"` // of the reduction of a matrix to tridiagonal form
	Wait   float64 `json:"wait"`   // the host asleep until the queue is empty, and awake again
	Copy   float64 `json:"copy"`   // besides its bytes
	Start  float64 `json:"start"`  // context, handles of the libraries, loading the kernels
	// Compile is the first compilation of the kernels, which the user's cache folder keeps.
	Compile float64 `json:"compile"`
}

// Times that depend little on the device, in seconds.
const (
	launchTime = 5e-6   // from one launch to the next of a queue
	nodeTime   = 1.5e-6 // from one kernel to the next of a CUDA graph
	stageTime  = 5e-6   // one of a library's kernels that waits for the one before
	waitTime   = 20e-6  // the host asleep until the queue is empty, and awake again
	copyTime   = 10e-6  // a copy, besides its bytes
	// share of the peak rate that large products reach
	attained = 0.85
)

// PeakOf returns the peak rate of products of which large ones reach a rate.
func PeakOf(rate float64) float64 { return rate / attained }

// typical are the times of a device behind a link of some bandwidth. Staging copies at 10 GB/s
// up and, into memory that the host has never used, at 5 down, as measured on an x86-64 core; the
// compilation was measured there, too. The time of a node is of the 1 to 2 µs that NVIDIA gives for
// straight chains ("Constant time launch for straight-line CUDA graphs", developer blog, 2024). The other times are
// estimates.
func typical(link float64) Times {
	const up, down = 10e9, 5e9
	return Times{Up: 1 / (1/up + 1/link), Down: 1 / (1/down + 1/link), Launch: launchTime, Node: nodeTime,
		Stage: stageTime, Column: 12 * stageTime, Wait: waitTime, Copy: copyTime, Start: 0.6, Compile: 15}
}

// Devices are the devices of the predictions. The rates are the peaks in NVIDIA's data sheets
// of the H100 SXM, the H200 SXM, the A100 SXM 80 GB and the GeForce RTX 4070 Laptop; the
// bandwidths of the link are those of copies over PCI Express 5, 5, 4 and 4 with eight lanes.
var Devices = [...]Device{
	{"H100", 67e12, 67e12, 34e12, 67e12, 3.35e12, 132, typical(50e9)},
	{"H200", 67e12, 67e12, 34e12, 67e12, 4.8e12, 132, typical(50e9)},
	{"A100", 19.5e12, 19.5e12, 9.7e12, 19.5e12, 2.04e12, 108, typical(25e9)},
	{"RTX 4070 Laptop", 0.24e12, 15.6e12, 0.24e12, 15.6e12, 0.256e12, 36, typical(12e9)},
}

// simulated is the device of package cudasim, which one core computes: by far the slowest.
var simulated = Device{"simulated device", 1e8, 1e8, 2e7, 2e7, 1e9, 4, Times{Up: 1e9, Down: 1e9, Launch: 1e-4,
	Node: 1e-4, Stage: 1e-4, Column: 1e-3, Wait: 1e-3, Copy: 1e-4, Start: 1, Compile: 60}}

// Simulated reports whether a device's name is that of a simulated one.
func Simulated(name string) bool { return strings.HasPrefix(name, "Simulated ") }

// ModelOf returns the parameters for a device that was never measured: those of the device of
// [Devices] that its name holds, or of the slower one that has the same kind of float64 units, as
// the minor number of its compute capability tells, which is 0 in data centres. Rates and bandwidth
// are those of its multiprocessors: a part of a device (MIG) has a part of them.
func ModelOf(name string, minor, processors int) Device {
	d := Devices[3]
	if minor == 0 {
		d = Devices[2]
	}
	for _, named := range Devices {
		if strings.Contains(name, named.Name) {
			d = named
			break
		}
	}
	if Simulated(name) {
		return simulated
	}
	if processors > 0 {
		share := float64(processors) / float64(d.Processors)
		for _, rate := range []*float64{&d.Product64, &d.Product32, &d.Vector64, &d.Vector32, &d.Memory} {
			*rate *= share
		}
		d.Processors = processors
	}
	return d
}

// own is the device of this machine, for which work is predicted, too; nil for none.
var own atomic.Pointer[Device]

// SetOwn has the work that is counted from now on be predicted for a device of this machine, in
// the last element of [Seconds].
func SetOwn(d Device) { own.Store(&d) }

// Seconds are times by device, in the order of [Devices]; the last is that of [SetOwn].
type Seconds [len(Devices) + 1]float64

// each returns the times by f on all devices.
func each(f func(Device) float64) (s Seconds) {
	for i, d := range Devices {
		s[i] = f(d)
	}
	if d := own.Load(); d != nil {
		s[len(Devices)] = f(*d)
	}
	return s
}

// Own returns the time on the device of [SetOwn], 0 where there is none.
func (s Seconds) Own() float64 { return s[len(Devices)] }

// Add adds other times.
func (s *Seconds) Add(other Seconds) {
	for i, t := range other {
		s[i] += t
	}
}

// ByName returns the times by the devices' names.
func (s Seconds) ByName() map[string]float64 {
	m := map[string]float64{}
	for i, d := range Devices {
		m[d.Name] = s[i]
	}
	return m
}

// step is one launch or one call of a library.
type step struct {
	launches   int
	stages     float64 // of a library's call, each waiting for the one before
	columns    float64 // that are brought to tridiagonal form one after another
	operations float64
	product    bool // the operations are those of a matrix product
	double     bool // in float64 for either element type
	traffic    float64
	blocks     float64 // that can run at the same time
}

// seconds returns the longest of the step's four times, with that of one launch.
func (s step) seconds(d Device, single bool, launch float64) float64 {
	vector, product := d.Vector64, d.Product64
	if single {
		vector, product = d.Vector32, d.Product32
	}
	rate := vector
	if s.product {
		rate = attained * product
	}
	busy := s.busy(float64(d.Processors))
	return max(float64(s.launches)*launch, s.stages*d.Stage+s.columns*d.Column, s.operations/(rate*busy),
		s.traffic/(d.Memory*busy))
}

// busy returns the share of the multiprocessors that have work, b/(⌈b/p⌉p) for b blocks on p of
// them: blocks run in waves, and the last wave may leave some idle.
func (s step) busy(processors float64) float64 {
	return s.blocks / (math.Ceil(s.blocks/processors) * processors)
}

// Copies returns the times of copies between host and device, of some bytes each way.
func Copies(count int, up, down int64) Seconds {
	return each(func(d Device) float64 { return float64(count)*d.Copy + float64(up)/d.Up + float64(down)/d.Down })
}

// Waits returns the times of waiting for the device.
func Waits(count int) Seconds { return each(func(d Device) float64 { return float64(count) * d.Wait }) }

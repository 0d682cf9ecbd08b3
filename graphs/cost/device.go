package cost

import "math"

// Device holds the parameters of a device in the model: rates in operations per second,
// bandwidths in bytes per second.
type Device struct {
	Name string
	// Product64 and Product32 are the peak rates of matrix products, with tensor cores
	// where they compute in full precision; Vector64 and Vector32 those of all else.
	Product64, Product32, Vector64, Vector32 float64
	Memory, Link                             float64 // bandwidth of the memory, and to the host
	Processors                               int     // multiprocessors
}

// Devices are the devices of the predictions. The rates are the peaks in NVIDIA's data sheets
// of the H100 SXM, the H200 SXM, the A100 SXM 80 GB and the GeForce RTX 4070 Laptop; the
// bandwidths of the link are those of copies over PCI Express 5, 5, 4 and 4 with eight lanes.
var Devices = [...]Device{
	{"H100", 67e12, 67e12, 34e12, 67e12, 3.35e12, 50e9, 132},
	{"H200", 67e12, 67e12, 34e12, 67e12, 4.8e12, 50e9, 132},
	{"A100", 19.5e12, 19.5e12, 9.7e12, 19.5e12, 2.04e12, 25e9, 108},
	{"RTX 4070 Laptop", 0.24e12, 15.6e12, 0.24e12, 15.6e12, 0.256e12, 12e9, 36},
}

// Times that depend little on the device, in seconds.
const (
	launchTime = 5e-6 // from one launch to the next of a queue
	// from one kernel to the next of a CUDA graph: an assumption, of the 1 to 2 µs that NVIDIA gives for
	// straight chains ("Constant time launch for straight-line CUDA graphs", developer blog, 2024)
	nodeTime  = 1.5e-6
	stageTime = 5e-6  // one of a library's kernels that waits for the one before
	waitTime  = 20e-6 // the host asleep until the queue is empty, and awake again
	copyTime  = 10e-6 // a copy, besides its bytes
	// share of the peak rate that large products reach
	attained = 0.85
)

// Seconds are times by device, in the order of [Devices].
type Seconds [len(Devices)]float64

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
	return max(float64(s.launches)*launch, s.stages*stageTime, s.operations/(rate*busy), s.traffic/(d.Memory*busy))
}

// busy returns the share of the multiprocessors that have work, b/(⌈b/p⌉p) for b blocks on p of
// them: blocks run in waves, and the last wave may leave some idle.
func (s step) busy(processors float64) float64 {
	return s.blocks / (math.Ceil(s.blocks/processors) * processors)
}

// Copies returns the times of copies between host and device, of some bytes in all.
func Copies(count int, bytes int64) (s Seconds) {
	for i, d := range Devices {
		s[i] = float64(count)*copyTime + float64(bytes)/d.Link
	}
	return s
}

// Waits returns the times of waiting for the device.
func Waits(count int) (s Seconds) {
	for i := range s {
		s[i] = float64(count) * waitTime
	}
	return s
}

package cost

// Margin is the share by which a device has to be faster before a plan is taken to it. Times of
// trials vary by a tenth from run to run, and the model is a roofline: a smaller gain may be none.
// A plan that is kept from a device for the margin alone takes a fifth longer there at most.
const Margin = 0.2

// Tried is a trial that was run on the CPU while its work was counted. Times are wall times in
// seconds.
type Tried struct {
	Trials  float64 // of the plan, that it stands for
	Host    float64 // on the CPU
	Outside float64 // of it outside of runs of programs, on any backend
	Device  float64 // predicted for its programs on the device ([SetOwn])
	Alone   bool    // such trials do not run at the same time
}

// Plan is a sequence of trials, with the resources that they have on either backend.
type Plan struct {
	Tried []Tried
	// Jobs is how many trials run at a time on the CPU, and DeviceJobs on the devices.
	Jobs, DeviceJobs, Devices int
	// Starts is how often the device is opened, one time after another, and Cold reports that
	// its kernels are yet to be compiled.
	Starts int
	Cold   bool
}

// Prediction holds the times of a plan in seconds.
type Prediction struct {
	CPU, Device float64
	Start       float64 // part of Device: opening it, and the first compilation
	Trials      float64 // their number
	Trial       float64 // the mean of one on the CPU
}

// Pays reports whether the device is faster by the margin.
func (p Prediction) Pays() bool { return p.Device <= (1-Margin)*p.CPU }

// Predict predicts a plan on the CPU and on a device. Parts of trials outside of programs take the
// same time on both, and as many at a time as there are jobs; programs share the devices.
func (p Plan) Predict(d Device) (out Prediction) {
	for _, t := range p.Tried {
		out.Trials += t.Trials
	}
	for _, t := range p.Tried {
		jobs, deviceJobs, devices := float64(p.Jobs), float64(p.DeviceJobs), float64(p.Devices)
		if t.Alone {
			jobs, deviceJobs, devices = 1, 1, 1
		}
		jobs, deviceJobs = max(1, min(jobs, out.Trials)), max(1, min(deviceJobs, out.Trials))
		n := t.Trials
		out.CPU += n * t.Host / jobs
		out.Device += n * (t.Outside/deviceJobs + t.Device/max(1, min(devices, deviceJobs)))
		out.Trial += n * t.Host / out.Trials
	}
	out.Start = float64(p.Starts) * d.Start
	if p.Cold {
		out.Start += d.Compile
	}
	out.Device += out.Start
	return out
}

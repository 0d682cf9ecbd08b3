package privacygp

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[example1Settings](settingsSource) }

// inputSettings are the training inputs.
type inputSettings struct {
	// number of training inputs, at i/(points+1)
	//
	// A trial takes a fixed number of eigen-decompositions, 200 in example2: a minute
	// with the most inputs.
	Points int `name:"points" default:"9" min:"1" max:"1000"`
}

// processSettings are the process of Examples 1 and 2 and its data.
type processSettings struct {
	inputSettings
	// rate of the kernel K(x,y) = exp(-theta (x-y)^2)
	Theta float64 `name:"theta" default:"10" above:"0"`
	// variance of the data's own noise, V = noise_variance * I
	NoiseVariance float64 `name:"noise_variance" default:"0" min:"0"`
}

// example1Settings are those of one sensitive input. A tolerance ξ is below the prior
// variance, which checkTolerance explains.
type example1Settings struct {
	processSettings
	// the sensitive input
	S float64 `name:"s" default:"0.5"`
	// privacy tolerance: the predictive variance at s must not be below it
	Xi float64 `name:"xi" default:"0.5" min:"0"`
}

// example2Settings are those of two sensitive inputs.
type example2Settings struct {
	processSettings
	// the first sensitive input
	S1 float64 `name:"s1" default:"0.4"`
	// the second sensitive input
	S2 float64 `name:"s2" default:"0.6"`
	// privacy tolerance at s1
	Xi1 float64 `name:"xi1" default:"0.5" min:"0"`
	// privacy tolerance at s2
	Xi2 float64 `name:"xi2" default:"0.5" min:"0"`
	// off-diagonal entry of Xi in the strong problem; none leaves the strong problem out
	C offDiagonal `name:"c" default:"0.45"`
}

// offDiagonal is the entry c of Ξ, or none.
type offDiagonal = experiment.Or[omission, float64]

// omission is the text of an omitted number.
type omission int

const none omission = 0

func (omission) Choices() []string { return []string{"none"} }

// weakSettings are those of the weak problem at any size.
//
// With 500 training inputs and 60 weakly correlated sensitive inputs the solver takes
// a minute, and its cost grows with their third power.
type weakSettings struct {
	processSettings `max:"points: 500"`
	// the first sensitive input
	SensitiveLow float64 `name:"sensitive_low" default:"0.4"`
	// the last sensitive input
	SensitiveHigh float64 `name:"sensitive_high" default:"0.6"`
	// number of sensitive inputs, evenly spaced
	SensitiveCount int `name:"sensitive_count" default:"2" min:"1" max:"60"`
	// privacy tolerance at every sensitive input
	Xi float64 `name:"xi" default:"0.5" min:"0"`
}

// strongSettings are those of the strong problem at any size.
type strongSettings struct {
	processSettings `max:"points: 500"`
	// the first sensitive input
	SensitiveLow float64 `name:"sensitive_low" default:"0.3"`
	// the last sensitive input
	SensitiveHigh float64 `name:"sensitive_high" default:"0.7"`
	// number of sensitive inputs, evenly spaced
	SensitiveCount int `name:"sensitive_count" default:"5" min:"1" max:"60"`
	// diagonal of Xi: the predictive variance at every sensitive input is at least this
	Xi float64 `name:"xi" default:"0.5" min:"0"`
	// kernel: Xi = H_SS for H(x,y) = xi exp(-theta_h (x-y)^2), Eq. (12); independent:
	// Xi = xi I; weak: the Xi whose solution is the weak one, Theorem 2(2)
	Requirement requirement `name:"requirement" default:"kernel"`
	// rate of H
	ThetaH float64 `name:"theta_h" default:"5" min:"0" when:"requirement is kernel"`
}

// requirement is how Ξ is made.
type requirement int

const (
	kernelMatrix requirement = iota
	independently
	asWeak
)

func (requirement) Choices() []string { return []string{"kernel", "independent", "weak"} }

// nestedSettings are the kernels of Example 3 and the finer and finer sets of inputs.
type nestedSettings struct {
	// rate of K(x,y) = exp(-theta0 (x-y)^2)
	Theta0 float64 `name:"theta0" default:"10" above:"0"`
	// rate of H(x,y) = c exp(-theta (x-y)^2)
	Theta float64 `name:"theta" default:"5" above:"0"`
	// scale of H: the predictive variance at a sensitive input is at least c
	C float64 `name:"c" default:"0.5" min:"0"`
	inputSettings
	// the first sensitive input
	Low float64 `name:"low" default:"-1"`
	// the last sensitive input
	High float64 `name:"high" default:"2"`
	// number of sets: set k has 2^k + 1 inputs, evenly spaced
	Levels int `name:"levels" default:"5" min:"1" max:"9"`
}

// scalingSettings are the settings of the cost of computing the noise.
type scalingSettings struct {
	processSettings `default:"points: 32 || noise_variance: 0.01" max:"points: 4000"`
	// the first sensitive input
	SensitiveLow float64 `name:"sensitive_low" default:"0.3"`
	// the last sensitive input
	SensitiveHigh float64 `name:"sensitive_high" default:"0.7"`
	// number of sensitive inputs, evenly spaced
	SensitiveCount int `name:"sensitive_count" default:"3" min:"1" max:"20"`
	// the predictive variance at every sensitive input is at least xi; Xi = xi K_SS for
	// the strong solution
	Xi float64 `name:"xi" default:"0.5" min:"0"`
	// general: the weak program by a general interior-point method, in all entries of
	// Sigma (at most 60 points); weak: in the unknowns that it comes down to (at most
	// 500); strong: the closed form, from an eigen-decomposition; draw: noise of the
	// strong solution without any decomposition of an n by n matrix
	Method scalingMethod `name:"method" default:"strong"`
}

// scalingMethod computes noise or its covariance.
type scalingMethod int

const (
	generalProgram scalingMethod = iota
	weakProgram
	closedForm
	fastDraw
)

func (scalingMethod) Choices() []string { return []string{"general", "weak", "strong", "draw"} }

// kernelSettings are the kernels of Example 3.
type kernelSettings struct {
	// scale of H(x,y) = c exp(-theta |x-y|^2); at 0 H vanishes, and the region is still
	// bounded by theta <= theta0 as Example 3 states it
	C float64 `name:"c" default:"0.5" min:"0"`
	// rate of H
	Theta float64 `name:"theta" default:"5" min:"0"`
	// rate of K(x,y) = exp(-theta0 |x-y|^2)
	Theta0 float64 `name:"theta0" default:"10" above:"0"`
	// dimension of the inputs
	//
	// Up to 7 the grid of package region has at least two points a side.
	D int `name:"d" default:"1" min:"1" max:"7"`
	// corrected: the lower boundary of the region is excluded where Proposition 2's
	// integral diverges on it (d <= 2); as-published: it is included
	Variant variant `name:"variant" default:"corrected"`
}

// variant is which side of an erratum a trial is on.
type variant int

const (
	corrected variant = iota
	asPublished
)

func (variant) Choices() []string { return []string{"corrected", "as-published"} }

// uniformSettings are those of the solution for all inputs of a line.
type uniformSettings struct {
	// rate of K(x,y) = exp(-theta0 (x-y)^2)
	Theta0 float64 `name:"theta0" default:"10" above:"0"`
	// rate of H(x,y) = c exp(-theta (x-y)^2)
	Theta float64 `name:"theta" default:"5" above:"0"`
	// scale of H: the predictive variance is at least c everywhere
	C float64 `name:"c" default:"0.5" min:"0"`
	inputSettings
}

// satelliteSettings are the orbit, its data and its private segment.
type satelliteSettings struct {
	// H = alpha K at the data in the segment: the predictive variance there is at least
	// alpha times the prior variance (variant corrected); between them it may be less
	Alpha float64 `name:"alpha" default:"0.5" above:"0" below:"1"`
	// the quantity that the surrogate predicts
	Quantity quantity `name:"quantity" default:"radius"`
	// leo-j2: polar orbit around an oblate Earth; two-body: around a spherical one. Both
	// start at perigee, 340 km above an Earth of radius 6378.1363 km, gravitational
	// parameter 398600.4415 km^3/s^2 and J2 = 1.7555e10 km^5/s^2
	Orbit orbitModel `name:"orbit" default:"leo-j2"`
	// eccentricity of the start
	Eccentricity float64 `name:"eccentricity" default:"0" min:"0" max:"0.95"`
	// number of data, evenly spaced over three orbits
	Points int `name:"points" default:"61" min:"2" max:"1000"`
	// start of the private segment
	SegmentStart float64 `name:"segment_start" default:"1" unit:"orbits" min:"0" max:"3"`
	// end of the private segment
	SegmentEnd float64 `name:"segment_end" default:"2" unit:"orbits" min:"0" max:"3"`
	// corrected: H = alpha K; as-published: K - H = alpha K, the reading under which the
	// text of Section 5 is right (erratum 1)
	Variant variant `name:"variant" default:"corrected"`
}

// orbitModel is the Earth's gravity.
type orbitModel int

const (
	leoJ2 orbitModel = iota
	twoBody
)

func (orbitModel) Choices() []string { return []string{"leo-j2", "two-body"} }

// quantity is a coordinate of a satellite's state, in the units of package orbit.
type quantity int

const (
	radius quantity = iota
	angle
	radialVelocity
	angularVelocity
)

func (quantity) Choices() []string {
	return []string{"radius", "angle", "radial_velocity", "angular_velocity"}
}

func (q quantity) String() string { return experiment.NameOf(q) }

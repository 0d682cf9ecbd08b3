package orbit

import (
	"fmt"
	"math"
)

// Constants of the Earth: radius and gravitational parameter of the JGM-3 and
// EGM-96 gravity models, the oblateness term J2·μ·R² rounded as it usually is.
const (
	EarthRadiusKm = 6378.1363
	MuKm3S2       = 398600.4415 // km³/s²
	J2Km5S2       = 1.7555e10   // km⁵/s²

	// PerigeeAltitudeKm is the height at which every orbit here starts.
	PerigeeAltitudeKm = 340.0
)

// DefaultTolerance of the integration, in Earth radii, orbits and radians. The
// error that it leaves after three orbits is below 1e-10 for an eccentricity up
// to 0.01, and below 1e-6 for one of 0.8.
var DefaultTolerance = Tolerance{Absolute: 1e-13, Relative: 1e-12}

// Orbit describes an orbit by its start: at perigee, 340 km above the equator,
// with the speed that a two-body orbit of the given eccentricity has there. An
// oblate Earth then perturbs it.
//
// The plane is one through the poles, in which J2 leaves the motion: its force has no
// part across it. At 340 km J2 changes the radius by kilometres within an orbit.
type Orbit struct {
	Eccentricity float64 // in [0, 1)
	Oblate       bool    // with the J2 term
}

// State is the state of the satellite in normalised units.
type State struct {
	Radius          float64 // Earth radii
	Angle           float64 // radians from the ascending node, growing
	RadialVelocity  float64 // Earth radii per orbit
	AngularVelocity float64 // radians per orbit
}

// PeriodS is the duration of one orbit in seconds, by which times are
// normalised: 2π√(a³/μ), with the semi-major axis a of the start.
func (o Orbit) PeriodS() float64 {
	a := (EarthRadiusKm + PerigeeAltitudeKm) / (1 - o.Eccentricity)
	return 2 * math.Pi * math.Sqrt(a*a*a/MuKm3S2)
}

// field returns μ and J2·μ·R² in Earth radii and orbits. Lengths over the Earth's radius
// and times over the period: μ is then 4π² times (a/R)³ for the semi-major axis a and
// the Earth's radius R.
func (o Orbit) field() (mu, j2 float64) {
	t := o.PeriodS()
	const r = EarthRadiusKm
	mu = MuKm3S2 * t * t / (r * r * r)
	if o.Oblate {
		j2 = J2Km5S2 * t * t / (r * r * r * r * r)
	}
	return mu, j2
}

// Start returns the state at time 0. At perigee the velocity is across the radius and
// v² = μ(1+e)/r, from the vis-viva equation.
func (o Orbit) Start() State {
	mu, _ := o.field()
	r := (EarthRadiusKm + PerigeeAltitudeKm) / EarthRadiusKm
	return State{Radius: r, AngularVelocity: math.Sqrt(mu*(1+o.Eccentricity)/r) / r}
}

// Trajectory returns the states at the given times, in orbits from the start:
// ascending, none negative. With r the radius and θ the angle from the node of
// a polar orbit (sin θ is the sine of the latitude),
//
//	r̈ = rθ̇² − μ/r² + (3/2) J (3 sin²θ − 1)/r⁴
//	rθ̈ = −2ṙθ̇ − 3 J sin θ cos θ/r⁴
//
// where J = J2·μ·R², and 0 for a spherical Earth.
func (o Orbit) Trajectory(times []float64, tol Tolerance) ([]State, error) {
	if !(o.Eccentricity >= 0 && o.Eccentricity < 1) {
		return nil, fmt.Errorf("orbit: eccentricity %g; a closed orbit has one in [0, 1)", o.Eccentricity)
	}
	if len(times) == 0 {
		return nil, nil
	}
	if times[0] < 0 {
		return nil, fmt.Errorf("orbit: time %g is before the start", times[0])
	}
	mu, j2 := o.field()
	motion := func(_ float64, y, dydt []float64) {
		r, vr, w := y[0], y[2], y[3]
		sin, cos := math.Sincos(y[1])
		r4 := r * r * r * r
		dydt[0], dydt[1] = vr, w
		dydt[2] = r*w*w - mu/(r*r) + 1.5*j2*(3*sin*sin-1)/r4
		dydt[3] = (-2*vr*w - 3*j2*sin*cos/r4) / r
	}
	s := o.Start()
	grid := times
	if times[0] > 0 {
		grid = append([]float64{0}, times...)
	}
	y, err := Integrate(motion, []float64{s.Radius, s.Angle, s.RadialVelocity, s.AngularVelocity}, grid, tol)
	if err != nil {
		return nil, err
	}
	y = y[len(grid)-len(times):]
	states := make([]State, len(times))
	for i, v := range y {
		states[i] = State{v[0], v[1], v[2], v[3]}
	}
	return states, nil
}

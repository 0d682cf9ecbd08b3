package orbit

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// threeOrbits are 61 times over three orbits.
func threeOrbits() []float64 {
	t := make([]float64, 61)
	for i := range t {
		t[i] = 3 * float64(i) / 60
	}
	return t
}

// TestTwoBodyOrbits compares with Kepler's equation, M = E − e sin E.
func TestTwoBodyOrbits(t *testing.T) {
	for _, tt := range []struct{ e, within float64 }{{0, 1e-10}, {0.01, 1e-10}, {0.3, 1e-9}, {0.8, 1e-6}} {
		t.Run(fmt.Sprint("e = ", tt.e), func(t *testing.T) {
			e := tt.e
			o := Orbit{Eccentricity: e}
			states, err := o.Trajectory(threeOrbits(), DefaultTolerance)
			if err != nil {
				t.Fatal(err)
			}
			a := (1 + PerigeeAltitudeKm/EarthRadiusKm) / (1 - e)
			for i, time := range threeOrbits() {
				mean := 2 * math.Pi * time
				anomaly := mean
				for range 100 { // Newton's method, from E = M
					anomaly -= (anomaly - e*math.Sin(anomaly) - mean) / (1 - e*math.Cos(anomaly))
				}
				turns := math.Floor(anomaly/(2*math.Pi) + 0.5)
				half := (anomaly - 2*math.Pi*turns) / 2
				want := State{
					Radius:          a * (1 - e*math.Cos(anomaly)),
					Angle:           2*math.Atan2(math.Sqrt(1+e)*math.Sin(half), math.Sqrt(1-e)*math.Cos(half)) + 2*math.Pi*turns,
					RadialVelocity:  2 * math.Pi * a * e * math.Sin(anomaly) / (1 - e*math.Cos(anomaly)),
					AngularVelocity: 2 * math.Pi * math.Sqrt(1-e*e) / math.Pow(1-e*math.Cos(anomaly), 2),
				}
				if d := distance(states[i], want); d > tt.within {
					t.Fatalf("e = %g, t = %g: %+v, want %+v (off by %g)", e, time, states[i], want, d)
				}
			}
		})
	}
}

func distance(a, b State) float64 {
	return math.Max(
		math.Max(math.Abs(a.Radius-b.Radius), math.Abs(a.Angle-b.Angle)),
		math.Max(math.Abs(a.RadialVelocity-b.RadialVelocity), math.Abs(a.AngularVelocity-b.AngularVelocity)))
}

// energy is the energy per mass, constant along an orbit, in Earth radii² per
// orbit².
func (o Orbit) energy(s State) float64 {
	mu, j2 := o.field()
	sin := math.Sin(s.Angle)
	kinetic := (s.RadialVelocity*s.RadialVelocity + s.Radius*s.Radius*s.AngularVelocity*s.AngularVelocity) / 2
	return kinetic - mu/s.Radius + j2*(3*sin*sin-1)/(2*s.Radius*s.Radius*s.Radius)
}

func TestEnergyIsConserved(t *testing.T) {
	for _, o := range []Orbit{{Oblate: true}, {Eccentricity: .2, Oblate: true}, {Eccentricity: .5}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			states, err := o.Trajectory(threeOrbits(), DefaultTolerance)
			if err != nil {
				t.Fatal(err)
			}
			start := o.energy(o.Start())
			for i, s := range states {
				if drift := math.Abs(o.energy(s)/start - 1); drift > 1e-11 {
					t.Errorf("%+v: relative energy drift %g at time %d", o, drift, i)
				}
			}
		})
	}
}

// TestOblateEarthDisturbsTheOrbit has the J2 orbit of the satellite example:
// the radius sinks by about 1.5 J/(μ r) twice an orbit.
func TestOblateEarthDisturbsTheOrbit(t *testing.T) {
	states, err := Orbit{Oblate: true}.Trajectory(threeOrbits(), DefaultTolerance)
	if err != nil {
		t.Fatal(err)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range states {
		low, high = math.Min(low, s.Radius), math.Max(high, s.Radius)
	}
	if span := (high - low) * EarthRadiusKm; span < 5 || span > 15 {
		t.Errorf("the radius varies by %g km, want about 10 km", span)
	}
}

// TestOrderOfTheMethod: with a tolerance 100 times smaller the error of
// exp(t) falls by about 100.
func TestOrderOfTheMethod(t *testing.T) {
	f := func(_ float64, y, dydt []float64) { dydt[0] = y[0] }
	for _, tol := range []float64{1e-6, 1e-8, 1e-10, 1e-12} {
		t.Run(fmt.Sprint(tol), func(t *testing.T) {
			y, err := Integrate(f, []float64{1}, []float64{0, .3, 1}, Tolerance{tol, tol})
			if err != nil {
				t.Fatal(err)
			}
			if e := math.Abs(y[2][0] - math.E); e > 20*tol {
				t.Errorf("tolerance %g leaves the error %g", tol, e)
			}
		})
	}
}

func TestIntegrateRefuses(t *testing.T) {
	blowUp := func(_ float64, y, dydt []float64) { dydt[0] = y[0] * y[0] } // singular at t = 1
	tests := []struct {
		name  string
		times []float64
		tol   Tolerance
		want  string
	}{
		{"a singularity", []float64{0, 2}, Tolerance{1e-9, 1e-9}, "singular"},
		{"descending times", []float64{0, 1, .5}, Tolerance{1e-9, 1e-9}, "not after"},
		{"no times", nil, Tolerance{1e-9, 1e-9}, "no times"},
		{"no tolerance", []float64{0, .5}, Tolerance{}, "must be positive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := blowUp
			if tt.name == "descending times" {
				f = func(_ float64, _, dydt []float64) { dydt[0] = 1 }
			}
			if _, err := Integrate(f, []float64{1}, tt.times, tt.tol); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := (Orbit{Eccentricity: 1}).Trajectory(threeOrbits(), DefaultTolerance); err == nil {
		t.Error("a parabola passed for a closed orbit")
	}
}

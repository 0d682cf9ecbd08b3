// Package orbit computes the trajectory of a satellite in the plane of its
// orbit, in polar coordinates, with an adaptive Runge–Kutta method.
//
// The satellite example of Tuo and Bhattacharya's "Privacy-aware Gaussian
// Process Regression" (§5) takes its dynamics from a supplement that is not
// published with the paper. The model here is the usual one: a point mass in
// the field of an oblate Earth (J2), in a polar orbit, so that the motion stays
// in one plane.
package orbit

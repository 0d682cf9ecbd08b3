// Package dpgp reproduces Honkela's Gaussian processes with differential privacy.
package dpgp

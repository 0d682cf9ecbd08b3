// Package gpu tests the kit for a machine with a GPU, of small scripts.
package gpu

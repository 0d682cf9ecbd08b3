// Package picture holds the experiments whose outcomes are looked at: what the layers
// of a machine make of a digit (kahm/layers), fabricated digits (kahm/fabrication),
// and machines of points in the plane and in space (kahm/toy).
package picture

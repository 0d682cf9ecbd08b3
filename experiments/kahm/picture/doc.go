// Package picture holds the experiments with pictures: the outputs of the layers of a machine
// for a digit (kahm/layers), fabricated digits (kahm/fabrication), and machines of points in
// the plane and in space (kahm/toy).
package picture

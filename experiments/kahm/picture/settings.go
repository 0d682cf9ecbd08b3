package picture

import (
	_ "embed"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Images](source) }

// Images are the settings of the handwritten digits that are modelled.
type Images struct {
	wide.Digits
	// the digit of all images
	Digit int `name:"digit" default:"8" min:"0" max:"9"`
	// training images of this digit, drawn at random without repetition
	//
	// The most frequent digit, one, has 6742 of them.
	Images int `name:"images" default:"1000" min:"2" max:"6742"`
}

// LayersSettings are those of kahm/layers.
type LayersSettings struct {
	Images
	// subspace dimension: principal directions of the first layer
	N int `name:"n" default:"20" min:"1" max:"1000"`
	// L, the layers of the machine; at most n
	Layers int `name:"layers" default:"20" min:"1" max:"1000"`
	// the input: its place among the drawn images, from 0
	Sample int `name:"sample" default:"0" min:"0" max:"6741"`
}

// LayersMetrics are those of kahm/layers.
type LayersMetrics struct {
	// distance of the input to the output of the first layer (Eq. 51), pixels from 0 to 1
	DistanceFirst float64 `name:"distance_layer_1"`
	// the same of the last layer
	DistanceLast float64 `name:"distance_layer_last"`
	// the layer, from 1, whose output is nearest to the input and so the output of the
	// machine (Eq. 52)
	Best float64 `name:"best_layer" result:"yes"`
	// distance of the input to the machine (Eq. 53)
	DistanceBest float64 `name:"distance_best" best:"low" result:"yes"`
}

// FabricationSettings are those of kahm/fabrication.
type FabricationSettings struct {
	Images
	wide.Budget `default:"epsilon: 16"`
	// subspace dimension
	N int `name:"n" default:"20" min:"1" max:"1000"`
	wide.Smoothing
	// images whose pixels are kept: the first that were drawn
	Shown int `name:"shown" default:"10" min:"1" max:"100"`
}

// FabricationMetrics are those of kahm/fabrication.
type FabricationMetrics struct {
	// modelling error of the images, the sum of the distances to their images under their
	// own machine (Eq. 88), pixels from 0 to 1
	ErrorOriginal float64 `name:"error_original" best:"low"`
	// the same of the images with noise (Eq. 79)
	ErrorNoisy float64 `name:"error_noisy" best:"low" result:"yes"`
	// the same of the smoothed images, of which the fabricated ones are the images under
	// their machine (Eq. 87)
	ErrorFabricated float64 `name:"error_fabricated" best:"low" result:"yes"`
	// smoothing steps
	SmoothingSteps float64 `name:"smoothing_steps"`
	// mean absolute difference of a pixel, from 0 to 1, of a fabricated image to the
	// original
	DifferenceMean float64 `name:"difference_mean"`
	// the same of an image with noise
	DifferenceMeanNoisy float64 `name:"difference_mean_noisy"`
}

// Shape is the support of the samples of kahm/toy.
type Shape int

// The shapes: in the plane, in space, and in the plane in three parts.
const (
	Circle Shape = iota
	Spiral
	Moons
	Gaussian
	Helix
	Sphere
	SwissRoll
	ThreeClasses
	ThreeParties
)

// Choices returns the names of the shapes.
func (Shape) Choices() []string {
	return []string{"circle", "spiral", "moons", "gaussian", "helix", "sphere", "swiss-roll", "three-classes",
		"three-parties"}
}

// ToySettings are those of kahm/toy.
type ToySettings struct {
	// where the samples lie: on a shape in the plane (circle, spiral, moons, gaussian),
	// in space (helix, sphere, swiss-roll), or on one in three parts, each with a machine
	// of its own (three-classes, three-parties)
	Shape Shape `name:"shape" default:"circle"`
	// samples, of each part
	Samples int `name:"samples" default:"200" min:"2" max:"2000"`
	// standard deviation of the samples about the shape, whose size is about 1
	SD float64 `name:"sd" default:"0.05" min:"0" max:"1"`
	// samples that the machines model: the original ones, those with noise, or those
	// fabricated from noisy ones
	Data           wide.Data `name:"data" default:"original"`
	wide.Budget    `when:"epsilon: data is not original"`
	wide.Smoothing `when:"variant: data is fabricated || smoothing: data is fabricated"`
	// subspace dimension; all for that of the plane or space
	N experiment.Or[wide.Whole, int] `name:"n" default:"all" min:"1" max:"3"`
	// L, the layers of a machine; at most n
	Layers int `name:"layers" default:"1" min:"1" max:"3"`
	// points of the plane along each axis whose images are computed; in space, a lattice
	// of about as many points in all
	Grid int `name:"grid" default:"50" min:"2" max:"200"`
}

// ToyMetrics are those of kahm/toy.
type ToyMetrics struct {
	// mean distance of the original samples to the nearest machine (Eq. 53), of those
	// that have an image
	DistanceMean float64 `name:"distance_mean"`
	// share of the original samples whose nearest machine is that of their own part
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// mean distance of the images of the grid to the nearest original sample
	ImageDistanceMean float64 `name:"image_distance_mean"`
	// share of the grid without an image, because the sum of memberships is not safely
	// positive
	NoImage float64 `name:"no_image"`
	// modelling error of the original samples, summed over the parts (Eq. 88)
	ErrorOriginal float64 `name:"error_original" best:"low"`
	// mean distance between an original sample and the noisy or fabricated one in its
	// place
	DisplacementMean float64 `name:"displacement_mean"`
	// data noisy and fabricated: modelling error of the noisy samples (Eq. 79)
	ErrorNoisy *float64 `name:"error_noisy" best:"low" result:"yes"`
	// data fabricated: modelling error of the smoothed samples, of which the fabricated
	// ones are the images (Eq. 87)
	ErrorFabricated *float64 `name:"error_fabricated" best:"low" result:"yes"`
	// data fabricated: largest number of smoothing steps of a part
	SmoothingStepsMax *float64 `name:"smoothing_steps_max"`
}

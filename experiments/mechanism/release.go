package mechanism

import "errors"

// ErrNoNoise refuses a release without privacy.
var ErrNoNoise = errors.New("epsilon = inf adds no noise, and what is released would protect nobody; give a finite epsilon")

// FloatingPoint is what every release of Gaussian noise has to say of itself.
const FloatingPoint = "the noise is Gaussian in floating-point numbers, whose gaps may tell more than the guarantee for real numbers says (Mironov 2012)"

// Package har computes the 561 features of UCI HAR from the recordings of UCI HAPT; the data set
// "har-reconstructed" consists of them.
//
// UCI HAR's features_info.txt describes the features: a recording is denoised, its acceleration is
// split into that of the body and gravity, and windows of 2.56 s are summarised over time and over
// frequency. Choices that it leaves open were made by agreement with the published means of 180
// groups of windows:
//
//   - Filters are causal, and start as if the first sample had always been there.
//   - Rates of turn lose frequencies below 0.3 Hz, as accelerations do.
//   - The entropy is the mean of log(x² + 1e-12).
//   - A spectrum has the bins 1 to 64 of the transform, without the constant part.
//   - tGravityAccMag repeats tBodyAccMag.
//
// The published features are scaled by constants that were not published. Here each is scaled by an
// affine map onto the published means; see [Calibrate].
//
// Products are rounded before they are added, float64(a*b) + c, so that no compiler fuses the two:
// the features are those of every processor, up to the last bit of a logarithm or of a transform,
// which a float32 does not show.
//
// Recordings: J. L. Reyes-Ortiz, L. Oneto, A. Samà, X. Parra, D. Anguita, Transition-Aware Human
// Activity Recognition Using Smartphones, Neurocomputing 171, 2016. Features: D. Anguita, A. Ghio,
// L. Oneto, X. Parra, J. L. Reyes-Ortiz, A Public Domain Dataset for Human Activity Recognition
// Using Smartphones, ESANN 2013.
package har

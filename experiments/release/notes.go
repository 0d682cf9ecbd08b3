package release

// ExactNoise is the note on noise in releases with noise of this package.
const ExactNoise = "the noise is drawn exactly, as a real number, and its sum with the query is rounded to the " +
	"grid that is stated: the guarantee for real numbers holds for the digits of this release"

// Package classmodel is the file format of a published Gaussian process classifier, and
// what those who get such a file can do with it: predict classes and their
// probabilities. Nothing here needs the data that the model was made from.
package classmodel

import (
	"slices"

	models "privkern/experiments/model"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "dpgp/classification-model/1"

// About is what a file says to its reader.
const About = "Sparse Gaussian processes, one a class, made with differential privacy: run predict THIS_FILE " +
	"--at x.csv says classes and probabilities. Means and covariances are those of a class's function at the inducing " +
	"inputs; the kernel is variance exp(-|u-u'|^2/2) of u = x/lengthscales, input by input. The class with the largest " +
	"mean is predicted; probabilities are means of softmax over the functions plus centre (Dirichlet likelihoods)."

// Model is a set of sparse Gaussian processes that may be published (Honkela 2021,
// Appendix D; Milios et al. 2018), one for each class, with the same inducing inputs.
type Model struct {
	Format      string              `json:"format"` // Format
	About       string              `json:"about"`
	Inputs      []string            `json:"inputs"`  // names of the columns, D
	Output      string              `json:"output"`  // name of the column of labels
	Classes     []string            `json:"classes"` // C
	Kernel      Kernel              `json:"kernel"`
	Centre      float64             `json:"centre"`      // what was taken off the transformed labels
	Jitter      float64             `json:"jitter"`      // on the diagonal of the inducing inputs' covariance
	Inducing    [][]float64         `json:"inducing"`    // M×D
	Means       [][]float64         `json:"means"`       // C×M
	Covariances [][][]float64       `json:"covariances"` // C×M×M, each symmetric
	Mechanism   Mechanism           `json:"mechanism"`
	Privacy     *experiment.Privacy `json:"privacy"`
}

// Kernel is variance·exp(−|u − u'|²/2) of u = x/lengthscales.
type Kernel struct {
	Name         string    `json:"name"` // EQ
	Lengthscales []float64 `json:"lengthscales"`
	Variance     float64   `json:"variance"`
}

// Mechanism is how much noise the sums A and B of all classes had.
type Mechanism struct {
	Epsilon     float64 `json:"epsilon"`
	Delta       float64 `json:"delta"`
	Sensitivity float64 `json:"sensitivity"` // of A and ratio·B of all classes together
	Bound       string  `json:"bound"`
	NormSquared float64 `json:"r_k_squared"` // bound on the squared norm of a kernel vector
	Alpha       float64 `json:"alpha"`       // of the transformed labels
	SigmaA      float64 `json:"sigma_a"`
	SigmaB      float64 `json:"sigma_b"`
	Lambda      float64 `json:"lambda"`
}

// column is the name of the column with the probability of a class.
func column(class string) string { return "p_" + class }

// Taken says whether predictions have a column of that name besides the inputs.
func Taken(name string, classes []string) bool { return slices.Contains(resultColumns(classes), name) }

// resultColumns are the columns of predictions.
func resultColumns(classes []string) []string {
	names := []string{models.LabelColumn}
	for _, c := range classes {
		names = append(names, column(c))
	}
	return names
}

package experiments

import "privkern/runner/experiment"

// What several experiments have outside of programs.
const (
	smallMatrices = "matrices of the order of ten, for which a run costs more than its operations; building the " +
		"programs, once a trial"
	cloakingDesign = "whitening, whose small singular values a Gram matrix loses; interior-point steps that drop " +
		"columns, on the CPU 3 to 10 times as fast as the batched program of GPUs; building the programs, once a trial"
	readingDigits = "reading and checking the images, whose compressed files are decoded by one thread"
)

// Shares are the experiments in the order in which they are listed, with what stays outside of
// programs.
func Shares() []experiment.Share {
	return []experiment.Share{
		{Experiment: "privacygp/example1", Outside: "the interior-point steps of the diagonal noise; " + smallMatrices},
		{Experiment: "privacygp/example2", Outside: "the interior-point steps of the weak noise; " + smallMatrices},
		{Experiment: "privacygp/weak", Outside: "the interior-point steps of the weak noise; " + smallMatrices},
		{Experiment: "privacygp/kernel-condition", Outside: "building the programs, once a trial; checks of operands"},
		{Experiment: "privacygp/uniform", Outside: "quadrature of a scalar integrand; building the programs, once a trial"},
		{Experiment: "privacygp/satellite",
			Outside: "integration of the orbit, a recurrence of six numbers; " + smallMatrices},
		{Experiment: "cloaking/design", Outside: cloakingDesign},
		{Experiment: "cloaking/regression", Outside: cloakingDesign},
		{Experiment: "cloaking/curve", Outside: cloakingDesign},
		{Experiment: "cloaking/surface", Outside: cloakingDesign},
		{Experiment: "cloaking/regimes", Outside: "all of it but two matrices of one element; " + smallMatrices},
		{Experiment: "cloaking/classification",
			Outside: "reading the table; sorting for ranking measures; " + cloakingDesign},
		{Experiment: "cloaking/stripes", Outside: cloakingDesign},
		{Experiment: "cloaking/hmeq", Outside: "reading the table, most of a trial of milliseconds; " + cloakingDesign},
		{Experiment: "cloaking/mnist", Outside: "k-means for the inducing inputs; " + readingDigits},
		{Experiment: "cloaking/selection", Outside: cloakingDesign},
		{Experiment: "cloaking/reference", Outside: smallMatrices},
		{Experiment: "dpgp/gaussian-mechanism", Outside: "all of it: root finding in one variable, no matrices"},
		{Experiment: "dpgp/sensitivity", Outside: "all of it: bounds by search over one input, no matrices"},
		{Experiment: "dpgp/inference", Outside: "the data's random numbers; " + smallMatrices},
		{Experiment: "dpgp/calibration", Outside: "drawing data and noise, number by number from named streams"},
		{Experiment: "dpgp/hyperparameters",
			Outside: "the noise and the clipped means of CoinPress, drawn in sequence: what " +
				"is drawn next depends on them"},
		{Experiment: "dpgp/classification",
			Outside: "drawing noise and class probabilities, number by number from named streams"},
		{Experiment: "dpgp/regression",
			Outside: "reading the table; the search for the sensitivity's bound; " + smallMatrices},
		{Experiment: "kahm/classifier", Settings: []string{"train=2000", "test=1000", "score_points=1000"},
			Outside: readingDigits + "; k-means; the score of membership inference, which sorts and searches"},
		{Experiment: "kahm/federated", Settings: []string{"train=2000", "test=1000", "parties=4"},
			Outside: readingDigits + "; k-means; noise, number by number from named streams"},
		{Experiment: "kahm/fabrication",
			Outside: readingDigits + "; noise, number by number from named streams; the pictures"},
		{Experiment: "kahm/layers",
			Outside: readingDigits + "; the pictures; principal axes of wide data, packed for batches"},
		{Experiment: "kahm/toy", Outside: "making data, and the noise; building the programs, once a trial"},
		{Experiment: "kahm/freiburg", Outside: "k-means; the score of membership inference"},
		{Experiment: "kahm/stress", Outside: "reading and cleaning recordings; k-means; the score of membership inference"},
		{Experiment: "kahm/timing", Outside: "making data of 10,000 columns; packing batches; scaling of principal axes"},
		{Experiment: "kahm/reference", Outside: smallMatrices},
		{Experiment: "multikernel/har", Settings: []string{"dataset=har-reconstructed"}, Outside: adversaries},
		{Experiment: "multikernel/mhealth", Settings: []string{"dataset=mhealth-6ch"}, Outside: adversaries},
		{Experiment: "multikernel/reference", Outside: smallMatrices},
	}
}

// adversaries is what classifiers compute that compressed kernels are judged by.
const adversaries = "the working sets of support vector machines, a search of one pair of weights after another; " +
	"growing trees; choosing neighbours among distances"

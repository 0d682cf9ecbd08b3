package experiments

import (
	"slices"

	"privkern/runner/experiment"
)

// Work of several experiments outside of programs.
const (
	smallMatrices = "matrices of the order of ten, for which a run costs more than its operations; building the " +
		"programs, once a trial"
	cloakingDesign = "interior-point steps that drop columns, on the CPU 3 to 10 times as fast as the batched program " +
		"of GPUs; equal rows and columns of cloaking matrices; building the programs, once a trial"
	// At orders from 60 to 200: .44 to 4.2 ms a decomposition on the CPU, .49 to 4.5 as a program of it, and 3.7 to 12
	// by the model of an H100, which takes .3 to .7 for a factor and what is solved with it.
	diagonalSteps = "the interior-point steps of the diagonal noise, one factor after another, for which an H100 is " +
		"predicted to take about as long as the CPU up to order 200"
	weakSteps = "the interior-point steps of the weak noise, one eigen-decomposition after another, which at orders " +
		"from 60 to 200 take 8 to 11 % longer as programs on the CPU, and are predicted to take 3 to 8 times as long on " +
		"an H100"
	clustering = "k-means, whose starts are drawn in sequence, with loops that take on the CPU a quarter to two fifths " +
		"of the time of the batched program of GPUs"
	readingDigits = "reading and checking the images, whose compressed files are decoded by one thread"
)

// Shares returns the experiments in the order in which they are listed. Those whose work
// outside of programs is not described are measured at their defaults.
func Shares() []experiment.Share {
	described := shares()
	var out []experiment.Share
	for _, p := range Papers() {
		for _, e := range p.Experiments {
			share := experiment.Share{Experiment: e.Name}
			if i := slices.IndexFunc(described, func(s experiment.Share) bool { return s.Experiment == e.Name }); i >= 0 {
				share = described[i]
			}
			out = append(out, share)
		}
	}
	return out
}

// shares describes the work of experiments outside of programs.
func shares() []experiment.Share {
	return []experiment.Share{
		{Experiment: "privacygp/example1", Outside: diagonalSteps + "; " + smallMatrices},
		{Experiment: "privacygp/example2", Outside: weakSteps + "; " + smallMatrices},
		{Experiment: "privacygp/weak", Outside: weakSteps + "; " + smallMatrices},
		{Experiment: "privacygp/strong", Outside: weakSteps + "; " + smallMatrices},
		{Experiment: "privacygp/kernel-condition", Outside: "building the programs, once a trial; checks of operands"},
		{Experiment: "privacygp/uniform", Outside: "quadrature of a scalar integrand; building the programs, once a trial"},
		{Experiment: "privacygp/nested", Outside: "quadrature of a scalar integrand; " + smallMatrices},
		{Experiment: "privacygp/satellite",
			Outside: "integration of the orbit, a recurrence of six numbers; " + smallMatrices},
		{Experiment: "privacygp/scaling", Settings: []string{"points=400"},
			Outside: "nothing for the closed form; programs and Lanczos steps, which it is compared with, are outside"},
		{Experiment: "privacygp/regression", Outside: "eigenvalues for the rank of the noise and for independent noise of " +
			"one variance; errors of predictions and what the noise adds to them, row by row; building the programs, once a " +
			"trial"},
		{Experiment: "cloaking/design", Outside: cloakingDesign},
		{Experiment: "cloaking/regression", Outside: cloakingDesign},
		{Experiment: "cloaking/curve", Outside: cloakingDesign},
		{Experiment: "cloaking/surface", Outside: cloakingDesign},
		{Experiment: "cloaking/regimes", Outside: "all of it but two matrices of one element; " + smallMatrices},
		{Experiment: "cloaking/classification",
			Outside: "reading the table; sorting for ranking measures; " + cloakingDesign},
		{Experiment: "cloaking/stripes", Outside: cloakingDesign},
		{Experiment: "cloaking/hmeq", Outside: "reading the table, most of a trial of milliseconds; " + cloakingDesign},
		{Experiment: "cloaking/mnist", Outside: clustering + "; " + readingDigits},
		{Experiment: "cloaking/selection", Outside: cloakingDesign},
		{Experiment: "cloaking/reference", Outside: smallMatrices},
		{Experiment: "dpgp/gaussian-mechanism", Outside: "all of it: root finding in one variable, no matrices"},
		{Experiment: "dpgp/sensitivity", Outside: "all of it: bounds by search over one input, no matrices"},
		{Experiment: "dpgp/heteroscedastic", Outside: "all of it: a search over pairs of rows, no matrices"},
		{Experiment: "dpgp/regularisation", Settings: []string{"repeats=100"},
			Outside: "drawing inputs and noise, number by number from named streams; eigenvalues of " + smallMatrices},
		{Experiment: "dpgp/inference", Outside: "the data's random numbers; " + smallMatrices},
		{Experiment: "dpgp/calibration", Outside: "drawing data and noise, number by number from named streams"},
		{Experiment: "dpgp/scenarios", Settings: []string{"repeats=10"},
			Outside: "drawing data and noise, number by number from named streams"},
		{Experiment: "dpgp/hyperparameters",
			Outside: "the noise and the clipped means of CoinPress, drawn number by number from one stream"},
		{Experiment: "dpgp/search-time", Settings: []string{"repeats=10"},
			Outside: "the noise and the clipped means of CoinPress, drawn number by number, as those of dpgp/hyperparameters"},
		{Experiment: "dpgp/classification",
			Outside: "drawing noise and class probabilities, number by number from named streams"},
		{Experiment: "dpgp/regression",
			Outside: "reading the table; the search for the sensitivity's bound; " + smallMatrices},
		{Experiment: "kahm/classifier", Settings: []string{"train=2000", "test=1000", "score_points=1000"},
			Outside: readingDigits + "; " + clustering + "; the score of membership inference, which sorts and searches"},
		{Experiment: "kahm/federated", Settings: []string{"train=2000", "test=1000", "parties=4"},
			Outside: readingDigits + "; " + clustering + "; noise, number by number from named streams"},
		{Experiment: "kahm/fabrication",
			Outside: readingDigits + "; noise, number by number from named streams; the pictures"},
		{Experiment: "kahm/layers",
			Outside: readingDigits + "; the pictures; principal axes of wide data, packed for batches"},
		{Experiment: "kahm/toy", Outside: "making data, and the noise; building the programs, once a trial"},
		{Experiment: "kahm/freiburg", Outside: clustering + "; the score of membership inference"},
		{Experiment: "kahm/stress",
			Outside: "reading and cleaning recordings; " + clustering + "; the score of membership inference"},
		{Experiment: "kahm/timing", Outside: "making data of 10,000 columns; packing batches; scaling of principal axes"},
		{Experiment: "kahm/bounds",
			Outside: "eigenvalues and singular values of matrices of the order of ten, which bounds are made of"},
		{Experiment: "kahm/reference", Outside: smallMatrices},
		{Experiment: "multikernel/har", Settings: []string{"dataset=har-reconstructed"}, Outside: adversaries},
		{Experiment: "multikernel/mhealth", Settings: []string{"dataset=mhealth-6ch"}, Outside: adversaries},
		{Experiment: "multikernel/eigenproblem", Settings: []string{"dataset=har-surrogate"},
			Outside: "the general eigenproblem, which is there to show what it makes of a singular matrix"},
		{Experiment: "multikernel/reference", Outside: smallMatrices},
		{Experiment: "multikernel/learn", Outside: adversaries},
	}
}

// adversaries is the work of the classifiers that judge compressed kernels.
const adversaries = "the working sets of support vector machines, a search of one pair of weights after another; " +
	"growing trees; choosing neighbours among distances"

package kahm

import (
	"fmt"
	"math"

	"privkern/runner/experiment"
)

// Values of the parameters in more than one experiment.
const (
	dataOriginal   = "original"
	dataNoisy      = "noisy"
	dataFabricated = "fabricated"

	clustersAuto     = "auto"
	clustersOriginal = "original"
	clustersNoisy    = "noisy"

	variantPublished = "as-published"
	variantCorrected = "corrected"

	branchesRound = "round"
	branchesCeil  = "ceil"

	allPoints = "all"
)

// Bounds on what a trial may be asked for: beyond them a slip of the pen would
// cost hours or all memory.
const (
	maxDim      = 1000
	maxBranches = 10000
	maxParties  = 1000
)

// Conditions on which parameters apply.
var (
	noisy        = experiment.IsNot("epsilon", "inf")
	isFabricated = experiment.Is("data", dataFabricated)
	isCorrected  = experiment.Is("variant", variantCorrected)
)

func count(name string, def, low, high int, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Integer, Default: def, Doc: doc, Min: experiment.Bound(float64(low)), Max: experiment.Bound(float64(high))}
}

func choice(name, def, doc string, values ...string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Text, Default: def, Doc: doc, Values: values}
}

func flag(name string, def bool, doc string) experiment.Param {
	return experiment.Param{Name: name, Kind: experiment.Flag, Default: def, Doc: doc}
}

// machineParams say which wide machine models a class.
func machineParams(n int) []experiment.Param {
	return []experiment.Param{
		count("n", n, 1, maxDim, "subspace dimension: principal directions of the first layer; machines with fewer samples use what they have, and a warning says so"),
		count("layers", 5, 1, maxDim, "L, the layers of a machine; at most n"),
		{Name: "branches", Kind: experiment.Integer, Default: branchesRound, Words: []string{branchesRound, branchesCeil}, Min: experiment.Bound(1), Max: experiment.Bound(maxBranches),
			Doc: "S, the machines of a class: its samples divided by 1000, to the nearest integer (as the text has it) or upwards (as Eq. 59 is printed), or a number"},
	}
}

// mechanismParams say what is protected and how strongly. d is in the unit of
// the data.
func mechanismParams(epsilon any) []experiment.Param {
	return experiment.When([]experiment.Param{
		{Name: "epsilon", Kind: experiment.Number, Default: epsilon, Min: experiment.Bound(0), OpenMin: true, Infinite: true, Doc: "privacy-loss bound of the entry noise; inf adds no noise"},
		{Name: "delta", Kind: experiment.Number, Default: 1e-5, Min: experiment.Bound(0), OpenMin: true, Max: experiment.Bound(1), OpenMax: true, Doc: "probability with which an entry is released as it is (Eq. 74)"},
		{Name: "d", Kind: experiment.Number, Default: 1.0, Min: experiment.Bound(0), OpenMin: true, Doc: "adjacency: largest change of one entry of the data matrix (Definition 10)"},
	}, []string{"delta", "d"}, noisy)
}

// mechanismFor is mechanismParams where data says whether there is noise at all.
func mechanismFor(epsilon any) []experiment.Param {
	return experiment.When(mechanismParams(epsilon), []string{"epsilon"}, experiment.IsNot("data", dataOriginal))
}

// pipelineParams say what becomes of the samples before they are modelled.
func pipelineParams() []experiment.Param {
	return []experiment.Param{
		choice("variant", variantCorrected, "as-published lets the clusters and the radius of the fabrication (Eqs. 96-98) come from the private data; corrected computes both from the noisy data and public numbers", variantPublished, variantCorrected).
			Where(experiment.Condition{
				Params: []string{"data", "epsilon", "clusters", "branches"},
				Words:  "data is fabricated, or noisy with clusters=auto, a finite epsilon and more branches than 1",
				Holds: func(p experiment.Params) bool {
					return p.Text("data") == dataFabricated ||
						p.Text("data") == dataNoisy && p.Text("clusters") == clustersAuto && !noiseless(p) && p["branches"] != 1
				},
			}),
		choice("clusters", clustersAuto, "what k-means sees: the original samples, or the noisy ones (their leading n principal "+
			"scores); auto: original as published, noisy when corrected. "+
			"k-means begins once, by k-means++, and goes on until no sample moves", clustersAuto, clustersOriginal, clustersNoisy).
			Where(experiment.IsNot("data", dataOriginal), noisy, experiment.IsNot("branches", "1")),
		count("smoothing", 2, 0, maxSmoothing, "corrected: smoothing steps of the fabrication, a public number; as published they go on until the modelling error is below the private radius (Eq. 92)").
			Where(isFabricated, isCorrected),
	}
}

func scoreParams() []experiment.Param {
	return []experiment.Param{
		flag("score", true, "compute the membership-inference score, for which training points are evaluated, too"),
		experiment.Param{Name: "score_points", Kind: experiment.Integer, Default: 10000, Words: []string{allPoints}, Min: experiment.Bound(10), Doc: "training points, drawn at random, that the score is computed from; all for every one"}.
			Where(experiment.Is("score", "true")),
	}
}

var classifierMetrics = []experiment.Metric{
	{Name: "accuracy", Doc: "share of test points that get their own class"},
	{Name: "mis", Doc: "membership-inference score (Eq. 69): squared L2 distance between the densities of the distances of training and of test points, in 1/(unit of the data); with 10,000 points of each kind values below about 5e-4 over the spread of the distances are noise of the estimate, with fewer points more"},
	{Name: "attack_auc", Doc: "area under the ROC curve of the attack that takes the nearer points for training points; 0.5 is guessing"},
	{Name: "attack_advantage", Doc: "largest difference of true and false positive rates over all thresholds on the distance, whichever side is taken for training points"},
	{Name: "branches", Doc: "machines of all classes together"},
	{Name: "evaluated_fraction", Doc: "share of pairs of a point and a machine whose distance was computed in full; the others were ruled out by a bound"},
	{Name: "fixed_point_evaluations", Doc: "mean number of evaluations of R (Eq. 42) that the fixed point of a layer of the machines took, those of the fabrication not counted"},
	{Name: "unsafe_points", Doc: "distances without an image in some layer, because the sum of memberships was not safely positive"},
	{Name: "smoothing_steps_max", Doc: "fabricated data: largest number of smoothing steps of a machine"},
	{Name: "build_s", Unit: "s", Timing: true, Doc: "wall time of clustering, noise and the fit of all machines"},
	{Name: "fabrication_s", Unit: "s", Timing: true, Doc: "wall time of the fabrication"},
	{Name: "test_s", Unit: "s", Timing: true, Doc: "wall time of the distances of all test and training points"},
}

func checkPipeline(p experiment.Params) error {
	if n, l := p.Int("n"), p.Int("layers"); l > n {
		return fmt.Errorf("layers = %d: a machine has at most n = %d layers (Definition 3)", l, n)
	}
	return nil
}

// checkColumns refuses more directions than the data have columns.
func checkColumns(p experiment.Params, columns int) error {
	if n := p.Int("n"); n > columns {
		return fmt.Errorf("n = %d: the data have only %d columns", n, columns)
	}
	return nil
}

func noiseless(p experiment.Params) bool { return math.IsInf(p.Float("epsilon"), 1) }

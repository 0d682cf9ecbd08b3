package nearest

import (
	_ "embed"

	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricSource string

func init() { experiment.Document[ClassifierMetrics](metricSource) }

// ClassifierMetrics are those of kahm/classifier, and of every other classifier in one
// place.
type ClassifierMetrics struct {
	// share of test points that get their own class
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// membership-inference score (Eq. 69): squared L2 distance between the densities of
	// the distances of training and of test points, in 1/(unit of the data); with 10,000
	// points of each kind values below about 5e-4 over the spread of the distances are
	// noise of the estimate, with fewer points more
	MIS *float64 `name:"mis" best:"low"`
	// area under the ROC curve of the attack that takes the nearer points for training
	// points; 0.5 is guessing
	AttackAUC *float64 `name:"attack_auc" best:"low"`
	// largest difference of true and false positive rates over all thresholds on the
	// distance, with either side taken for training points
	AttackAdvantage *float64 `name:"attack_advantage" best:"low" result:"yes"`
	// machines of all classes together
	Branches float64 `name:"branches"`
	// share of pairs of a point and a machine whose distance was computed in full; the
	// others were ruled out by a bound
	EvaluatedFraction float64 `name:"evaluated_fraction"`
	// mean number of evaluations of R (Eq. 42) that the fixed point of a layer of the
	// machines took, those of the fabrication not counted
	FixedPointEvaluations float64 `name:"fixed_point_evaluations"`
	// distances without an image in some layer, because the sum of memberships was not
	// safely positive
	UnsafePoints float64 `name:"unsafe_points"`
	// fabricated data: largest number of smoothing steps of a machine
	SmoothingStepsMax *float64 `name:"smoothing_steps_max"`
	// wall time of clustering, noise and the fit of all machines
	BuildTime float64 `name:"build_s" unit:"s" timing:"yes" best:"low"`
	// wall time of the fabrication
	FabricationTime *float64 `name:"fabrication_s" unit:"s" timing:"yes" best:"low"`
	// wall time of the distances of all test and training points
	TestTime float64 `name:"test_s" unit:"s" timing:"yes" best:"low"`
}

// TrialMetrics are those of kahm/classifier.
type TrialMetrics struct {
	ClassifierMetrics
	OwnMetrics
	ScoreMetrics
}

// ScoreMetrics are those of the distances to all classes.
type ScoreMetrics struct {
	// area under the ROC curve of the class-matching score (Definition 8, Eq. 63) of one
	// class against the others, averaged over the classes (your own data)
	AUC *float64 `name:"auc" best:"high"`
	// mean of -ln of the probability of a row's own class. The probabilities are a softmax of -β times the distances to
	// the classes, with the shares of the classes of the training rows as prior and a remainder for faults that were
	// never seen (of 1/(n + 2), n rows); β is fitted to a third of the training rows, as machines of the other two
	// thirds see them (your own data)
	LogLoss *float64 `name:"log_loss" best:"low"`
	// the same of the trivial rule, which gives every row the shares of the classes of the training rows, with one row
	// of each added (your own data)
	LogLossTrivial *float64 `name:"log_loss_trivial"`
}

// OwnMetrics are additional metrics of the user's own data.
type OwnMetrics struct {
	// accuracy of answering always with the largest class of the training rows, for
	// comparison (your own data)
	AccuracyMajority *float64 `name:"accuracy_majority"`
	// share of test rows of a class that get their own class, averaged over the classes
	// (your own data)
	BalancedAccuracy *float64 `name:"balanced_accuracy" best:"high"`
	method.ClassCounts
	// classes (your own data)
	Classes *float64 `name:"classes"`
	// inputs, a category with a column for each of its values (your own data)
	Inputs *float64 `name:"input_columns"`
	// rows that are trained on (your own data)
	TrainRows *float64 `name:"train_rows"`
	// rows that are tested (your own data)
	TestRows *float64 `name:"test_rows"`
	// rows left out because they lack a value (your own data)
	DroppedRows *float64 `name:"dropped_rows"`
	// share of the inputs' values that lie beyond their range, and count as its end (your
	// own data)
	ClippedFraction *float64 `name:"clipped_fraction"`
}

// MatchingMetrics are additional metrics where the distance of every test point to every
// class is computed.
type MatchingMetrics struct {
	// area under the ROC curve of the class-matching score (Definition 8, Eq. 63) of one
	// class against the others, averaged over the classes
	AUC float64 `name:"auc" best:"high"`
	// share of test points of a class that get their own class, averaged over the classes
	BalancedAccuracy float64 `name:"balanced_accuracy" best:"high"`
}

// FederatedMetrics are those of kahm/federated.
type FederatedMetrics struct {
	// share of test images that the global classifier (104) gets right
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// the same of classifier (100), built from all images in one place with a noise of
	// its own (with centralised)
	AccuracyCentralised *float64 `name:"accuracy_centralised" best:"high" result:"yes"`
	// accuracy less accuracy_centralised (with centralised)
	Change *float64 `name:"change"`
	// machines of all parties and classes together
	Branches float64 `name:"branches"`
	// share of pairs of an image and a machine of the parties whose distance was computed
	// in full
	EvaluatedFraction float64 `name:"evaluated_fraction"`
	// pairs of a party and a class without an image, whose distance counts as infinite
	// (Remark 5)
	MissingClasses float64 `name:"missing_classes"`
	// images of the smallest class of a party that has one
	SmallestClass float64 `name:"smallest_class"`
	// parties (your own data)
	Parties *float64 `name:"party_count"`
	OwnMetrics
	ScoreMetrics
}

// FreiburgMetrics are those of kahm/freiburg.
type FreiburgMetrics struct {
	// accuracy in per cent, as Table 3 has it
	AccuracyPercent float64 `name:"accuracy_percent" unit:"%" best:"high"`
	ClassifierMetrics
	MatchingMetrics
	// share of the scaled features of test images that lay outside [-1, 1], the range of
	// the training images, and were set to its end
	ClippedFraction float64 `name:"clipped_fraction"`
}

// StressMetrics are those of kahm/stress.
type StressMetrics struct {
	ClassifierMetrics
	MatchingMetrics
	// accuracy of answering always with the more frequent class of the training vectors, for
	// comparison
	AccuracyMajority float64 `name:"accuracy_majority"`
	// share of test vectors that have an interval in common with a training vector
	OverlapFraction float64 `name:"overlap_fraction"`
	// subjects with a vector
	Subjects float64 `name:"subjects"`
	// training vectors at rest
	TrainRest float64 `name:"train_rest"`
	// training vectors during a stress task
	TrainStress float64 `name:"train_stress"`
	// test vectors at rest
	TestRest float64 `name:"test_rest"`
	// test vectors during a stress task
	TestStress float64 `name:"test_stress"`
	// intervals that the impulse rejection filter finds fault with; no vector has one
	Artefacts float64 `name:"artefacts"`
}

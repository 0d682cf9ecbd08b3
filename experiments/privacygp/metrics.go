package privacygp

import (
	_ "embed"

	"privkern/experiments/privacygp/process"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[example1Metrics](metricsSource) }

// conditioning holds the condition numbers that limit the accuracy of results.
type conditioning struct {
	// condition number of K_XX + V
	Condition float64 `name:"condition"`
}

// spectrum describes the numerical range of the data's covariance.
type spectrum struct {
	conditioning
	// rank of K_XX + V in floating point: eigenvalues above 10 n 2^-52 times the largest
	// (2^-23 in float32); where it is below n, predictions are from its numerical range
	NumericalRank float64 `name:"numerical_rank"`
}

// spectrumOf returns the metrics of a process's covariance.
func spectrumOf(p *process.Process) spectrum {
	return spectrum{conditioning: conditioning{p.Condition}, NumericalRank: float64(p.Rank)}
}

// method is a covariance of the noise, by which families of metrics and columns of
// series are named.
type method int

const (
	unsecured method = iota
	optimal
	diagonal
	weakly
	strongly
)

func (m method) String() string {
	return [...]string{"unsecured", "optimal", "diagonal", "weak", "strong"}[m]
}

// byMethod is a family of metrics, one for each method.
type byMethod = map[string]float64

type example1Metrics struct {
	// trace of the optimal noise covariance, Eq. (8)
	TraceOptimal float64 `name:"trace_optimal" best:"low" result:"yes"`
	// its rank
	RankOptimal float64 `name:"rank_optimal"`
	// trace of the least diagonal noise covariance
	TraceDiagonal float64 `name:"trace_diagonal" best:"low" result:"yes"`
	// certified duality gap of trace_diagonal
	GapDiagonal float64 `name:"gap_diagonal" best:"low"`
	// trace_diagonal / trace_optimal
	TraceInflation *float64 `name:"trace_inflation"`
	// predictive variance at s: unsecured, optimal, diagonal
	VarianceAtS byMethod `name:"variance_at_s_*"`
	// predictive variance at x = 0: unsecured, optimal, diagonal
	VarianceAt0 byMethod `name:"variance_at_0_*"`
	noiseShape
	spectrum
}

// noiseShape is where the optimal noise lies and how it is correlated.
type noiseShape struct {
	// smallest optimal noise variance at training inputs within 0.2 of s
	NearMin float64 `name:"noise_variance_near_min"`
	// largest optimal noise variance at the other training inputs
	FarMax float64 `name:"noise_variance_far_max"`
	// smallest absolute correlation of the optimal noise between training inputs within 0.2 of s
	CorrelationMin float64 `name:"noise_correlation_near_min"`
}

type example2Metrics struct {
	// trace of the weakly privacy-aware noise covariance, Eq. (10)
	TraceWeak float64 `name:"trace_weak" best:"low" result:"yes"`
	// its certified duality gap
	GapWeak float64 `name:"gap_weak" best:"low"`
	// its rank
	RankWeak float64 `name:"rank_weak"`
	// the c at which the strong problem needs no more noise than the weak one
	BestC float64 `name:"c_best"`
	// lower end of the interval of admissible c; excluded where K_SS - Xi sets it
	LowC float64 `name:"c_low"`
	// upper end of the interval of admissible c; there is none where it is below c_low
	HighC float64 `name:"c_high"`
	// trace of the strongly privacy-aware noise covariance at c, Eq. (11)
	TraceStrong *float64 `name:"trace_strong" best:"low" result:"yes"`
	// trace_strong / trace_weak
	TraceRatio *float64 `name:"trace_ratio"`
	// predictive variance at s1: weak, strong
	VarianceAtS1 byMethod `name:"variance_at_s1_*"`
	// predictive variance at s2: weak, strong
	VarianceAtS2 byMethod `name:"variance_at_s2_*"`
	// smallest difference of predictive variances, strong minus weak, on [0, 1]
	DifferenceMin *float64 `name:"variance_difference_min"`
	// largest such difference
	DifferenceMax *float64 `name:"variance_difference_max"`
	// least eigenvalue of the strongly less the weakly privacy-aware noise covariance
	OrderMin *float64 `name:"order_min"`
	// largest eigenvalue of that difference
	OrderMax *float64 `name:"order_max"`
	// least c whose trace exceeds that of the weak noise by no more than 5 %
	NearLow *float64 `name:"c_near_low"`
	// largest such c
	NearHigh *float64 `name:"c_near_high"`
	// share of the admissible c between them
	NearShare *float64 `name:"c_near_share"`
	spectrum
}

type weakMetrics struct {
	// trace of the weakly privacy-aware noise covariance
	Trace float64 `name:"trace_weak" best:"low" result:"yes"`
	// certified duality gap
	Gap float64 `name:"gap_weak" best:"low"`
	// certified lower bound on the trace
	LowerBound float64 `name:"lower_bound"`
	// largest shortfall of a constraint matrix from positive semi-definite
	MaxViolation float64 `name:"max_violation"`
	// rank of the noise covariance
	Rank float64 `name:"rank_weak"`
	// Newton steps
	Iterations float64 `name:"iterations"`
	// wall-clock time of the solver (not reproducible)
	Time float64 `name:"time_s" unit:"s" timing:"yes" best:"low"`
	conditioning
}

type strongMetrics struct {
	// trace of the strongly privacy-aware noise covariance, Eqs. (11) and (12)
	TraceStrong float64 `name:"trace_strong" best:"low" result:"yes"`
	// trace of the weakly privacy-aware one with the same tolerances, Eq. (10)
	TraceWeak float64 `name:"trace_weak" best:"low" result:"yes"`
	// its certified duality gap
	GapWeak float64 `name:"gap_weak" best:"low"`
	// trace_strong / trace_weak
	TraceRatio *float64 `name:"trace_ratio"`
	// rank of the strongly privacy-aware noise covariance
	Rank float64 `name:"rank_strong"`
	// rank of K_SS - Xi in floating point
	SensitiveRank float64 `name:"sensitive_rank"`
	// smallest predictive variance at the sensitive inputs
	VarianceMin float64 `name:"variance_at_s_min"`
	// largest predictive variance at the sensitive inputs
	VarianceMax float64 `name:"variance_at_s_max"`
	// least eigenvalue of the predictive covariance at the sensitive inputs less Xi: no
	// linear combination has less variance than required where it is not negative
	CombinationMin float64 `name:"combination_min"`
	// least eigenvalue of Xi
	RequirementMin float64 `name:"requirement_min"`
	orderMetrics
	spectrum
}

// orderMetrics compare the strongly with the weakly privacy-aware noise.
type orderMetrics struct {
	// least eigenvalue of the strongly less the weakly privacy-aware noise covariance
	OrderMin float64 `name:"order_min"`
	// largest eigenvalue of that difference
	OrderMax float64 `name:"order_max"`
}

type nestedMetrics struct {
	// number of sensitive inputs of the last set
	Points float64 `name:"sensitive_points"`
	// rank of K - H at them in floating point
	SensitiveRank float64 `name:"sensitive_rank"`
	// trace of the noise covariance for the last set
	Trace float64 `name:"trace_last" best:"low" result:"yes"`
	// trace of the uniformly privacy-aware noise covariance, the limit
	TraceUniform float64 `name:"trace_uniform" best:"low" result:"yes"`
	// largest entry of G(S) - G(R) over G(0) for the first set
	DistanceFirst float64 `name:"distance_first"`
	// the same for the last set
	Distance float64 `name:"distance_last"`
	// largest entry of the difference of the noise covariances over G(0), for the last set
	NoiseDistance float64 `name:"noise_distance_last"`
	// least eigenvalue of G(S) - G(S') over all pairs of successive sets S' and S
	IncreaseMin float64 `name:"increase_min"`
	// least eigenvalue of G(R) - G(S) for the last set
	BelowMin float64 `name:"below_uniform_min"`
	// largest eigenvalue of G(S) for the last set: P = tI is above all G(S) for the t from
	// it up
	Norm float64 `name:"norm_last"`
	// largest eigenvalue of G(R)
	NormUniform  float64 `name:"norm_uniform"`
	conditioning `doc:"condition: condition number of K_XX"`
}

type scalingMetrics struct {
	// wall-clock time of the method, the shortest of three runs (not reproducible)
	Time float64 `name:"time_s" unit:"s" timing:"yes" best:"low"`
	// leading terms of the floating-point operations, of all steps
	Operations float64 `name:"operations" best:"low" result:"yes"`
	// binary logarithm of the operations over those with half of the points: the power of
	// n by which they grow
	Growth float64 `name:"growth"`
	// unknowns of a program; for draw, numbers in a step's vector
	Unknowns float64 `name:"unknowns"`
	// Newton steps, or steps of the Lanczos method; none for strong
	Steps *float64 `name:"steps"`
	// trace of the noise covariance; none for draw
	Trace *float64 `name:"trace" best:"low"`
	// certified duality gap of a program
	Gap *float64 `name:"gap" best:"low"`
	// of draw: distance of the noise from the one with an eigen-decomposition and the same
	// random numbers, relative to its length
	Error *float64 `name:"draw_error"`
}

type kernelMetrics struct {
	// 1 where (c, theta) is in Example 3's region, else 0
	Admissible float64 `name:"admissible" result:"yes"`
	// 1 where Proposition 2's integral is finite, so that a uniformly privacy-aware
	// solution exists, else 0
	UniformExists float64 `name:"uniform_exists"`
	// lower end of the region, c^(2/d) theta0
	ThetaLow float64 `name:"theta_low"`
	// smallest eigenvalue of K - H on a regular grid
	MinEigenvalue float64 `name:"min_eigenvalue"`
	// infimum of the ratio of the Fourier transforms of K and H; the region is where it
	// is at least 1 (0 where H has none, as at c = 0 or theta = 0)
	MinSpectralRatio float64 `name:"min_spectral_ratio" result:"yes"`
	// number of grid points
	GridPoints float64 `name:"grid_points"`
}

type uniformMetrics struct {
	// the inner product of Proposition 2 at x = x'
	G0 float64 `name:"g0"`
	// trace of the noise covariance (G - K_XX)+
	Trace float64 `name:"trace_uniform" best:"low" result:"yes"`
	// its rank
	Rank float64 `name:"rank_uniform"`
	// smallest predictive variance at 201 inputs from -0.5 to 1.5
	VarianceMin float64 `name:"variance_min"`
	// change of G when the number of nodes was doubled last, the largest over the
	// distances: above the error, which falls geometrically, down to rounding
	QuadratureError float64 `name:"quadrature_error"`
	// nodes of the quadrature
	QuadratureNodes float64 `name:"quadrature_nodes"`
	conditioning    `doc:"condition: condition number of K_XX"`
}

type satelliteMetrics struct {
	// constant mean by maximum likelihood
	Mean float64 `name:"mean" unit:"quantity"`
	// process variance by maximum likelihood
	Variance float64 `name:"variance" unit:"quantity^2"`
	spectrum `doc:"condition: condition number of the correlation matrix"`
	// rank of K - H at the private data in floating point; where it is below their
	// number, the requirement is held in its numerical range
	SensitiveRank float64 `name:"sensitive_rank"`
	// smallest predictive variance at the private data over the prior one
	VarianceAtDataMin float64 `name:"variance_at_data_min_over_prior"`
	// trace of the noise covariance over the process variance
	TraceOverVariance float64 `name:"trace_over_variance" best:"low" result:"yes"`
	// rank of the noise covariance
	Rank float64 `name:"rank"`
	// number of data in the private segment
	SensitivePoints float64 `name:"sensitive_points"`
	predictionMetrics
}

// predictionMetrics measures the effect of the noise in the private segment and outside. Means over
// no times are not reported.
type predictionMetrics struct {
	// smallest predictive standard deviation in the segment
	PrivateMin *float64 `name:"sd_private_min" unit:"quantity" best:"high"`
	// largest predictive standard deviation outside the segment
	PublicMax float64 `name:"sd_public_max" unit:"quantity" best:"low"`
	// largest increase of the predictive standard deviation outside the segment by the noise
	ChangeMax float64 `name:"sd_change_outside_max" unit:"quantity" best:"low"`
	// the same, at least three correlation lengths (0.15 orbits) away from the segment
	FarMax float64 `name:"sd_change_far_max" unit:"quantity" best:"low"`
	// sd_private_min over the prior standard deviation
	PrivateMinOverPrior *float64 `name:"sd_private_min_over_prior" best:"high" result:"yes"`
	// sd_change_outside_max over the prior standard deviation
	ChangeMaxOverPrior float64 `name:"sd_change_outside_max_over_prior" best:"low" result:"yes"`
	// sd_change_far_max over the prior standard deviation
	FarMaxOverPrior float64 `name:"sd_change_far_max_over_prior" best:"low"`
	// root mean square error of the released prediction in the segment
	PrivateError *float64 `name:"mean_error_private_rms" unit:"quantity"`
	// the same outside the segment
	PublicError *float64 `name:"mean_error_public_rms" unit:"quantity" best:"low"`
}

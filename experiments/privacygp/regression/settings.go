package regression

import (
	_ "embed"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of privacygp/regression.
type Settings struct {
	// simulated, 60 observations of a wave on (0, 1), or your own data: csv:PATH, parquet:PATH, npy:PATH or
	// images:FOLDER
	Dataset string `name:"dataset" default:"simulated"`
	// names of the columns that are predicted from, joined by + or commas, or *, every column of numbers; they
	// are public
	Inputs string `name:"inputs" default:"x" when:"dataset is not simulated"`
	// the column that is predicted; it is obfuscated
	Output string `name:"output" default:"y" when:"dataset is not simulated"`

	table.Reading

	// the places at which the output is hidden: rows:5, rows:10..20 (counted from 1), a box in the inputs
	// (x:0.4..0.6, open as x:0.4.., in several inputs as lat:48..49+lon:8..9), whose rows are meant, a place by
	// the value of every input (x:0.5), a predicate on columns but the output (speed > 3, kind = b and speed <= 2),
	// whose rows are meant, several of these joined by commas, or csv:PATH, a file of places with the columns of the
	// inputs
	Sensitive string `name:"sensitive" default:"x:0.4..0.6"`
	// tolerance: what is kept at the sensitive places is xi; kernel: it is a kernel H with the settings h_*, which must be
	// below that of the process, for strong noise, Eq. (12): Var[sum b_i f(s_i)|W] >= sum b_i b_j H(s_i,s_j) for all b,
	// and for uniform noise, Eq. (13), of eq kernels
	Requirement requirement `name:"requirement" default:"tolerance" later:"yes"`
	// tolerance: the predictive variance at a sensitive place must not be below it; one number for all places, or one
	// for each part of sensitive between commas (for each row of a file of places), such as xi=0.5,0.2. A place in
	// several parts has the largest of theirs
	Xi experiment.Several `name:"xi" default:"0.5" min:"0" when:"requirement is tolerance"`
	// column with the tolerance of each place, in the file of places that sensitive names; none: xi says it. An export
	// hands tolerances over as they are: they must be known without the outputs
	XiColumn string `name:"xi_column" default:"none" later:"yes" when:"requirement is tolerance"`
	// family of the kernel H; prior: that of the process
	HKernel hKernelName `name:"h_kernel" default:"prior" later:"yes" when:"requirement is kernel"`
	// variance of H: the predictive variance at a sensitive place must not be below it, as for xi
	HVariance float64 `name:"h_variance" default:"0.5" above:"0" later:"yes" when:"requirement is kernel"`
	// lengthscales of H in the units of the inputs, one for all or one for each, joined by +; prior: those of the process
	HLengthscales string `name:"h_lengthscales" default:"prior" later:"yes" when:"requirement is kernel"`
	// prior: xi, or h_variance, is a share of the prior variance, below 1; output: it is in the squared unit of the output
	XiUnit xiUnit `name:"xi_unit" default:"prior"`
	// optimal: the least noise for one sensitive place, Eq. (8); weak: for several, each on its own, Eq. (10) (at
	// most 500 rows and 60 places); strong: for their linear combinations, too, Eq. (11) with Xi = xi K_SS (of several
	// tolerances sqrt(xi_i xi_j) K(s_i, s_j), which must be below K_SS), or Eq. (12) with H; diagonal: independent noise,
	// the least for one place (for several the largest of those for each); equal: independent noise of one variance;
	// uniform: every place is protected, Eq. (13) with H = xi K, or with the H of requirement=kernel; none
	Noise noiseMethod `name:"noise" default:"strong"`
	// size of the independent noise that every output gets besides, which must be at least the step in which
	// outputs are written; auto: that step, or a thousandth of the outputs' standard deviation, what is larger. An
	// export takes a number that is known without the outputs
	Resolution experiment.Or[automatic, float64] `name:"resolution" default:"auto" above:"0" when:"noise is not none"`
	// number of exports, with other settings or of corrected data, that are to keep the tolerance together: the noise has
	// as many times the covariance that one export needs
	Exports int `name:"exports" default:"1" min:"1" max:"1000" later:"yes" when:"noise is not none"`
	// the kernel of the process; laplacian: exp(-sum |x-x'|/lengthscale)
	Kernel kernelName `name:"kernel" default:"eq"`
	// ml: lengthscales, process_variance and noise_variance by maximum likelihood from all rows; given: those of the
	// settings; range, the default where the public ranges are given: by these alone, a lengthscale of a tenth of the
	// range of one input, of d inputs of sqrt(d)/4 of each, and standard deviations of a quarter of the output's range
	// and, of its noise, of a tenth. An export takes given ones or those of ranges, which are handed over: what is fitted
	// to private outputs gives them away
	Hyperparameters origin `name:"hyperparameters" default:"ml"`
	// whether every input has a lengthscale of its own
	ARD bool `name:"ard" default:"true" when:"hyperparameters is ml"`
	// lengthscales in the units of the inputs: one for all, or one for each, joined by +; for an export known without
	// the outputs
	Lengthscales string `name:"lengthscales" default:"0.2" when:"hyperparameters is given"`
	// prior variance of the process, in the squared unit of the output; for an export known without the outputs
	ProcessVariance float64 `name:"process_variance" default:"1" above:"0" when:"hyperparameters is given"`
	// variance of the data's own noise, in the squared unit of the output; for an export known without the outputs
	NoiseVariance float64 `name:"noise_variance" default:"0.01" min:"0" when:"hyperparameters is given"`
	publicRanges
	// constant mean of the process; ml: by maximum likelihood, of hyperparameters=range by default the middle of the
	// range. An export takes a number that is known without the outputs
	Mean experiment.Or[likelihood, float64] `name:"mean" default:"ml"`
	// parts of the rows that are predicted from the others, drawn at random; an export is made from all rows
	Folds int `name:"folds" default:"5" min:"2" max:"1000"`
	// most rows that are taken; time grows with its third power and memory with its second, so that it is raised on
	// purpose: up to 5000, and up to 20000 with inducing inputs. More rows are refused, with the time that they take
	MostRows int `name:"most_rows" default:"1000" min:"3" max:"20000" later:"yes" when:"dataset is not simulated"`
	// number of inputs of the rows by which the covariance of the process is bounded from below, which makes the noise
	// larger than it must be and keeps every tolerance (noise=strong, optimal or none; hyperparameters=given or
	// range); 0: it is exact. The metrics error_max_* bound the differences
	Inducing int `name:"inducing" default:"0" min:"0" max:"2000" later:"yes" when:"dataset is not simulated"`
}

// publicRanges are ranges from which hyper-parameters follow.
type publicRanges struct {
	// lower end of the public range of the output; it must not be read off the data
	Low method.End `name:"low" default:"none" later:"yes" when:"hyperparameters is range"`
	// upper end of that range
	High method.End `name:"high" default:"none" later:"yes" when:"hyperparameters is range"`
	// lower end of the public range of the inputs, one for all or one for each, joined by commas in the order of inputs
	// (of a category it is not read)
	InputLow method.Ends `name:"input_low" default:"none" later:"yes" when:"hyperparameters is range"`
	// upper end of that range, one for all or one for each
	InputHigh method.Ends `name:"input_high" default:"none" later:"yes" when:"hyperparameters is range"`
}

// requirement selects the form of the condition at the sensitive places.
type requirement int

const (
	byTolerance requirement = iota
	byKernel
)

func (requirement) Choices() []string { return []string{"tolerance", "kernel"} }

// hKernelName is a family of kernels for H: that of the process, or one by its name.
type hKernelName int

const ofProcess hKernelName = 0

func (hKernelName) Choices() []string { return append([]string{"prior"}, kernelName(0).Choices()...) }

func (k hKernelName) String() string { return experiment.NameOf(k) }

// xiUnit is the unit of a tolerance.
type xiUnit int

const (
	ofPrior xiUnit = iota
	ofOutput
)

func (xiUnit) Choices() []string { return []string{"prior", "output"} }

// noiseMethod selects the noise covariance.
type noiseMethod int

const (
	optimal noiseMethod = iota
	weak
	strong
	diagonal
	equal
	uniform
	none
)

func (noiseMethod) Choices() []string {
	return []string{"optimal", "weak", "strong", "diagonal", "equal", "uniform", "none"}
}

func (m noiseMethod) String() string { return experiment.NameOf(m) }

// automatic is the word for a number that is computed from the data.
type automatic int

const auto automatic = 0

func (automatic) Choices() []string { return []string{"auto"} }

// likelihood is the word for a number that is estimated.
type likelihood int

const byLikelihood likelihood = 0

func (likelihood) Choices() []string { return []string{"ml"} }

// origin selects the source of hyper-parameters.
type origin int

const (
	estimated origin = iota
	given
	ranged
)

func (origin) Choices() []string { return []string{"ml", "given", "range"} }

// kernelName is a family of kernels, by its name in files.
type kernelName int

func (kernelName) Choices() []string {
	return []string{"eq", "matern12", "matern32", "matern52", "laplacian"}
}

func (k kernelName) String() string { return experiment.NameOf(k) }

// byWay is a family of metrics: released (from obfuscated outputs), unsecured (from the
// outputs themselves), independent (from outputs with independent noise of one variance
// that meets the same tolerance), middle (the mean of the outputs at any place).
type byWay = map[string]float64

// Metrics are those of privacygp/regression.
type Metrics struct {
	// root mean square error at rows that are not sensitive, when they are predicted from the other folds, over
	// the law of the noise: released (from obfuscated outputs), unsecured (from the outputs themselves),
	// independent (with independent noise of one variance at the same tolerance), middle (the outputs' mean)
	RMSEPublic byWay `name:"rmse_public_*" unit:"output" best:"low" result:"yes"`
	// the same at sensitive rows
	RMSESensitive byWay `name:"rmse_sensitive_*" unit:"output"`
	// mean absolute error at rows that are not sensitive, by the same predictors
	MAEPublic byWay `name:"mae_public_*" unit:"output" best:"low"`
	// the same at sensitive rows
	MAESensitive byWay `name:"mae_sensitive_*" unit:"output"`
	// share of the squared differences of the outputs from their mean, at rows that are not sensitive, that the
	// predictions explain: 1 is perfect, 0 is that mean itself (not where these outputs are all equal)
	R2Public byWay `name:"r2_public_*" best:"high"`
	// the same at sensitive rows, where little is good
	R2Sensitive byWay `name:"r2_sensitive_*"`
	// the same at sensitive rows for the better of two users who take the noise as it is, but lengthscales of
	// half and of double the length: what another prior gets
	RMSEOther *float64 `name:"rmse_sensitive_other_prior" unit:"output"`
	// share of the rows that are not sensitive inside the central region of 95 % of their prediction
	CoveragePublic *float64 `name:"coverage_95_public"`
	// the same of sensitive rows
	CoverageSensitive *float64 `name:"coverage_95_sensitive"`
	// smallest predictive variance of the process at the sensitive places, from all rows obfuscated
	VarianceMin float64 `name:"variance_at_s_min" unit:"output^2" best:"high" result:"yes"`
	// the same from the outputs themselves
	VarianceUnsecured float64 `name:"variance_at_s_min_unsecured" unit:"output^2"`
	// variance that the sensitive places must keep; of several tolerances the least
	Tolerance float64 `name:"tolerance" unit:"output^2"`
	// the largest of several tolerances
	ToleranceMax *float64 `name:"tolerance_max" unit:"output^2"`
	// of several tolerances: the least predictive variance at a sensitive place, from all rows obfuscated, over its
	// own tolerance, which is 1 or more
	VarianceShare *float64 `name:"variance_over_tolerance_min"`
	// with a kernel H: least eigenvalue of K_SS - H_SS at the sensitive places, which is not negative
	RequirementMin *float64 `name:"requirement_min" unit:"output^2"`
	// with a kernel H: least eigenvalue of Cov[f(S)|W] - H_SS, from all rows obfuscated, which is not negative but for
	// noise=none
	ConditionMin *float64 `name:"condition_min" unit:"output^2"`
	// sensitive places, each counted once
	Places float64 `name:"sensitive_places"`
	// sensitive places whose variance is below the tolerance without noise
	PlacesInNeed float64 `name:"places_in_need"`
	// rows at sensitive places
	SensitiveRows float64 `name:"sensitive_rows"`
	noiseMetrics
	hyperMetrics
	// rows that were used
	UsedRows float64 `name:"used_rows"`
	// rows left out because an input, the output or a column of a predicate has no value
	DroppedRows float64 `name:"dropped_rows"`
	// condition number of the covariance of the outputs, at most 4.5e15; with inducing inputs a bound
	Condition float64 `name:"condition"`
	inducingMetrics
}

// inducingMetrics bound the differences that inducing inputs make.
type inducingMetrics struct {
	// with inducing inputs: largest possible difference of rmse_* and rmse_sensitive_*, of every predictor, from those
	// of the exact process with the same noise
	ErrorRMSE *float64 `name:"error_max_rmse" unit:"output"`
	// with inducing inputs: by how much trace may be larger than that of the least noise
	ErrorTrace *float64 `name:"error_max_trace" unit:"output^2"`
	// with inducing inputs: by how much the variances variance_at_s_* may be larger than they are given
	ErrorVariance *float64 `name:"error_max_variance" unit:"output^2"`
}

// noiseMetrics are the size of the noise.
type noiseMetrics struct {
	// trace of the noise covariance without the independent part tau^2 I
	Trace float64 `name:"trace" unit:"output^2" best:"low"`
	// trace of independent noise of one variance at the same tolerance
	TraceIndependent float64 `name:"trace_independent" unit:"output^2" best:"low"`
	// rank of the noise covariance without tau^2 I
	Rank float64 `name:"rank"`
	// standard deviation of the independent noise besides
	Tau float64 `name:"tau" unit:"output"`
}

// hyperMetrics are the hyper-parameters.
type hyperMetrics struct {
	// lengthscale of each input, lengthscale_1 and so on
	Lengthscales map[string]float64 `name:"lengthscale_*"`
	// prior variance
	ProcessVariance float64 `name:"process_variance_used" unit:"output^2"`
	// variance of the data's own noise
	NoiseVariance float64 `name:"noise_variance_used" unit:"output^2"`
	// mean of the process
	Mean float64 `name:"mean_used" unit:"output"`
}

package experiment

// The element types that trials compute in. Float64 is that of a sweep file that
// names none.
const (
	Float64 = "float64"
	Float32 = "float32"
)

// DTypes returns the names of the element types.
func DTypes() []string { return []string{Float64, Float32} }

// Identity is everything that determines a trial's result. Its JSON is that of the
// key (package record).
type Identity struct {
	Experiment    string            `json:"experiment"`
	ResultVersion int               `json:"result_version"`
	Params        Params            `json:"params"` // every setting, with defaults filled in
	Seed          int64             `json:"seed"`
	Backend       string            `json:"backend"`  // "cpu" or "cuda"
	DType         string            `json:"dtype"`    // "float64" or "float32"
	Datasets      map[string]string `json:"datasets"` // name to SHA-256
	// RNG is "secure" and a text of its own where all that is random comes from the
	// operating system, whatever Seed is: such a trial cannot be repeated. It is empty
	// for a seeded trial.
	RNG string `json:"rng,omitempty"`
}

package experiment

import _ "embed"

// Settings and metrics of the tests, declared as a paper's package declares its own.

//go:embed testsettings_test.go
var testSource string

func init() { Document[modelSettings](testSource) }

type method int

const (
	standard method = iota
	sparse
	wild
)

func (method) Choices() []string { return []string{"standard", "sparse", "wild"} }

type full int

const fullRank full = 0

func (full) Choices() []string { return []string{"full"} }

// budget is shared by two experiments of the tests.
type budget struct {
	// privacy parameter; inf adds no noise
	Epsilon float64 `name:"epsilon" default:"1" above:"0" infinite:"yes"`
	// privacy parameter
	//
	// The text below an empty line is for readers of the code.
	Delta float64 `name:"delta" default:"0.01" above:"0" below:"1" when:"epsilon is not inf"`
}

type solver struct {
	// number of steps
	Steps int `name:"steps" default:"2000" min:"1"`
}

type modelSettings struct {
	// how heights
	// are predicted
	Method method `name:"method" default:"standard" choices:"standard,sparse"`
	budget `default:"delta: 1e-4 || epsilon: 2" also:"delta: csv: it must be given" when:"epsilon: method is sparse"`
	// public directions that are released
	Rank Or[full, int] `name:"rank" default:"full" min:"1" max:"2000"`
	// inducing inputs
	Inducing Points `name:"inducing" default:"5" unit:"years" when:"method is sparse"`
	// lower end of their grid
	Low float64 `name:"low" default:"0" when:"inducing is a count"`
	// ages
	Ages   []float64 `name:"ages" default:"0..20 step 10"`
	solver `name:"steps: solver_steps" max:"steps: 5000" doc:"steps: number of Newton steps" never:"steps: unread"`
	// whether the model is strict
	Strict bool `name:"strict" default:"no"`
	// the file
	File string `name:"file"`
}

type spread struct {
	// standard deviation
	SD *float64 `name:"sd_cm" unit:"cm"`
}

type modelMetrics struct {
	// error
	RMSE float64 `name:"rmse_cm" unit:"cm"`
	spread
	// probability_25: share of 25
	Share map[string]float64 `name:"share_*"`
	// share_of_all_25: share of 25 among all
	ShareOfAll map[string]float64 `name:"share_of_all_*"`
	// wall time
	Build *float64 `name:"build_s" unit:"s" timing:"yes"`
}

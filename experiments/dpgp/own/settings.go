package own

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Centres](source) }

// Centres takes centres of the rows of a file of inducing inputs.
type Centres struct {
	// how many centres of the rows of that file, by k-means in units of the lengthscale (of a choice in those of the
	// inputs), are the inducing inputs; 0: its rows are
	InducingCentres int `name:"inducing_centres" default:"0" min:"0" max:"500" later:"yes"`
}

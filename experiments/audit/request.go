package audit

import (
	"context"
	"regexp"
)

// Request is a release as a user asks for one, of a file of data: what it publishes
// is compared between two files whose rows are neighbours or further apart, and
// which differ in everything else that is not public: digits, columns, order of the
// columns, length.
type Request struct {
	Experiment string
	Given      map[string]any // the settings, but for the place of the file
	// Set is the data set whose File the data are; "" for a user's file, named by
	// the setting "dataset".
	Set, File string
	Contents  [2]string
	// Table matches the noisy numbers of the released file, and Record those of the
	// record: see [Part].Noisy.
	Table, Record *regexp.Regexp
}

// Releaser makes the release of one of the two files, as the program's command does,
// and returns all that it publishes.
type Releaser func(ctx context.Context, r *Request, second bool) (Whole, error)

// The noisy numbers of the files of releases.
var (
	nothing = regexp.MustCompile(`x^`) // matches no text
	// The third column, after two inputs; the noise's deviation in the last one is
	// public.
	regressionColumns     = regexp.MustCompile(`(?m)^[^,\n]*,[^,\n]*,[^,\n]*,`)
	regressionRecord      = regexp.MustCompile(`"prediction":\s*\[[^\]]*\]`)
	classificationColumns = regexp.MustCompile(`(?m),[^,\n]*,[^,\n]*$`)
	classificationRecord  = regexp.MustCompile(`"(probability|class)":\s*\[[^\]]*\]`)
	modelNumbers          = regexp.MustCompile(`"mean":\s*\[[^\]]*\]|"covariance":\s*\[(\s*\[[^\]]*\],?)*\s*\]`)
	chosenSettings        = regexp.MustCompile(`"settings":\s*\{[^}]*\}`)
)

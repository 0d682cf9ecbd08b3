package audit

import (
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
	// Name is that of the released file, which may choose its form; "" for "release".
	Name     string
	Contents [2]string
	// Table matches the noisy numbers of the released file, and Record those of the
	// record: see [Part].Noisy.
	Table, Record *regexp.Regexp
	// Described matches the noisy numbers of the description; nil where it has none.
	Described *regexp.Regexp
}

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

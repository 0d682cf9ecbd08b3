package record

import "privkern/runner/experiment"

// SettingID identifies an experiment with its parameters, independently of seed, backend,
// digests of data and version of the results. Parameters that an experiment has resolved
// and those of its records have the same ID.
type SettingID struct {
	Experiment string
	Params     string // canonical JSON
}

// TrialID identifies a trial within a plan or a table: a setting with its seed.
type TrialID struct {
	Setting SettingID
	Seed    int64
}

// IDOfSetting returns the ID of an experiment with all of its parameters. A parameter that
// cannot be part of a key is an error.
func IDOfSetting(name string, params experiment.Params) (SettingID, error) {
	canonical, err := CanonicalParams(params)
	return SettingID{name, string(canonical)}, err
}

// IDOfTrial returns the ID of a trial, which is part of its identity.
func IDOfTrial(t experiment.Identity) (TrialID, error) {
	id, err := IDOfSetting(t.Experiment, t.Params)
	return TrialID{id, t.Seed}, err
}

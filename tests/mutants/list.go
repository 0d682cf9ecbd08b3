package main

import "slices"

// mutants are wrong lines where a wrong line would cost most: noise that is too
// small, numbers that are wrong, results that are lost or pass for others.
var mutants = slices.Concat(privacyMutants, auditMutants, solverMutants, graphMutants, runnerMutants, deviceMutants,
	attackMutants)

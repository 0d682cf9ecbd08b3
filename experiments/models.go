package experiments

import (
	"privkern/experiments/baseline"
	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/kahm/machinefile"
	"privkern/experiments/model"
	"privkern/experiments/multikernel/projectionfile"
	obfuscated "privkern/experiments/privacygp/modelfile"
)

// Models returns the formats of files that run predict reads.
func Models() []model.Format {
	return append([]model.Format{
		modelfile.PredictFormat,
		machinefile.PredictFormat,
		classmodel.PredictFormat,
		obfuscated.PredictFormat,
		projectionfile.PredictFormat,
	}, baseline.Models()...)
}

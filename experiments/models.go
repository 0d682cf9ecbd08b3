package experiments

import (
	"privkern/experiments/dpgp/modelfile"
	"privkern/experiments/model"
)

// Models are the formats of files that run predict reads.
func Models() []model.Format {
	return []model.Format{
		modelfile.PredictFormat,
	}
}

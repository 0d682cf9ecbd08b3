package dpgp

import "privkern/runner/experiment"

// rowMemory returns an estimate of what a trial takes, in bytes: besides the
// process, so many matrices of n observations by the inducing inputs. With 9
// inducing inputs and 100,000 observations 77 MiB were measured for inference,
// 99 to 126 for classification and 137 for hyperparameters, for inference of
// 200,000 it was 105; with few observations 53 to 70, for hyperparameters 95.
func rowMemory(matrices int64) func(experiment.Params) int64 {
	return func(p experiment.Params) int64 {
		const process, float = 105 << 20, 8
		inducing := p.Points("inducing")
		return process + matrices*float*int64(p.Int("n"))*int64(max(inducing.Count, len(inducing.Values)))
	}
}

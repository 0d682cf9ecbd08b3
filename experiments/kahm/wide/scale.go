package wide

import (
	"fmt"
	"math"
)

// Limits on the scale of the data, as shares of the largest eigenvalue N that the kernel
// matrix of a machine's N samples can have. λ is at least 2‖Y‖²/(pN), twice the mean
// square of its samples (Eq. 40), for any kernel.
//
// At the second one λ is above every eigenvalue: the sum of memberships is below 1/2 for
// any sample, smoothing draws samples to the origin, and an image is little else than a
// mean of the samples, weighted by the kernel. 300 digits classified by ten machines of
// 1,000, some 100 samples each, with pixels from 0 to s:
//
//	s                  0.1   1      4     16    32    64    255
//	2·mean square/N    2e-5  .0023  .036  .58   2.3   9.3   150
//	sum of memberships 1.00  .99    .86   .27   .08   .02   .001
//	accuracy           .940  .923   .877  .757  .753  .753  .753
//	with fabricated    .953  .940   .807  .563  .323  .263  .213
//
// Fabricated are those at ε = 8 and d = s. In machines of 1,000 samples, as those of all
// digits have, pixels from 0 to 255 have 13.
const (
	suspectScale = .1
	refusedScale = 1
)

// fewestSamples replaces smaller numbers: the image under a machine of few samples is near one
// of them for any λ, and that of a single one is the sample.
const fewestSamples = 100

// checkScale warns of data whose scale makes λ large against the kernel matrix, and refuses
// where λ is above all of its eigenvalues. It looks at the samples without noise: noise of
// a small ε does the same, as it should.
func (b *Builder) checkScale(sources []Source) error {
	worst, text := 0.0, ""
	for i := range sources {
		s := &sources[i]
		n := s.size()
		machine := max(fewestSamples, n/max(1, b.branches(n)))
		rms := rootMeanSquare(s)
		if share := 2 * rms * rms / float64(machine); share > worst {
			worst = share
			text = fmt.Sprintf("%v has samples with a root mean square of %.4g, so that the regularisation λ (Eq. 40) of its "+
				"machines is at least %.4g; the eigenvalues of their kernel matrices are at most %d", s, rms, 2*rms*rms, machine)
		}
	}
	const advice = "scale the data to [0, 1] or [-1, 1], pixels by 1/255"
	switch {
	case worst > refusedScale:
		return fmt.Errorf("%s: machines would smooth everything away, and distances to them mean nothing; %s", text, advice)
	case worst > suspectScale:
		b.e.Warn("%s, and machines smooth much away; %s", text, advice)
	}
	return nil
}

// rootMeanSquare returns the root mean square of all samples; 0 where one is no finite number,
// which the fit refuses.
func rootMeanSquare(s *Source) float64 {
	n, p := s.Samples.Dims()
	largest := 0.0
	for i := range n {
		for _, v := range s.Samples.RawRowView(i) {
			if largest = max(largest, math.Abs(v)); math.IsNaN(v) || math.IsInf(v, 0) {
				return 0
			}
		}
	}
	if largest == 0 {
		return 0
	}
	sum := 0.0
	for i := range n {
		for _, v := range s.Samples.RawRowView(i) {
			sum += (v / largest) * (v / largest)
		}
	}
	return largest * math.Sqrt(sum/float64(n*p))
}

package recognise

import "privkern/experiments/dataset/readers"

// recognitionMemory estimates the memory of an experiment, in bytes: the Gram matrix of the
// training samples, its factor and the work space of compressing and combining kernels, six
// matrices of that size; and the samples twice. 1345 MiB were measured for 5,451 of 6,531 samples
// of 561 columns.
func recognitionMemory(train, samples, columns int) int64 {
	const float = 8
	n := int64(train)
	return 96<<20 + 6*float*n*n + 2*float*int64(samples)*int64(columns)
}

// referenceMemory is that of generated samples, three matrices and little else:
// 57, 75 and 128 MiB were measured for 60, 1,000 and 2,000 samples, of one kernel
// or six.
func referenceMemory(s *ReferenceSettings) int64 {
	const process, float = 100 << 20, 8
	n := int64(s.Rows)
	return process + 3*float*n*n
}

// harMemory is that of the windows of 20 people.
func harMemory() int64 {
	tested := harSubjects * readers.HARActivities * harDivision.test
	return recognitionMemory(readers.HARReconstructed-tested, readers.HARReconstructed, readers.HARFeatures)
}

// mhealthMemory is that of some of the activities.
func mhealthMemory(activities int) int64 {
	groups := readers.MHEALTHSubjects * activities
	return recognitionMemory(groups*mhealthDivision.train, groups*(mhealthDivision.train+mhealthDivision.test),
		readers.MHEALTHChannels)
}

// eigenproblemMemory is that of the general eigenproblem: a dozen matrices of its order,
// complex ones among them, and the windows that are drawn from.
func eigenproblemMemory(samples int) int64 {
	const process, float = 100 << 20, 8
	n := int64(samples)
	return process + 12*float*n*n + 4*float*readers.HARReconstructed*readers.HARFeatures
}

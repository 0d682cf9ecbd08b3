package multikernel

// harKernels are the kernels of the two experiments on HAR (Section IV-B2), and
// mhealthKernels those on MHEALTH (Section IV-B1).
var (
	harKernels = map[int]string{
		1: "rbf:0.01+rbf:0.001+rbf:0.0001+rbf:0.00001",
		2: "linear+rbf:0.001+laplacian:0.001+sigmoid:0.001:1",
	}
	mhealthKernels = map[int]string{
		1: "rbf:0.01+rbf:0.03+rbf:0.0005",
		2: "polynomial:1:3:1+rbf:0.01+laplacian:0.1",
	}
)

// Package wide makes wide machines (Definition 5 of the paper): the samples of a class
// get noise where that is asked for, k-means divides them into S clusters, the noisy
// samples of a cluster are fabricated (Definition 14) or not, and a conditionally deep
// machine (package graphs/hull) models each cluster.
//
// Division makes large classes affordable: a machine of N samples costs O(N³), S
// machines of N/S samples S·O((N/S)³), and a point's distance to the class is the
// smallest of S (Eq. 60). The guarantee depends on values that are computed from the
// private samples without noise: the clusters (Eq. 98) and the radius of the fabrication
// (Eq. 96) as published, neither in the corrected form, which clusters the noisy samples
// and smooths a given number of times.
//
// Its settings are embedded by those of the experiments above it.
package wide

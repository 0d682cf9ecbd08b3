// Package kahm reproduces M. Kumar, B. A. Moser and L. Fischer, "On mitigating
// the utility-loss in differentially private learning: a new perspective by a
// geometrically inspired kernel approach" (JAIR 79, 2024): classes are modelled by
// kernel affine hull machines (package graphs/hull), and a point gets the class
// whose machines it is nearest to.
//
// A class is a wide machine (Definition 5): k-means divides its samples into S
// clusters, each with a conditionally deep machine. Three kinds of samples are
// modelled (setting "data"):
//
//   - original: the samples themselves (Definition 7);
//   - noisy: with the entry noise of Algorithm 1 (Definition 12);
//   - fabricated: the images of noisy samples after smoothing (Definitions 13 to
//     15), which hide more of who was in the training set.
//
// The membership that distances reveal is measured by the paper's score, the squared L2
// distance between the densities of the distances of training and test points (Eq. 69),
// and by the AUC and the advantage of the attack that takes near points for members,
// which have no unit.
//
// With fabricated samples the score differs from the paper's by −10 to +12 %, more than a
// draw of noise and clusters explains (1 %). The number of points, the estimator's kernel
// widths and ridges (setting "lsdd") and the starts of k-means (setting "starts") change it
// by 3, 0.5 and less than 1 %. It depends strongly on λ*: a quarter more takes off 13 to
// 20 %. The ledger lists the other attempts.
//
// # Privacy
//
// The guarantee is for one entry of the data matrix, such as one pixel, changed
// by at most d. Labels and class sizes are public. As published, the clusters
// (Eq. 98) and the radius that ends the smoothing (Eq. 96) are computed from the
// private samples, so that the classifier is not computed from the noisy samples
// alone, as the paper has it. variant=corrected clusters the noisy samples and
// smooths a public number of times.
//
// # Settings
//
// d, δ and the reuse of the clusters are not stated. With d = 1, δ = 1e-5,
// pixels divided by 255, one machine for a thousand samples (to the nearest
// integer), and the clusters of the original samples used for the noise, the
// fabrication and the wide machine, the accuracies of the paper's Table 5 come out.
//
// The scale of the data is a setting, too: λ grows with its square (Eq. 40), against
// kernel matrices whose eigenvalues the number of samples bounds. Samples with which λ
// is above a tenth of that bound have a warning, and those with which it is above the
// bound are refused (package wide): with pixels from 0 to 255 machines smooth everything
// away.
//
// # Errata
//
// The ledger lists them. The first matters most: Theorems 2 to 5 do not hold as
// stated, because (148) does not follow, and the sum of memberships may be zero
// or negative. Such a point has no image; its distance counts as infinite, and
// the record counts them.
//
// # Packages
//
// Package wide makes the machines of classes. On it stand nearest (classifiers of four
// data sets) and picture (digits and points to look at). Package fit has the
// experiments on single machines, among them kahm/bounds, which computes both sides of
// the theorems; printed reads the values that the paper prints, for the figures.
package kahm

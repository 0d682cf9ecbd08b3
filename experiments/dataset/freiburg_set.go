package dataset

import "privkern/experiments/dataset/readers"

// freiburgSet holds the lists of the Freiburg Groceries images. The features of the images that a
// classifier reads are in freiburgFeaturesSet.
var freiburgSet = Set{
	Name:     "freiburg",
	Title:    "Freiburg Groceries, lists: 25 classes and the 5 official splits of 4947 images",
	Source:   "https://github.com/PhilJd/freiburg_groceries_dataset",
	Licence:  "none stated in the repository",
	Citation: "P. Jund, N. Abdo, A. Eitel, W. Burgard, The Freiburg Groceries Dataset, arXiv:1611.05799, 2016",
	Files: []File{
		freiburgFile("classid.txt", 218, "aa1874ab7d8d78e7b583705550e326ebf7ae17605ac82ccae2f1e6d47cb5ad24"),
		freiburgFile("splits/test0.txt", 23459, "20086a597ad75c265e0eb63a74d48aa6f1d049b19433e6cb4d8c6d67073cad50"),
		freiburgFile("splits/test1.txt", 21903, "9b4cf3e5bd30d08697a1898f9ceb983b23a3d489d8ca30601bb803991b901413"),
		freiburgFile("splits/test2.txt", 22528, "913f721b85363427a6e7adab0ffebce261be6817841ae0489e6a2c600ee14c47"),
		freiburgFile("splits/test3.txt", 23045, "e83e54044f9ac0b1d9720d81868bacea0f862338c111f174bc6d6470e20416bc"),
		freiburgFile("splits/test4.txt", 23015, "82fcc22ceaf47131605ef87df12422d82c8e5f64073bce8dbbfd6c657ff3b31c"),
		freiburgFile("splits/train0.txt", 169587, "aebaf9f87bc28ef1dd5b92d1c1f7a90634cab585c1009bd7a5209581741b5231"),
		freiburgFile("splits/train1.txt", 169587, "5828646a626c709c11d82e5779c5132fbbed2c90a2981aeeddd7ef4378da2156"),
		freiburgFile("splits/train2.txt", 169587, "fce1ededf6487cc3b01edfc38df3904a2b40176e42fb5c076e0253553b2aacc8"),
		freiburgFile("splits/train3.txt", 169587, "2cadd889e29ddd05428eb8ab131da495c69b8f57982424b4adbbcb65f8b92a25"),
		freiburgFile("splits/train4.txt", 169587, "9efe96df55d3971c9d5a254858dea3550131416656790a2544b9644a88312724"),
	},
	Notes: []string{
		"no images and no features: these are the set freiburg-features",
		"the five test lists partition the images; a training list repeats images until every class has 297 lines",
	},
}

// freiburgFeaturesSet cannot be fetched: a half of the features is public, in a file for each image
// (docs/kahm.md), of the others and of the images no stable copy is known.
var freiburgFeaturesSet = Set{
	Name:     "freiburg-features",
	Title:    "Freiburg Groceries, features: fc6 activations of AlexNet and VGG-16 for every image, supplied by the user",
	Source:   "computed from the images of http://aisdatasets.informatik.uni-freiburg.de/freiburg_groceries_dataset/",
	Licence:  "that of the images; none is stated in the publishers' repository",
	Citation: "P. Jund, N. Abdo, A. Eitel, W. Burgard, The Freiburg Groceries Dataset, arXiv:1611.05799, 2016",
	Files:    []File{{Path: readers.FreiburgFeaturesFile}, {Path: readers.FreiburgFeatureNamesFile}},
	StandIn:  "the paper's features, whose networks' weights are not to be had",
	Supplied: "put " + readers.FreiburgFeaturesFile + " (NumPy, float32 or float64, C order, one row per image: in the " +
		"paper 8192 numbers, 4096 of AlexNet's fc6, then 4096 of VGG-16's) and " + readers.FreiburgFeatureNamesFile +
		" (one line per row: the image's path as in the split lists, such as TEA/TEA0123.png)" +
		" into the folder freiburg-features of the data folder",
	Notes: []string{"features of your own: their SHA-256 is part of the identity of every trial that reads them"},
}

func freiburgFile(path string, size int64, sha string) File {
	return File{Path: path, Size: size, SHA256: sha, URLs: []string{
		"https://raw.githubusercontent.com/PhilJd/freiburg_groceries_dataset/" +
			"8827d2f61c2838756a069562b1c2ff53568ae33b/" + path,
	}}
}

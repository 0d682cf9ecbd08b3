package dataset

// kungSet is the !Kung census.
var kungSet = Set{
	Name:  "kung",
	Title: "Howell !Kung San census: height, weight, age and sex of 544 people of the Dobe area",
	Source: "https://github.com/rmcelreath/rethinking (data/Howell1.csv); collected by Nancy Howell, " +
		"https://tspace.library.utoronto.ca/handle/1807/10395",
	Licence: "distributed with the R package rethinking, GPL (>= 3); no separate licence for the data",
	Citation: "N. Howell, Demography of the Dobe !Kung, Academic Press, 1979; " +
		"R. McElreath, Statistical Rethinking, CRC Press, 2016",
	Files: []File{{
		Path:   "Howell1.csv",
		Size:   12205,
		SHA256: "768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd",
		URLs: []string{
			"https://raw.githubusercontent.com/rmcelreath/rethinking/master/data/Howell1.csv",
			"https://raw.githubusercontent.com/rmcelreath/rethinking/ac1b3b2cda83f3e14096e2d997a6e30ad109eeee/data/Howell1.csv",
		},
	}},
	Notes: []string{"544 rows, of which 287 are females; experiments use the females, in the order of the file"},
}

// hmeqSet is the HMEQ home equity loans.
var hmeqSet = Set{
	Name:     "hmeq",
	Title:    "HMEQ: 5960 home equity loans, 12 attributes and whether the loan went bad",
	Source:   "http://www.creditriskanalytics.net/datasets-private.html",
	Licence:  "none stated; offered for teaching and research by the authors of the book",
	Citation: "B. Baesens, D. Rösch, H. Scheule, Credit Risk Analytics, Wiley, 2016",
	Files: []File{{
		Path:   "hmeq.csv",
		Size:   393267,
		SHA256: "8a2e0b53075ad8e9c8ab1d1a1c0f56b9791b29ade1fc182f9ea7365a2f5044f7",
		URLs: []string{
			"https://raw.githubusercontent.com/vidush-dixit/hmeq/10502cb3f6979187efc864198711d3a710f12d86/dataset/hmeq.csv",
		},
	}},
	Notes: []string{
		"BAD is 1 for 1189 of the 5960 loans; only 3364 rows have no missing value",
		"CLAGE and DEBTINC are rounded to 10 significant digits in this copy",
	},
}

// mnistSet is MNIST in the four files of its publishers.
var mnistSet = Set{
	Name:    "mnist",
	Title:   "MNIST: 60000 training and 10000 test images of handwritten digits, 28×28",
	Source:  "http://yann.lecun.com/exdb/mnist/",
	Licence: "CC BY-SA 3.0, Yann LeCun and Corinna Cortes",
	Citation: "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document recognition, " +
		"Proceedings of the IEEE 86(11), 1998",
	Files: []File{
		mnistFile("train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
		mnistFile("train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
		mnistFile("t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
		mnistFile("t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
	},
	Notes: []string{"the sizes and SHA-256 are of the compressed files, as they are published"},
}

func mnistFile(name string, size int64, sha string) File {
	return File{Path: name, Size: size, SHA256: sha, URLs: []string{
		"https://ossci-datasets.s3.amazonaws.com/mnist/" + name,
		"https://storage.googleapis.com/cvdf-datasets/mnist/" + name,
		"http://yann.lecun.com/exdb/mnist/" + name,
	}}
}

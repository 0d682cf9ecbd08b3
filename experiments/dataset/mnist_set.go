package dataset

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

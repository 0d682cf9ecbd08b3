package dataset

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

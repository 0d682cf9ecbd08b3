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

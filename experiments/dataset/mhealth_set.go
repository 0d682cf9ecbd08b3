package dataset

import (
	"fmt"

	"privkern/experiments/dataset/readers"
)

// mhealthSet is the recordings of MHEALTH.
var mhealthSet = Set{
	Name:     "mhealth",
	Title:    "MHEALTH: recordings of 10 people and 12 activities, 23 channels at 50 Hz",
	Source:   "https://archive.ics.uci.edu/dataset/319/mhealth+dataset",
	Licence:  mhealthLicence,
	Citation: mhealthCitation,
	Files:    mhealthFiles(),
	Archives: []Archive{{
		Name:   mhealthArchive,
		Size:   75567983,
		SHA256: "16ad0ce709f3f00df18f348610d15bce0884b79e2143f57f446493673f02b8e0",
		URLs:   []string{"https://archive.ics.uci.edu/static/public/319/mhealth+dataset.zip"},
	}},
	Notes: []string{"each log may be compressed, as mHealth_subject1.log.gz"},
}

const (
	mhealthArchive  = "mhealth+dataset.zip"
	mhealthLicence  = "CC BY 4.0"
	mhealthCitation = "O. Banos et al., mHealthDroid: a novel framework for agile development of mobile health " +
		"applications, IWAAL 2014"
)

// mhealthLogs are the SHA-256 of the logs of subject 1, 2, ...; their sizes are
// not known.
var mhealthLogs = [readers.MHEALTHSubjects]string{
	"da8d1bbf644a206886333f945a1dd7fe5081382b3bb3ee42821f08ad765732e4",
	"20e288750fe9f4f0495686fabf1500bfe655a549f0d2c3a9be5aa6456461b8f1",
	"90ead135c9fa9f1188e3b1f7afc0c95899a0614a15917cf3590f52923d6e03fd",
	"3b66f87a292f4cc457aea18cb7e15a10c18055c803df27f5284c6a1c5751a469",
	"380e526a85bde64baebd1d1a2478c4cfad947a4ab994c8b39b8dcda195f78a30",
	"4b8bc81186229e096937f37f9ae070017ee653005b21f88fcd0504e9195f8926",
	"5e372b2fad64a3ebaadd103ec09cde68d448ef5b707b010d02f438b8b9203b1f",
	"c6ddb8926be4c193890a28cc84cafe35c16a4bc14f23c3e696d504643652a61b",
	"fa68f90a9dfeda47abce41ebc1dec8ce55f66dc56d513ab90a6ae20ad045f2c9",
	"382d3d7b58e1fe24679fb241fd7e48ce1992757f6b1b237a56cd660e8f1fabda",
}

func mhealthFiles() []File {
	var files []File
	for i, sha := range mhealthLogs {
		name := readers.MHEALTHLog(i + 1)
		files = append(files, File{
			Path: name, SHA256: sha, Compressed: true,
			Archive: mhealthArchive, Member: "MHEALTHDATASET/" + name,
		})
	}
	return files
}

// mhealth6Set is a part of MHEALTH that others cut into windows.
var mhealth6Set = Set{
	Name:   "mhealth-6ch",
	Folder: "mhealth/partial",
	Title: "MHEALTH, 6 of 23 channels: 6768 windows of 2 s of 10 people and 12 activities, " +
		"standardised for each person",
	Source:   "https://github.com/Kadoshima/research_advertising_energy_saving",
	Licence:  mhealthLicence + " for the recordings; none stated for the windows",
	Citation: mhealthCitation,
	Files:    mhealth6Files(),
	StandIn:  "all 23 channels, as they were recorded",
	Notes: []string{
		"chest acceleration and right-lower-arm rate of turn only, standardised for each person and channel: who a person " +
			"is shows less than in the recordings",
		"half of every window is in the next one: a random split leaks",
	},
}

var mhealth6Content = [readers.MHEALTHSubjects]struct {
	size int64
	sha  string
}{
	{1683740, "f09838d8aae7f9e72ef8007e43386df5b2ffe42756ccce6a9d750bb87e095b67"},
	{1707980, "c1f4d5aeb1f22522eb6819efb2d30a4fcaba8478c8cef55c47366e3f7e5ae430"},
	{1693436, "ac53b8b41da88ca5f3def08bad92a9e43f41075dade60566e1638b878432c23f"},
	{1691012, "88cab7114c5203b8f7253493803f3d71d97e82466a077b7b3a7a91223081e288"},
	{1623140, "988db6893ef653427c4b811fa3c357c4cf4cf9a21f3022bb98ebf983fa0118a7"},
	{1538300, "ff91eb6c1755370c0b4abd3da0f2af8f25f09a38bb4720d61264c39cf1744c78"},
	{1625564, "5f89ac70a9f4998cdf18599e43dd0519157151400ec1a6ba3f8f285dae03bc8a"},
	{1598900, "2ae625eb2d93ffa413529a6b133e89d4558ada70ff17e5e604492799cb815eff"},
	{1642532, "de569d66c579f32e1285758595b2d43771bba9f0afba7ac184720c2337f38886"},
	{1615868, "b63b468d64a8aca413995210c172fc4963615c1a9b388836d286d49276a698b4"},
}

func mhealth6Files() []File {
	const publisher = "https://raw.githubusercontent.com/Kadoshima/research_advertising_energy_saving/" +
		"c4f476d720dc595b29d6e80bb3a6cd0188f9427b/har/001/data_processed_gyro/"
	var files []File
	for i, f := range mhealth6Content {
		name := fmt.Sprintf("subject%02d.npz", i+1)
		files = append(files, File{Path: name, Size: f.size, SHA256: f.sha, Compressed: true,
			URLs: []string{publisher + name}})
	}
	return files
}

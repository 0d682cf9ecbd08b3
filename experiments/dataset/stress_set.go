package dataset

import (
	"fmt"

	"privkern/experiments/dataset/readers"
)

// stressSet holds the files of Stress-Predict with intervals between heart beats and labels of
// stress.
var stressSet = Set{
	Name:    "stress",
	Title:   "Stress-Predict: intervals between heart beats of 35 volunteers during stress tasks and rest",
	Source:  "https://github.com/italha-d/Stress-Predict-Dataset",
	Licence: "MIT, Copyright (c) 2022 Talha Iqbal",
	Citation: "T. Iqbal et al., Stress Monitoring Using Wearable Sensors: A Pilot Study and Stress-Predict Dataset, " +
		"Sensors 22(21):8135, 2022, https://doi.org/10.3390/s22218135",
	Files:   stressFiles(),
	StandIn: "the paper's private R-R intervals",
	Notes: []string{
		"taken from the blood volume pulse by a wristband (Empatica E4), not from an electrocardiogram; the intervals come " +
			"in bursts with gaps between them",
		"participant 1 has no labels",
		"a public stand-in for the R-R intervals of a paper whose own data are private",
	},
}

// stressIntervals identifies Raw_data/Sxx/IBI.csv of the participants from 1 up.
var stressIntervals = [readers.StressSubjects]struct {
	size int64
	sha  string
}{
	{25681, "27615d3fbfcd3bcf6e3de4fe73eb492cb391b848d951aa201727f6aa0e1e668a"},
	{7486, "80943da6e070d23ce1ac113e9223a64b4f047f0f55c41be32d578967616c4c31"},
	{26452, "6797a38504d3280a537dd1500c8656ef8ab4891a8e620e5d0b720470224d55a7"},
	{31305, "45e159eff52d2ada2db93551da87496d285b8b8c719d06fe2279cf62afdf2ab7"},
	{49161, "9380d80c53677802f5ecc75bd168a0080bd47be75a9dcee5bfb15f3443535fb2"},
	{64716, "a7fec91567ba35e56d5425f3a156b0cd6c13e40c54a3ea9ec0febe63146b6350"},
	{44672, "1115ac54d4f2301ce757f8ecdb0227781e033824d660d61bedf31d6f5faa070b"},
	{48736, "120828a2c07349e08770068dff0e82387e34b7e33ba96b9aa04c911f6b65ec4a"},
	{50739, "6d739b7436e2fa9aca0b84c02902ca9eb4c65d8c3a56fe0a6e3373f1ff803d40"},
	{23502, "576daf9548bc577814962a6f0389d344e8de7f84f638e44dbdc638f56f181b8b"},
	{41595, "9d3b2cd2a0d3e22b64ab7ce7e0d234eeba55cb6486b1f5b4c57d73106dbf60f6"},
	{25233, "3188a8d7d264a91c4997b9b4f0044b371e2af4a71b5824f2d5129bb977133792"},
	{42495, "34f498f35eee3d1c40fd6de2b46164e31384e8e9a11dec1fe24e5bee1062f4aa"},
	{34866, "a3e41f9e29598cb72e74f966e65e16183b132fdf39a411aacf70134128a228c5"},
	{14326, "bdba956049bb9d03fc857d98e1b02604a956615da5f38d1927a9aec659517cbe"},
	{12880, "79c4897aaef9812b69e0ad0e9b09ef0ec64a626941c50418607aa51da208abb3"},
	{8522, "f009320be0943209a1d603ba84831fc1300ea0bde7e6382264a6b9de3aa5b13f"},
	{19152, "3a44b5095ee7769188e9bad81338c0566aa8ae7b2e6ec71bd78145b35c7cf27d"},
	{31603, "df8d302ba7073898e2a690f7ec43188cdc2788cfcb066807c914824423d9d906"},
	{24635, "71a5aabfd91b0e7245f4c6a3b8ccd5c9132f64dc32a028f5934de8d542197b2e"},
	{30916, "b323406a97a78b902b71095fa96b0be0ce82b2db9e7a43b72c270a43c54d5d18"},
	{9947, "a600ed26f978f26a1c7bdb2059dcd3837d601812c424a56f0fe91f9885bfc548"},
	{14660, "e50bdf35c630debdcc12235bf12d23e3d6d3673b139feefdff6770f3c6ce02b4"},
	{55897, "b352bf683849314309b0f09ef55b36fdedc3c66f6632118f71a5a3e56fc4a32d"},
	{16650, "69d401d4d0015e5f5a214204fa0f1ee8200711fff6691d9430e619fd6052a792"},
	{9174, "e45ae24dd1f7dde93c392b6396dbd75ec585f4e01e65cf6e7235b88f17c3783b"},
	{34865, "8fafcd0863a75a396182bf1f579c584e12e258c2e393ec37cc5a2b38974aed83"},
	{5512, "bf5c17eab4a7ca24a7f92901e027769e5c85dcb0d567236ee48ca8e7ced2291a"},
	{26082, "88ba717d45488e317432b6783d13d3fe4310269e1eaa45cfb477a5662af82de8"},
	{14241, "e52b83f062da5857acf5622552c43bb7b0c5f6e0bbcdeefa427433668ee42056"},
	{42765, "d8e1426d9fade4c62e49db849ca6701da00ff019c180e17e381acb0927a36e04"},
	{21653, "6fe164875933ae77de435403dd4c7d315e9f3404cd3dd333d5795503a3c7f015"},
	{53571, "72bc3195cd041388d3e0e1f91ce70e70444bd2fa237aef9ccf2b098bd1d16aae"},
	{81455, "9db903d0f54c2773a00638eba9cd189817da9be690411c62028b40ce09b05342"},
	{22877, "af10f1dfe1e3d5caf17319e5194e029ee25550ba7839761227b0ca32b658e8b1"},
}

func stressFiles() []File {
	const publisher = "https://raw.githubusercontent.com/italha-d/Stress-Predict-Dataset/" +
		"f49d2eae603f90c3f0140fbbbae7c0480d651023/"
	files := []File{{
		Path:       readers.StressLabels,
		Size:       3885306,
		SHA256:     "1cce97fa7fa82fdc7dced09757d6ada3660084f0b7afa04a4e94deb360442f43",
		URLs:       []string{publisher + "Processed_data/Improved_All_Combined_hr_rsp_binary.csv"},
		Compressed: true,
	}}
	for i, f := range stressIntervals {
		files = append(files, File{
			Path: readers.StressIntervalsPath(i + 1), Size: f.size, SHA256: f.sha,
			URLs: []string{fmt.Sprintf("%sRaw_data/S%02d/IBI.csv", publisher, i+1)},
		})
	}
	return files
}

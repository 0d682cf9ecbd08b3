// Command calibrate makes the scales of the features of "har-reconstructed" anew.
//
//	go run ./experiments/dataset/har/calibrate HAPT HAR > experiments/dataset/har/calibration.csv
//
// HAPT is the folder of the data set "hapt". HAR has features.txt of UCI HAR and
// partial/har_group_means.csv.gz: the published features' means over the windows of each
// activity and subject, with the columns activity (from 1), its name, subject, the number
// of windows, and V1 to V561. They were taken from mean_group.Rda of
// https://github.com/line4r/JHU_project3.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"privkern/experiments/dataset/har"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: calibrate HAPT HAR > calibration.csv")
	}
	if err := calibrate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func calibrate(recordings, published string) error {
	means, err := har.LoadMeans(filepath.Join(published, "partial", "har_group_means.csv.gz"))
	if err != nil {
		return err
	}
	names, err := featureNames(filepath.Join(published, "features.txt"))
	if err != nil {
		return err
	}
	windows, err := har.Extract(context.Background(), recordings, nil)
	if err != nil {
		return err
	}
	scales, r2, err := har.Calibrate(windows, means)
	if err != nil {
		return err
	}
	if len(names) != len(scales) {
		return fmt.Errorf("features.txt has %d names, expected %d", len(names), len(scales))
	}
	return har.WriteCalibration(os.Stdout, names, scales, r2)
}

// featureNames reads lines of a number and a name.
func featureNames(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, name, _ := strings.Cut(lines.Text(), " ")
		names = append(names, name)
	}
	return names, lines.Err()
}

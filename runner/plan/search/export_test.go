package search

import "fmt"

// Ends returns the values at the ends of a dimension, and an error where a value is not that of its coordinate.
func Ends(d *Dimension) (ends [2]float64, err error) {
	for i := range 1001 {
		v := d.at(float64(i) / 1000).(float64)
		if again := d.at(d.of(v)); again != v {
			err = fmt.Errorf("%v of a coordinate is %v at it", v, again)
		}
		ends[1] = v
		if i == 0 {
			ends[0] = v
		}
	}
	return ends, err
}

//go:build race

package program

func init() { flags = []string{"-race"} }

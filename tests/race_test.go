//go:build race

package tests

func init() { buildFlags = append(buildFlags, "-race") }

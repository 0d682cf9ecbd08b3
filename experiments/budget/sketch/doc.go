// Package sketch recognises data of the same people.
package sketch

//go:build linux && (amd64 || arm64)

package cuda

import (
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// Look describes the device that the process would use, or returns why it would use none, without
// taking anything of the device. cold reports that its kernels for an element type, "float64" or
// "float32", have to be compiled first.
func Look(dtype string) (i Info, cold bool, err error) {
	g, err := lookUp()
	if err != nil || g.libs.nvrtc == nil {
		if g != nil {
			i = g.info
		}
		return i, false, err
	}
	p := part{kernels.Elements, tensor.Float64}
	if dtype == "float32" {
		p.dtype = tensor.Float32
	}
	source, err := kernels.Source(p.unit)
	if err != nil {
		return g.info, false, err
	}
	if archive, err := heldImages(); err == nil && archive.hold(p, digestOf(p, source), g.info.Major*10+g.info.Minor) {
		return g.info, false, nil
	}
	c, err := g.compilation(source, p)
	if err != nil {
		return g.info, false, err
	}
	return g.info, readCache(c.file) == nil, nil
}

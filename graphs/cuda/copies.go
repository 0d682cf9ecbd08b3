//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"math"
	"time"
)

// MeasureCopies measures the fastest of some copies on the device that the process uses, while
// nothing else of the process runs there. It fails where there is no device, where its memory does
// not suffice, or where it was lost.
func MeasureCopies(ctx context.Context) (CopyRates, error) {
	g, err := open()
	if err != nil {
		return CopyRates{}, err
	}
	var r CopyRates
	err = g.call(func() (err error) {
		r, err = g.measureCopies(ctx)
		return err
	})
	return r, errors.Join(err, g.Close())
}

// measureCopies is MeasureCopies on a thread with the context.
func (g *gpu) measureCopies(ctx context.Context) (rates CopyRates, err error) {
	l, err := g.lane(nil)
	if err != nil {
		return rates, err
	}
	host, err := g.api.AllocHost(CopiedBytes)
	if err != nil {
		g.putBack(l)
		return rates, g.failed("allocating page-locked memory of the host", err)
	}
	a, err := g.alloc(l, CopiedBytes)
	if err == nil {
		defer func() { err = errors.Join(err, g.release(nil, a)) }()
	}
	b := a
	if err == nil {
		if b, err = g.alloc(l, CopiedBytes); err == nil {
			defer func() { err = errors.Join(err, g.release(nil, b)) }()
		}
	}
	// All work on the memory has ended before it is freed.
	defer func() {
		if g.gone() == nil {
			err = errors.Join(err, g.failed("waiting for the device", g.api.Synchronize(l.stream)),
				g.failed("freeing page-locked memory", g.api.FreeHost(host)))
			g.putBack(l)
		}
	}()
	if err != nil {
		return rates, err
	}
	// Data that has been written: on the device by the first of the copies.
	for _, direction := range []struct {
		rate *float64
		copy func() error
	}{
		{&rates.ToDevice, func() error { return g.api.Upload(a, host, CopiedBytes, l.stream) }},
		{&rates.OnDevice, func() error { return g.api.Copy(b, a, CopiedBytes, l.stream) }},
		{&rates.FromDevice, func() error { return g.api.Download(host, b, CopiedBytes, l.stream) }},
	} {
		*direction.rate, err = l.copyRate(ctx, direction.copy)
		if err != nil {
			return rates, err
		}
	}
	return rates, nil
}

// copyRate is the rate of the fastest of some rounds of copies, in bytes per second. A
// round queues several, so that waiting for it takes a small share.
func (l *lane) copyRate(ctx context.Context, one func() error) (float64, error) {
	const rounds, copies = 6, 8 // the first round, in which memory is mapped, does not count
	best := math.Inf(1)
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		began := time.Now()
		for range copies {
			if err := one(); err != nil {
				return 0, l.gpu.failed("copying", err)
			}
		}
		if err := l.wait(); err != nil {
			return 0, err
		}
		if round > 0 {
			best = min(best, time.Since(began).Seconds())
		}
	}
	return copies * CopiedBytes / best, nil
}

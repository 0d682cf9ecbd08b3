package backend

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"privkern/graphs/cuda"
	"privkern/graphs/engine"
)

// Devices tests the devices 1 to count-1, after [Choose] took device 0 and it was given
// back with [cuda.Release]. It returns the numbers of those that can be taken, 0 among
// them, and why others are not. The numbers count the visible devices, as in
// PRIVKERN_DEVICE, which must not be set: it names the device under test meanwhile.
func Devices(count int, dtype string) (taken []int, refused []error) {
	taken = []int{0}
	defer func() { _ = os.Unsetenv(engine.DeviceVariable) }()
	for i := 1; i < count; i++ {
		err := os.Setenv(engine.DeviceVariable, strconv.Itoa(i))
		if err == nil {
			_, _, err = open("cuda", dtype)
			err = errors.Join(err, cuda.Release())
		}
		if err == nil {
			taken = append(taken, i)
			continue
		}
		refused = append(refused, fmt.Errorf("device %d is not taken: %w", i, err))
		if errors.Is(err, engine.ErrDeviceLost) {
			// A process that has lost a device opens no other.
			if i++; i < count {
				refused = append(refused, fmt.Errorf("devices from %d on are not tested after that, and not taken", i))
			}
			break
		}
	}
	return taken, refused
}

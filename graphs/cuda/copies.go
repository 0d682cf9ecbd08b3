package cuda

// CopiedBytes is the size of the copies of [MeasureCopies]. It exceeds the caches of a host, and
// twice it those of a device.
const CopiedBytes = 64 << 20

// CopyRates are the bytes that arrive in a second, of copies of [CopiedBytes].
type CopyRates struct {
	ToDevice, FromDevice float64 // from and to page-locked memory of the host
	OnDevice             float64 // within the device's memory: each byte is read and written
}

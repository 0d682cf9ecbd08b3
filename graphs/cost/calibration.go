package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// calibrationSchema is the version of the shape of a calibration file.
const calibrationSchema = 1

// Calibration holds the parameters of one device as they were measured, the content of a
// calibration file.
type Calibration struct {
	Schema int `json:"schema"`
	// Device names the device with the versions of its driver and libraries: with others it is
	// to be measured again.
	Device   string `json:"device"`
	Measured string `json:"measured"` // time, RFC 3339
	Revision string `json:"revision"` // of the program
	// Small reports measurements of small problems, as a simulated device needs them.
	Small bool   `json:"small"`
	Model Device `json:"model"`
}

// Encode returns the content of the calibration's file. It refuses values that [ReadCalibration]
// refuses.
func (c *Calibration) Encode() ([]byte, error) {
	c.Schema = calibrationSchema
	if err := c.check(c.Device); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(c, "", "  ")
	return append(b, '\n'), err
}

// ReadCalibration returns the calibration in the content of a file. It refuses one that is not whole,
// of another device, driver or library, or whose values no device can have.
func ReadCalibration(content []byte, device string) (*Calibration, error) {
	c := new(Calibration)
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	switch err := d.Decode(c); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it is cut off")
	case err != nil:
		return nil, fmt.Errorf("it is no calibration: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one calibration")
	}
	return c, c.check(device)
}

// check refuses a calibration that is not one of the device.
func (c *Calibration) check(device string) error {
	switch {
	case c.Schema != calibrationSchema:
		return fmt.Errorf("it has schema %d; this version reads %d", c.Schema, calibrationSchema)
	case c.Device != device:
		return fmt.Errorf("it is of %s, not of %s", c.Device, device)
	case c.Small && !Simulated(device):
		return errors.New("it was measured with small problems (--small), which are for a simulated device")
	}
	for _, q := range c.Model.Quantities() {
		// Written so that a value that is not a number is refused.
		if !(q.Value >= q.Least && q.Value <= q.Most) {
			return fmt.Errorf("%s is %g; it must be from %g to %g %s", q.Name, q.Value, q.Least, q.Most, q.Unit)
		}
	}
	return nil
}

// Quantity is a parameter of a device with its bounds.
type Quantity struct {
	Name, Unit         string
	Value, Least, Most float64
}

// Quantities are the parameters of a device with the bounds of all devices.
func (d Device) Quantities() []Quantity {
	rate := func(name string, v float64) Quantity { return Quantity{name, "FLOP/s", v, 1e5, 1e18} }
	bandwidth := func(name string, v float64) Quantity { return Quantity{name, "B/s", v, 1e5, 1e16} }
	latency := func(name string, v float64) Quantity { return Quantity{name, "s", v, 1e-9, 10} }
	once := func(name string, v float64) Quantity { return Quantity{name, "s", v, 0, 3600} }
	return []Quantity{latency("launch", d.Launch), latency("node", d.Node), latency("wait", d.Wait),
		latency("copy", d.Copy), bandwidth("up", d.Up), bandwidth("down", d.Down), bandwidth("memory", d.Memory),
		rate("vector64", d.Vector64), rate("vector32", d.Vector32), rate("product64", d.Product64),
		rate("product32", d.Product32), latency("stage", d.Stage), latency("column", d.Column),
		once("start", d.Start), once("compile", d.Compile),
		{"processors", "", float64(d.Processors), 1, 1e5}}
}

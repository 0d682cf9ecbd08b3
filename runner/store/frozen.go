package store

import (
	"encoding/json"
	"path/filepath"

	"privkern/runner/store/disk"
)

// FrozenBackend returns the backend of the plan in an output folder; it is empty where there is
// no plan, or no valid JSON up to its backend. It reads only the beginning of the file,
// unverified, because users of the plan read all of it.
func FrozenBackend(d disk.Disk, dir string) string {
	f, err := d.Open(filepath.Join(dir, planFile))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	members := json.NewDecoder(f)
	if start, err := members.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for members.More() {
		name, err := members.Token()
		if err != nil {
			return ""
		}
		if name == "backend" {
			var backend string
			if members.Decode(&backend) != nil {
				return ""
			}
			return backend
		}
		var skipped json.RawMessage
		if members.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

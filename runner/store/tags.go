package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"

	"privkern/runner/store/disk"
)

// tagsFile has the tags of the folder: names and values of the user's, in no key and no plan.
const tagsFile = "tags.json"

// AddTags adds tags to those of the folder; a name that it has gets the new value. Nothing is written for none.
func (s *Store) AddTags(tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	unlock, err := s.locks.wait(context.Background(), tagsFile)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := Tags(s.disk, s.dir)
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(s.disk, filepath.Join(s.dir, tagsFile), append(raw, '\n'))
}

// Tags returns the tags of an output folder, nil for none.
func Tags(d disk.Disk, dir string) (map[string]string, error) {
	path := filepath.Join(dir, tagsFile)
	raw, err := d.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tags map[string]string
	if err := json.Unmarshal(raw, &tags); err != nil {
		return nil, fmt.Errorf("%s is no list of tags (%w); correct or remove it", path, err)
	}
	return tags, nil
}

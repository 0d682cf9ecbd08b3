package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"privkern/runner/experiment"
	"privkern/runner/show/tables"
	"privkern/runner/store/disk"
)

// CSV writes all trials to path, one on each line, and the types of the columns as a Table
// Schema to [SchemaPath].
//
// Fields are quoted as in RFC 4180 and lines end in LF. A missing value is
// empty; a number has the shortest digits that read back as the same number,
// or is inf; lists and objects are JSON.
func CSV(ctx context.Context, path string, sources []*Folder, opts Options) (Counts, error) {
	if err := checkFile(path, "CSV file",
		func(head []byte) bool { return bytes.HasPrefix(head, []byte("key,experiment,")) }); err != nil {
		return Counts{}, err
	}
	types := SchemaPath(path)
	isSchema := func(head []byte) bool { return bytes.HasPrefix(head, []byte("{\n  \"fields\": [")) }
	if err := checkFile(types, "Table Schema", isSchema); err != nil {
		return Counts{}, err
	}
	r := newReader(ctx, sources, opts, 2)
	columns, err := r.columns()
	if err != nil {
		return Counts{}, err
	}
	schema, err := tableSchema(columns)
	if err != nil {
		return Counts{}, err
	}
	var counts Counts
	err = writeFile(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.name
		}
		if err := out.Write(line); err != nil {
			return cannotWrite(path, err)
		}
		if counts, err = r.rows(columns, func(cells []any) error {
			for i, v := range cells {
				var err error
				if line[i], err = csvField(v); err != nil {
					return err
				}
				if _, isText := v.(string); isText && !opts.KeepFormulas {
					line[i] = tables.Inert(line[i])
				}
			}
			if err := out.Write(line); err != nil {
				return cannotWrite(path, err)
			}
			return nil
		}); err != nil {
			return err
		}
		if out.Flush(); out.Error() != nil {
			return cannotWrite(path, out.Error())
		}
		return nil
	})
	if err != nil {
		return counts, err
	}
	if err := disk.WriteFile(disk.System, types, schema); err != nil {
		return counts, cannotWrite(types, err)
	}
	return counts, nil
}

// SchemaPath returns the path of the types of a CSV file's columns.
func SchemaPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".schema.json"
}

func csvField(v any) (string, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case bool:
		return strconv.FormatBool(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case float64:
		return experiment.FormatNumber(x), nil
	case []string:
		return plainJSON(x)
	}
	return "", fmt.Errorf("a defect: a column has values of type %T", v)
}

// plainJSON returns JSON without escapes of <, > and &.
func plainJSON(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

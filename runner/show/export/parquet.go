package export

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// rowsPerGroup bounds the memory of the writer, which buffers a row group.
const rowsPerGroup = 10_000

// Parquet writes all trials to path, one in each row, in row groups of 10,000 with Snappy
// compression. The metadata "table_schema" describes the columns as a Table Schema.
func Parquet(ctx context.Context, path string, sources []*Folder, opts Options) (Counts, error) {
	if err := checkFile(path, "Parquet file",
		func(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) }); err != nil {
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
	err = writeFile(path, func(w io.Writer) (err error) {
		config, err := parquet.NewWriterConfig(parquet.NewSchema("trials", parquetRoot(columns)),
			parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowsPerGroup),
			parquet.CreatedBy("privkern", opts.Version, ""), parquet.KeyValueMetadata("table_schema", string(schema)))
		if err != nil {
			return err
		}
		out := parquet.NewGenericWriter[any](w, config)
		row := make(parquet.Row, 0, len(columns))
		if counts, err = r.rows(columns, func(cells []any) error {
			row = row[:0]
			for i, v := range cells {
				var err error
				if row, err = appendValues(row, v, i, columns[i].required); err != nil {
					return err
				}
			}
			if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
				return cannotWrite(path, err)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return cannotWrite(path, err)
		}
		return nil
	})
	return counts, err
}

// parquetGroup is a group whose fields keep their order, because parquet.Group sorts them.
type parquetGroup struct {
	parquet.Group
	order []string
}

func parquetRoot(columns []column) parquet.Node {
	g := parquetGroup{Group: parquet.Group{}}
	for _, c := range columns {
		g.order = append(g.order, c.name)
		g.Group[c.name] = parquetNode(&c)
	}
	return g
}

// Fields implements parquet.Node.
func (g parquetGroup) Fields() []parquet.Field {
	byName := make(map[string]parquet.Field, len(g.order))
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	out := make([]parquet.Field, len(g.order))
	for i, name := range g.order {
		out[i] = byName[name]
	}
	return out
}

func parquetNode(c *column) parquet.Node {
	var n parquet.Node
	switch c.typ {
	case integer:
		n = parquet.Int(64)
	case number:
		n = parquet.Leaf(parquet.DoubleType)
	case boolean:
		n = parquet.Leaf(parquet.BooleanType)
	case list:
		return parquet.List(parquet.String())
	default:
		n = parquet.String()
	}
	if c.required {
		return n
	}
	return parquet.Optional(n)
}

// appendValues appends the value of column i with its levels. The definition level is 1 for a
// value in an optional column or an element of a list; the repetition level is 1 from the
// second element on.
func appendValues(row parquet.Row, v any, i int, required bool) (parquet.Row, error) {
	defined := 1
	if required {
		defined = 0
	}
	var value parquet.Value
	switch x := v.(type) {
	case nil:
		return append(row, parquet.NullValue().Level(0, 0, i)), nil
	case []string:
		if len(x) == 0 {
			return append(row, parquet.NullValue().Level(0, 0, i)), nil
		}
		for n, s := range x {
			row = append(row, parquet.ByteArrayValue([]byte(s)).Level(min(n, 1), 1, i))
		}
		return row, nil
	case string:
		value = parquet.ByteArrayValue([]byte(x))
	case int64:
		value = parquet.Int64Value(x)
	case float64:
		value = parquet.DoubleValue(x)
	case bool:
		value = parquet.BooleanValue(x)
	default:
		return nil, fmt.Errorf("a defect: a column has values of type %T", v)
	}
	return append(row, value.Level(0, defined, i)), nil
}

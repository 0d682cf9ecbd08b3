package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/tests/tier"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// forgery is a Parquet file of one column of three numbers, 1, 2 and 3, in one page.
type forgery struct {
	header format.PageHeader
	page   []byte
	chunk  format.ColumnMetaData
	column format.SchemaElement
	meta   func(*format.FileMetaData)
	footer func(text []byte) []byte // its bytes in the file
}

// file writes a forgery, which change may change before.
func (f forgery) file(t *testing.T, change func(*forgery)) []byte {
	t.Helper()
	encode := func(v any) []byte {
		text, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, v := range []float64{1, 2, 3} {
		f.page = binary.LittleEndian.AppendUint64(f.page, math.Float64bits(v))
	}
	const packed = 24
	f.header = format.PageHeader{Type: format.DataPage, UncompressedPageSize: packed, CompressedPageSize: packed,
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 3, Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}
	f.chunk = format.ColumnMetaData{Type: format.Double, Encoding: []format.Encoding{format.Plain},
		PathInSchema: []string{"A"}, NumValues: 3, TotalUncompressedSize: packed, DataPageOffset: 4}
	f.column = format.SchemaElement{Name: "A", Type: thrift.New(format.Double),
		RepetitionType: thrift.New(format.Required)}
	f.meta, f.footer = func(*format.FileMetaData) {}, func(text []byte) []byte { return text }
	change(&f)
	pages := append(encode(&f.header), f.page...)
	if f.chunk.TotalCompressedSize == 0 {
		f.chunk.TotalCompressedSize = int64(len(pages))
	}
	meta := format.FileMetaData{Version: 1, NumRows: 3,
		Schema:    []format.SchemaElement{{Name: "root", NumChildren: thrift.New[int32](1)}, f.column},
		RowGroups: []format.RowGroup{{Columns: []format.ColumnChunk{{MetaData: f.chunk}}, NumRows: 3}}}
	f.meta(&meta)
	footer := f.footer(encode(&meta))
	out := append([]byte("PAR1"), pages...)
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// Sizes and counts that a file declares and does not have are refused before there is memory
// for them: a file of 200 bytes takes no megabytes.
func TestForgedParquet(t *testing.T) {
	tier.Sequential(t)
	dictionary := func(values int32) func(*forgery) {
		return func(f *forgery) {
			f.header.Type, f.header.DataPageHeader.Valid = format.DictionaryPage, false
			f.header.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: values})
		}
	}
	second := func(change func(*format.RowGroup)) func(*forgery) {
		return func(f *forgery) {
			f.meta = func(m *format.FileMetaData) {
				again := m.RowGroups[0]
				again.Columns = slices.Clone(again.Columns)
				change(&again)
				m.RowGroups = append(m.RowGroups, again)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*forgery)
		want   string // "" for a file that is read
	}{
		{"honest", func(*forgery) {}, ""},
		{"a page beyond the file", func(f *forgery) { f.header.CompressedPageSize = math.MaxInt32 },
			`column "A", group 1 of rows: page 1: it declares 2147483647 bytes, packed, and 24 unpacked; 24 are left`},
		{"one of a negative size", func(f *forgery) { f.header.CompressedPageSize = -1 }, "it declares -1 bytes"},
		{"one that unpacks to gigabytes", func(f *forgery) { f.header.UncompressedPageSize = math.MaxInt32 },
			"the columns that are read take more than 1024 MiB when they are unpacked"},
		{"one that unpacks to more than is read of one", func(f *forgery) { f.header.UncompressedPageSize = maxPage + 1 },
			`p.parquet: column "A" has a page of more than 256 MiB, unpacked; write the file with smaller pages`},
		{"levels beyond the page", func(f *forgery) {
			f.header.Type, f.header.DataPageHeader.Valid = format.DataPageV2, false
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3,
				DefinitionLevelsByteLength: 25})
		}, "page 1: its levels take 25 of its 24 bytes"},
		{"values beyond the rows", func(f *forgery) { f.header.DataPageHeader.V.NumValues = math.MaxInt32 },
			"page 1: it declares 2147483647 values, more than there are rows (3)"},
		{"fewer values than none", func(f *forgery) { f.header.DataPageHeader.V.NumValues = -3 },
			"page 1: it declares -3 values"},
		{"values of a dictionary", dictionary(math.MaxInt32), "page 1: 2147483647 values in 24 bytes"},
		{"a group of another codec", second(func(g *format.RowGroup) { g.Columns[0].MetaData.Codec = format.Gzip }),
			`column "A", group 2 of rows: it is packed by GZIP, and the first group by UNCOMPRESSED`},
		{"more rows than can be counted", second(func(g *format.RowGroup) { g.NumRows = math.MaxInt64 }), "rows"},
		{"a long value in the header", func(f *forgery) {
			f.header.DataPageHeader.V.Statistics.Max = []byte("statistics of a gigabyte")
			text, _ := thrift.Marshal(new(thrift.CompactProtocol), &f.header)
			head, _, _ := bytes.Cut(text, []byte("\x18statistics"))
			f.header.DataPageHeader.V.Statistics.Max = nil
			f.page = append(append([]byte{}, head...), 0xff, 0xff, 0xff, 0xff, 0x07)
			f.header.CompressedPageSize, f.header.DataPageHeader.V.NumValues = 0, 0
		}, "page 2: its header: "},
		{"a column beyond the file", func(f *forgery) { f.chunk.TotalCompressedSize = 1 << 40 },
			"it declares 1099511627776 bytes from 4 on"},
		{"a column before the file", func(f *forgery) { f.chunk.DataPageOffset = -4 }, "bytes from -4 on"},
		{"a damaged footer", func(f *forgery) { f.footer = func([]byte) []byte { return nil } },
			"the Parquet file cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fileOf(t, "p.parquet", forgery{}.file(t, c.change))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := loadFrom(path, Spec{Dataset: "parquet:p.parquet", Inputs: "A"})
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 4 {
				t.Errorf("%d MiB were taken", took)
			}
			if c.want != "" {
				filetest.MustFail(t, err, c.want)
			} else if err != nil || d.X.At(2, 0) != 3 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	// A footer longer than the file.
	file := forgery{}.file(t, func(*forgery) {})
	binary.LittleEndian.PutUint32(file[len(file)-8:], math.MaxUint32)
	_, err := loadFrom(fileOf(t, "p.parquet", file), Spec{Dataset: "parquet:p.parquet", Inputs: "A"})
	filetest.MustFail(t, err, "the Parquet file")
}

// All encodings of common writers are read, for all sizes of pages, in both versions and with
// missing values.
func TestParquetEncodings(t *testing.T) {
	type row struct {
		Plain   float64  `parquet:"plain"`
		Split   float64  `parquet:"split,split"`
		Dict    float64  `parquet:"dict,dict"`
		Maybe   *float64 `parquet:"maybe,optional,dict"`
		Delta   int64    `parquet:"delta,delta"`
		Short   int32    `parquet:"short,optional,delta"` // 0 is missing
		Truth   bool     `parquet:"truth"`
		Text    string   `parquet:"text,dict"`
		Lengths string   `parquet:"lengths,delta"`
	}
	for _, n := range []int{1, 7, 129, 5000} {
		var rows []row
		for i := range n {
			x := float64(i % 90)
			r := row{Plain: float64(i), Split: float64(-i), Dict: x, Delta: int64(i * i), Truth: i%3 == 0,
				Text: fmt.Sprint("t", i%40), Lengths: fmt.Sprint("level ", i%30)}
			if i%10 != 9 {
				r.Maybe, r.Short = &x, int32(1+i*i%1000)
			}
			rows = append(rows, r)
		}
		for version := 1; version <= 2; version++ {
			for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
				t.Run(fmt.Sprint(n, " ", version, " ", codec), func(t *testing.T) {
					var file bytes.Buffer
					if err := parquet.Write(&file, rows, parquet.Compression(codec), parquet.DataPageVersion(version),
						parquet.PageBufferSize(1<<14)); err != nil {
						t.Fatal(err)
					}
					d, err := loadFrom(fileOf(t, "p.parquet", file.Bytes()), Spec{Dataset: "parquet:p.parquet",
						Inputs: "plain+split+dict+maybe+delta+short+truth", Others: []string{"text", "lengths"}})
					if err != nil {
						t.Fatal(err)
					}
					at := 0
					for i, r := range rows {
						if r.Maybe == nil {
							continue
						}
						truth := 0.0
						if r.Truth {
							truth = 1
						}
						want := []float64{r.Plain, r.Split, r.Dict, *r.Maybe, float64(r.Delta), float64(r.Short), truth}
						if got := d.X.RawRowView(at); !slices.Equal(got, want) {
							t.Fatalf("row %d is %v, want %v", i, got, want)
						}
						at++
					}
					labels, classes, err := d.Labels("lengths")
					if err != nil || classes[labels[0]] != "level 0" || d.Dropped != n/10 {
						t.Errorf("%d dropped, %q, %v", d.Dropped, classes, err)
					}
				})
			}
		}
	}
}

// All codecs are read, in both versions of pages.
func TestParquetCodecs(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd,
		&parquet.Brotli} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprint(codec, " ", version), func(t *testing.T) {
				file := parquetOf(t, patients(), parquet.Compression(codec), parquet.DataPageVersion(version))
				d, err := loadFrom(fileOf(t, "p.parquet", file), Spec{Dataset: "parquet:p.parquet",
					Inputs: "age+visits+colour"})
				if err != nil || d.X.At(0, 0) != 1.5 || d.X.At(1, 1) != 4 || d.X.At(2, 2) != 1 {
					t.Errorf("%+v, %v", d, err)
				}
			})
		}
	}
}

// Pages of LZ4 come out of the library as zeros: they are refused.
func TestLZ4IsRefused(t *testing.T) {
	path := fileOf(t, "p.parquet", parquetOf(t, patients(), parquet.Compression(&parquet.Lz4Raw)))
	_, err := loadFrom(path, Spec{Dataset: "parquet:p.parquet", Inputs: "age"})
	if err == nil || !strings.Contains(err.Error(), `column "age" is packed by LZ4, which is not read`) {
		t.Errorf("%v", err)
	}
}

package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
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

// Sizes and counts that a file states and does not have are refused before there is memory
// for them: a file of 200 bytes takes no megabytes.
func TestForgedParquet(t *testing.T) {
	dictionary := func(values int32) func(*forgery) {
		return func(f *forgery) {
			f.header.Type, f.header.DataPageHeader.Valid = format.DictionaryPage, false
			f.header.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: values})
		}
	}
	// encoded has values of a type in an encoding.
	encoded := func(kind format.Type, encoding format.Encoding, values ...[]byte) func(*forgery) {
		return func(f *forgery) {
			f.chunk.Type, f.column.Type = kind, thrift.New(kind)
			f.header.DataPageHeader.V.Encoding, f.page = encoding, bytes.Join(values, nil)
			f.header.CompressedPageSize, f.header.UncompressedPageSize = int32(len(f.page)), int32(len(f.page))
		}
	}
	// levels prepends levels of optional values to the rest of the page.
	levels := func(encoding format.Encoding, levels []byte) func(*forgery) {
		return func(f *forgery) {
			f.column.RepetitionType = thrift.New(format.Optional)
			f.header.DataPageHeader.V.DefinitionLevelEncoding = encoding
			f.page = slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels, f.page)
			f.header.CompressedPageSize, f.header.UncompressedPageSize = int32(len(f.page)), int32(len(f.page))
		}
	}
	run := func(n uint64) []byte { return append(binary.AppendUvarint(nil, 2*n), 1) }
	group := func(n uint64) []byte { return binary.AppendUvarint(nil, 2*n+1) }
	deltas := func(values ...int32) []byte {
		out, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		return out
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
	// bomb packs 16 MiB under a header that declares 24 bytes.
	bomb := func(codec format.CompressionCodec, stream bool) func(*forgery) {
		return func(f *forgery) {
			f.chunk.Codec, f.page = codec, packedBy(t, codec, stream, make([]byte, 16<<20))
			f.header.CompressedPageSize = int32(len(f.page))
		}
	}
	for _, c := range []struct {
		name   string
		change func(*forgery)
		want   string // "" for a file that is read
	}{
		{"honest", func(*forgery) {}, ""},
		{"a page beyond the file", func(f *forgery) { f.header.CompressedPageSize = math.MaxInt32 },
			`column "A", group 1 of rows: page 1: it says that it has 2147483647 bytes, packed, and 24 unpacked; 24 are left`},
		{"one of a negative size", func(f *forgery) { f.header.CompressedPageSize = -1 }, "it says that it has -1 bytes"},
		{"one that unpacks to gigabytes", func(f *forgery) { f.header.UncompressedPageSize = math.MaxInt32 },
			"the columns that are read take more than 1024 MiB when they are unpacked"},
		{"one that unpacks to more than is read of one", func(f *forgery) { f.header.UncompressedPageSize = maxPage + 1 },
			`p.parquet: column "A" has a page of more than 256 MiB, unpacked; write the file with smaller pages`},
		{"one that says more than it has", func(f *forgery) { f.header.UncompressedPageSize = maxPage },
			"page 1: it says that it has 268435456 bytes, and 24 as it is packed by nothing"},
		{"one that unpacks to less", func(f *forgery) {
			f.chunk.Codec, f.page = format.Snappy, snappyOf(t, f.page)
			f.header.CompressedPageSize, f.header.UncompressedPageSize = int32(len(f.page)), 1<<28
		}, "page 1: it unpacks to 24 bytes, and says 268435456"},
		{"by its own length", func(f *forgery) {
			f.chunk.Codec, f.page = format.Snappy, binary.AppendUvarint(nil, math.MaxUint32)
			f.header.CompressedPageSize = int32(len(f.page))
		}, "page 1: it unpacks to 4294967295 bytes, and says 24"},
		{"one of gzip", bomb(format.Gzip, false), `page 1: it unpacks to more than 24 bytes, which it says; write it again`},
		{"one of zstd", bomb(format.Zstd, false), "page 1: it unpacks to more than 24 bytes, which it says"},
		{"one of zstd that does not say its length", bomb(format.Zstd, true), "page 1: it unpacks to more than 24 bytes"},
		{"one of brotli", bomb(format.Brotli, false), "page 1: it unpacks to more than 24 bytes, which it says"},
		{"what is no gzip", func(f *forgery) { f.chunk.Codec = format.Gzip }, "page 1: it cannot be unpacked: gzip: "},
		{"a dictionary of gzip", func(f *forgery) {
			bomb(format.Gzip, false)(f)
			dictionary(3)(f)
		}, "page 1: it unpacks to more than 24 bytes"},
		{"levels and a bomb", func(f *forgery) {
			bomb(format.Brotli, false)(f)
			f.header.Type, f.header.DataPageHeader.Valid = format.DataPageV2, false
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3,
				DefinitionLevelsByteLength: 1, IsCompressed: thrift.New(true)})
			f.page = append([]byte{0}, f.page...)
			f.header.CompressedPageSize++
		}, "page 1: it unpacks to more than 24 bytes"},
		{"levels beyond the page", func(f *forgery) {
			f.header.Type, f.header.DataPageHeader.Valid = format.DataPageV2, false
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3,
				DefinitionLevelsByteLength: 25})
		}, "page 1: its levels take 25 of its 24 bytes"},
		{"values beyond the rows", func(f *forgery) { f.header.DataPageHeader.V.NumValues = math.MaxInt32 },
			"page 1: there are more values than rows (3)"},
		{"values of a dictionary", dictionary(math.MaxInt32), "page 1: 2147483647 values in 24 bytes"},
		{"fewer values than none", func(f *forgery) { f.header.DataPageHeader.V.NumValues = -3 },
			"page 1: it says that it has -3 values"},
		{"values of a dictionary that do not fit", dictionary(4), "page 1: 4 values in 24 bytes"},
		{"a dictionary that grows", func(f *forgery) {
			dictionary(3)(f)
			f.header.DictionaryPageHeader.V.Encoding = format.DeltaByteArray
		}, "page 1: a dictionary in the encoding DELTA_BYTE_ARRAY; dictionaries are plain"},
		{"headers of two kinds", func(f *forgery) {
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, IsCompressed: thrift.New(false)})
		}, "page 1: it has 2 headers for its kind; one is expected"},
		{"a header of another kind", func(f *forgery) { f.header.Type = format.DataPageV2 },
			"page 1: pages of the kind DATA_PAGE_V2, with the header that it has, cannot be read"},
		{"fewer missing values than none", func(f *forgery) {
			f.header.Type, f.header.DataPageHeader.Valid = format.DataPageV2, false
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3, NumNulls: math.MinInt32})
		}, "page 1: -2147483648 of its 3 values are missing"},
		{"a run of levels", levels(format.RLE, run(math.MaxInt32)),
			"page 1: its levels are of 2147483647 values, and it says 3"},
		{"runs of levels", levels(format.RLE, bytes.Repeat(run(1000), 2)),
			"page 1: its levels are of 2000 values, and it says 3"},
		{"levels of a version 2", func(f *forgery) {
			f.column.RepetitionType = thrift.New(format.Optional)
			f.header.Type, f.header.DataPageHeader.Valid = format.DataPageV2, false
			f.page = append(run(math.MaxInt32), f.page...)
			size := int32(len(run(math.MaxInt32)))
			f.header.CompressedPageSize, f.header.UncompressedPageSize = int32(len(f.page)), int32(len(f.page))
			f.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 3, NumRows: 3,
				DefinitionLevelsByteLength: size})
		}, "page 1: its levels are of 2147483647 values, and it says 3"},
		{"bit-packed levels", levels(format.BitPacked, make([]byte, 1<<10)),
			"page 1: levels in the encoding BIT_PACKED, which is not read"},
		{"levels beyond their page", func(f *forgery) {
			levels(format.RLE, run(3))(f)
			f.page[0] = 255
		}, "page 1: it is cut off in its levels"},
		{"a run of a dictionary", encoded(format.Double, format.RLEDictionary, []byte{1}, run(math.MaxInt32)),
			"page 1: its values are of 2147483647 values, and it says 3"},
		{"a run behind an empty one", encoded(format.Double, format.RLEDictionary, []byte{32, 0},
			run(math.MaxInt32), []byte{0, 0, 0}), "page 1: its values are of 2147483647 values, and it says 3"},
		{"a run without bits", encoded(format.Double, oldDictionary, []byte{0}, bytes.Repeat(run(600)[:2], 2)),
			"page 1: its values are of 1200 values, and it says 3"},
		{"a bit-packed group", encoded(format.Double, format.RLEDictionary, []byte{32}, group(1<<28)),
			"page 1: its values are of 268435456 values, and it says 3"},
		{"a bit-packed group of eights", encoded(format.Double, format.RLEDictionary, []byte{32}, group(200)),
			"page 1: its values are of 1600 values, and it says 3"},
		{"a run of truth values", encoded(format.Boolean, format.RLE, []byte{6, 0, 0, 0}, run(math.MaxInt32)),
			"page 1: its values are of 2147483647 values, and it says 3"},
		{"runs of numbers", encoded(format.Int32, format.RLE, run(math.MaxInt32)),
			"page 1: values in the encoding RLE, which is for truth values"},
		{"differences", encoded(format.Int64, format.DeltaBinaryPacked, []byte{0x80, 1, 4, 255, 255, 255, 255, 7, 0}),
			"page 1: its values are of 2147483647 values, and it says 3"},
		{"wide differences", encoded(format.Int64, format.DeltaBinaryPacked, []byte{0x80, 1, 4, 3, 0, 0, 65, 0, 0, 0}),
			"page 1: its blocks of differences are damaged"},
		{"differences without blocks", encoded(format.Int64, format.DeltaBinaryPacked, []byte{0x80, 1, 4, 3, 0}),
			"page 1: its blocks of differences are damaged"},
		{"lengths of texts", encoded(format.ByteArray, format.DeltaLengthByteArray, deltas(math.MaxInt32, 0, 0),
			[]byte("abc")), "page 1: its texts take 2147483647 bytes, and 3 are there"},
		{"a negative length", encoded(format.ByteArray, format.DeltaLengthByteArray, deltas(4, -1, 0), []byte("abc")),
			"page 1: a text has the length -1"},
		{"beginnings of texts", encoded(format.ByteArray, format.DeltaByteArray, deltas(0, 1<<29, 1<<29), deltas(1, 0, 0),
			[]byte("a")), "the columns that are read take more than 1024 MiB when they are unpacked"},
		{"beginnings of texts of one page", encoded(format.ByteArray, format.DeltaByteArray, deltas(0, maxPage, 1),
			deltas(1, 0, 0), []byte("a")), `column "A" has a page of more than 256 MiB, unpacked`},
		{"an encoding that there is not", encoded(format.Double, 77, []byte{1}), "which cannot be read"},
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
			"it says that it has 1099511627776 bytes from 4 on"},
		{"a column before the file", func(f *forgery) { f.chunk.DataPageOffset = -4 }, "bytes from -4 on"},
		{"a list of a footer", func(f *forgery) {
			f.footer = func(text []byte) []byte { // of the schema
				return append([]byte{text[0], text[1], 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}, text[4:]...)
			}
		}, "the Parquet file is damaged: its footer: a list of 2147483647 elements"},
		{"no footer", func(f *forgery) { f.footer = func([]byte) []byte { return nil } }, "its footer: it ends in"},
		{"a nested footer", func(f *forgery) {
			f.footer = func([]byte) []byte { return bytes.Repeat([]byte{0x1c}, 1000) }
		}, "its footer: it is nested deeper than 20 levels"},
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
				mustFail(t, err, c.want)
			} else if err != nil || d.X.At(2, 0) != 3 {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	// A footer longer than the file.
	file := forgery{}.file(t, func(*forgery) {})
	binary.LittleEndian.PutUint32(file[len(file)-8:], math.MaxUint32)
	_, err := loadFrom(fileOf(t, "p.parquet", file), Spec{Dataset: "parquet:p.parquet", Inputs: "A"})
	mustFail(t, err, "its footer has 4294967295 bytes, and the file")
}

// snappyOf packs by Snappy.
func snappyOf(t *testing.T, text []byte) []byte {
	t.Helper()
	packed, err := parquet.Snappy.Encode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// packedBy packs a text. Written as a stream, zstd does not declare its length in advance.
func packedBy(t *testing.T, codec format.CompressionCodec, stream bool, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch {
	case stream:
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case codec == format.Brotli:
		w = brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 1, LGWin: 16})
	default:
		packed, err := parquet.LookupCompressionCodec(codec).Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	for len(text) > 0 { // in parts, because zstd declares the length of a single write
		n := min(len(text), 1<<16)
		if _, err := w.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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

package table

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"privkern/experiments/dataset/internal/filetest"
	"privkern/runner/experiment"
	"privkern/tests/tier"
)

// with returns the settings that texts name=value give.
func with(t testing.TB, settings ...string) Reading {
	t.Helper()
	r, err := experiment.ReadSettings[Reading](settings)
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

func packed(t testing.TB, text string) string { return string(filetest.Gzipped(t, []byte(text))) }

// One table in the forms in which people have it: with the settings of each it is the same, and they are those that
// are proposed.
func TestReading(t *testing.T) {
	const plain = "größe,seen,y\n1.5,2023-01-09,0.25\n-2,2023-09-13,3\n,2023-01-10,4\n1000,2022-12-31,5\n"
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(plain) }
	encoded := func(text string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	utf16 := func(order unicode.Endianness, mark unicode.BOMPolicy) string {
		return encoded(unicode.UTF16(order, mark).NewEncoder().String(plain))
	}
	latin := encoded(charmap.Windows1252.NewEncoder().String(plain))
	for _, c := range []struct {
		name, text string
		settings   []string
		proposed   bool
	}{
		{"plain", plain, nil, true},
		{"gzip", packed(t, plain), nil, true},
		{"semicolons and decimal commas", swap(",", ";", ".", ","), []string{"decimal=,"}, true},
		{"bars", swap(",", "|"), []string{"separator=|"}, true},
		{"quoted decimal commas", swap("1.5", `"1,5"`, "0.25", `"0,25"`), []string{"decimal=,"}, true},
		{"windows-1252", latin, []string{"encoding=windows-1252"}, true},
		{"latin1 packed", packed(t, latin), []string{"encoding=latin1"}, false},
		{"UTF-16 with a mark", utf16(unicode.LittleEndian, unicode.UseBOM), []string{"encoding=utf-16le"}, true},
		{"big-endian UTF-16 with a mark", utf16(unicode.BigEndian, unicode.UseBOM), []string{"encoding=utf-16be"}, true},
		{"UTF-16 without a mark", utf16(unicode.LittleEndian, unicode.IgnoreBOM), []string{"encoding=utf-16le"}, false},
		{"packed UTF-16 with a mark", packed(t, utf16(unicode.BigEndian, unicode.UseBOM)),
			[]string{"encoding=utf-16be"}, true},
		{"with zones", swap("2023-01-09", "2023-01-09 02:00:00+02:00", "2023-09-13", "2023-09-13 00:00:00Z", "2023-01-10",
			"2023-01-09 19:00:00-05", "2022-12-31", "2022-12-31 05:30:00+0530"), []string{"dates=%Y-%m-%d %H:%M:%S%z"}, true},
		{"UTF-8 with a mark", "\xef\xbb\xbf" + plain, nil, true},
		{"comments", "# made by hand\n" + plain + "# the end\n", []string{"comment=#"}, true},
		{"question marks", swap("\n,", "\n?,"), []string{"missing=?"}, true},
		{"several missing texts", swap("\n,", "\n-999,"), []string{"missing=?, -999"}, false},
		{"days first", swap("2023-01-09", "9/1/2023", "2023-09-13", "13/9/2023", "2023-01-10", "10/01/2023", "2022-12-31",
			"31/12/2022"), []string{"dates=%d/%m/%Y"}, true},
		{"months first, with times", swap("2023-01-09", "1/9/2023 12:00 AM", "2023-09-13", "9/13/2023 12:00 am", "2023-01-10",
			"01/10/2023 12:00 AM", "2022-12-31", "12/31/2022 12:00 AM"), []string{"dates=%m/%d/%Y %I:%M %p"}, true},
		{"names of months", swap("2023-01-09", "9 Jan 2023", "2023-09-13", "13 sep 2023", "2023-01-10", "10 JAN 2023",
			"2022-12-31", "31 Dec 2022"), []string{"dates=%d %b %Y"}, true},
		{"digits alone", swap("2023-01-09", "20230109", "2023-09-13", "20230913", "2023-01-10", "20230110", "2022-12-31",
			"20221231"), []string{"dates=%Y%m%d"}, false},
		{"words for marks", swap(",", "\t"), []string{"separator=tab"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, reading := fileOf(t, "t.csv", []byte(c.text)), with(t, c.settings...)
			d, err := loadFrom(path, Spec{Dataset: "csv:t.csv", Inputs: "größe+seen", Others: []string{"y"}, Reading: reading})
			if err != nil {
				t.Fatal(err)
			}
			want := []float64{1.5, 19366, -2, 19613, 1000, 19357}
			if got := d.X.RawMatrix().Data; !slices.Equal(got, want) || !slices.Equal(numbersOf(t, d, "y"), []float64{0.25,
				3, 5}) {
				t.Errorf("inputs %v", got)
			}
			proposed, err := Propose("csv:t.csv", path)
			if err != nil {
				t.Fatal(err)
			}
			if got := proposed.Unusual(); c.proposed && !slices.Equal(got, reading.Unusual()) {
				t.Errorf("proposed are %q", got)
			}
		})
	}
}

// Rows without a header get the names x1, x2, ..., and the first row is one of them.
func TestWithoutHeader(t *testing.T) {
	path, reading := fileOf(t, "t.csv", []byte("1,2,a\n3,4,b\n")), with(t, "header=no")
	d, err := loadFrom(path, Spec{Dataset: "csv:t.csv", Inputs: "x2", Others: []string{"x1", "x3"}, Reading: reading})
	if err != nil || !slices.Equal(d.X.RawMatrix().Data, []float64{2, 4}) || !slices.Equal(numbersOf(t, d, "x1"),
		[]float64{1, 3}) {
		t.Errorf("%+v, %v", d, err)
	}
	if rows, _, err := (Spec{Dataset: "csv:" + path, Inputs: "x1", Reading: reading}).Size(); err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if proposed, err := Propose("csv:t.csv", path); err != nil || !slices.Equal(proposed.Unusual(),
		[]string{"header=no"}) {
		t.Errorf("%q, %v", proposed.Unusual(), err)
	}
	columns, rows, err := First("csv:t.csv", path, reading, 1)
	if err != nil || fmt.Sprint(columns, rows) != "[x1 x2 x3] [[1 2 a]]" {
		t.Errorf("%v, %v, %v", columns, rows, err)
	}
}

func TestWrongReading(t *testing.T) {
	for setting, want := range map[string]string{
		"separator=;;": "separator = \";;\": it is auto", "separator=\"": "separator =", "comment=##": "comment = \"##\"",
		"encoding=utf-9": `encoding = "utf-9": it is none of the WHATWG's names`, "encoding=replacement": "cannot be read",
		"dates=%d/%m": "it has a year with a month and a day", "dates=%q": `"%q" is none of the directives`,
		"dates=%H%M": "a number could be meant", "dates=%Y-%m-%d %I:%M": "which needs %p", "dates=%Y-%m-%d-%d": "twice",
	} {
		filetest.MustFail(t, Spec{Dataset: "csv:t.csv", Inputs: "a", Reading: with(t, setting)}.Check(), want)
	}
	filetest.MustFail(t, Spec{Dataset: "csv:t.csv", Inputs: "a", Reading: with(t, "separator=#", "comment=#")}.Check(),
		"it is the separator, too")
	if _, err := experiment.ReadSettings[Reading]([]string{"decimal=;"}); err == nil {
		t.Error("a semicolon was taken for a decimal mark")
	}
}

// Forms of dates, against the clock of the standard library.
func TestDates(t *testing.T) {
	at := func(y, m, d, h, min, s, ns int) float64 {
		return days(time.Date(y, time.Month(m), d, h, min, s, ns, time.UTC))
	}
	for _, c := range []struct {
		form, text string
		want       float64 // NaN: none
	}{
		{"%d/%m/%Y", "31/12/1969", -1}, {"%d/%m/%Y", "31/02/2020", math.NaN()}, {"%d/%m/%Y", "1/2/20", math.NaN()},
		{"%d/%m/%Y", "1/2/2020 ", math.NaN()}, {"%d/%m/%y", "1/2/69", at(1969, 2, 1, 0, 0, 0, 0)},
		{"%d/%m/%y", "1/2/68", at(2068, 2, 1, 0, 0, 0, 0)}, {"%m/%d/%Y %I:%M %p", "9/1/2023 12:30 AM", at(2023, 9, 1, 0, 30,
			0, 0)},
		{"%m/%d/%Y %I:%M %p", "9/1/2023 12:30 pm", at(2023, 9, 1, 12, 30, 0, 0)},
		{"%m/%d/%Y %I:%M %p", "9/1/2023 13:30 pm", math.NaN()},
		{"%Y-%m-%dT%H:%M:%S.%f%z", "1960-02-29T23:59:59.5+01:00", at(1960, 2, 29, 22, 59, 59, 5e8)},
		{"%F %T", "2000-02-29 01:02:03", at(2000, 2, 29, 1, 2, 3, 0)}, {"%Y-%j", "2024-366", at(2024, 12, 31, 0, 0, 0, 0)},
		{"%Y-%j", "2023-366", math.NaN()},
		{"%F %T%z", "1969-12-31 20:00:00-04", 0}, {"%F %T%z", "1969-12-31 20:00:00-04:", math.NaN()},
		{"%H:%M", "06:00", 0.25}, {"%H:%M", "24:00", math.NaN()},
		{"%A, %B %d, %Y", "Friday, march 1, 2024", at(2024, 3, 1, 0, 0, 0, 0)}, {"%Y_%m_%d", "2024_03_01", at(2024, 3, 1, 0,
			0, 0, 0)},
		{"%Y%m%d", "2024031", math.NaN()}, {"100%% %d.%m.%Y", "100% 1.3.2024", at(2024, 3, 1, 0, 0, 0, 0)},
	} {
		form, err := directives(c.form)
		if err != nil {
			t.Fatal(err)
		}
		v, ok := form.parse(c.text)
		if ok == math.IsNaN(c.want) || ok && math.Abs(v-c.want) > 1e-9 {
			t.Errorf("%s of %s: %v, %v; want %v", c.text, c.form, v, ok, c.want)
		}
	}
}

// Texts that are meant for numbers, dates or times are named, with the setting that reads them.
func TestResembles(t *testing.T) {
	for text, want := range map[string]string{
		"$230": "an amount", "-€1,234.50": "an amount", "(12.00)": "an amount", "230 USD": "an amount", "45%": "a percentage",
		"1,234 %": "a percentage", "\u22125": "a number with a typographic minus", "1,234": "decimal=, reads",
		"1'234": "thousands separator", "1 234,5": "thousands separator", "9/1/2023 09:00 AM": "'%m/%d/%Y %I:%M %p'",
		"13/1/2023": "a date: dates='%d/%m/%Y' reads it", "09:30": "a time of day: dates='%H:%M'",
		"2023-01-05 09:30": "%Y-%m-%d %H:%M",
		"5-Jan-2023":       "%d-%b-%Y",
		"red":              "", "a1": "", "12": "", "-1.5": "", "10-20": "", "no. 5": "", "1.10": "", "A-12": "", "5 mg": "",
		"": "",
	} {
		if got := resembles(text); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What the readers accept, change and refuse: the rows of the table in docs/own-data.md.
func TestAccepted(t *testing.T) {
	many := func(n int, cell string) string {
		return "a,b\n" + strings.Repeat("1,2\n", n) + cell + "\n"
	}
	var names []string
	for i := range 44 {
		names = append(names, fmt.Sprintf("$%d,1", 200+i))
	}
	for _, c := range []struct {
		name, text, inputs, output string
		settings                   []string
		want                       string // of the error; empty for none
		values                     []float64
	}{
		{"CR alone between texts", "a,b\nx\ry,1\n", "a[x|y]", "b", nil,
			`t.csv:2:1: column "a" is "x\ry", expected a text without a ` +
				`carriage return`, nil},
		{"mixed line ends", "a,b\r\n1,2\n3,4\r\n", "a", "b", nil, "", []float64{1, 3}},
		{"same name after trimming", "a, a ,b\n1,2,3\n", "a", "b", nil,
			`t.csv:1:4: a second column is named "a": rename one of them`, nil},
		{"long quoted field", "a,b\n1,\"" + strings.Repeat("x\n", 5<<20) + "\"\n", "a", "b", nil, "the row is longer than",
			nil},
		{"zero byte far away", many(40_000, "1,x\x00y"), "a", "b", nil,
			`t.csv:40002:3: column "b" is "x\x00y", expected a `, nil},
		{"zero byte in a text", "a,b\n" + strings.Repeat("x,1\n", 40_000) + "\x00,1\n", "a", "b", nil,
			`t.csv:40002:1: column "a" is "\x00", expected a text without a zero byte`, nil},
		{"text after numbers", many(100_000, "x,2"), "a", "b", nil,
			`t.csv:100002:1: column "a" is "x", expected a number as in line 2`,
			nil},
		{"early dates", "a,b\n1969-12-31T23:00:00-01:00,1\n1960-01-01,2\n", "a", "b", nil, "", []float64{0, -3653}},
		{"latin-1 in a class", "a,b\n1,\xc4\n", "a", "b", nil,
			`t.csv:2:3: column "b" is "\xc4", expected a text in UTF-8; encoding= ` +
				`reads another`, nil},
		{"latin-1 in a named class", "a,b\n1,\xc4\n", "a", "b[Ä|Ö]", nil, "encoding= reads another", nil},
		{"latin-1 in a name", "a,b\xc4\n1,2\n", "a", "b", nil,
			`t.csv:1:3: the name of a column is "b\xc4", expected a text in UTF-8`,
			nil},
		{"latin-1 read", "a,b\n1,2\n", "a", "b", []string{"encoding=latin1"}, "", []float64{1}},
		{"wrong Japanese", "a,b\n1,\x81\n", "a", "b", []string{"encoding=shift_jis"}, "expected a text in shift_jis", nil},
		{"mark of another encoding", "\xef\xbb\xbfa,b\n1,2\n", "a", "b", []string{"encoding=latin1"},
			"t.csv: the text is in UTF-8, as its first bytes tell; read it with encoding=utf-8", nil},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", "a", "b", nil, "t.csv: the text is in UTF-32", nil},
		{"mark of GB 18030", "\x84\x31\x95\x33a,b\n1,2\n", "a", "b", nil,
			"t.csv: the text is in GB18030, as its first bytes tell; read it with encoding=gb18030", nil},
		{"GB 18030 read", "\x84\x31\x95\x33a,b\n1,2\n", "a", "b", []string{"encoding=gb18030"}, "", []float64{1}},
		{"UTF-7", "+/v8-a,b\n1,2\n", "a", "b", nil, "t.csv: the text is in UTF-7; save it as UTF-8", nil},
		{"zero byte at the start", "a,b\n1,2\n3,\x004\n", "a", "b", nil,
			"t.csv:3:3: there is a zero byte, which no text has; one in UTF-16 is read with encoding=", nil},
		{"zero byte in a name", "a\x00,b\n1,2\n", "a", "b", nil, "t.csv:1:2: there is a zero byte", nil},
		{"amounts", "a,b\n" + strings.Join(names, "\n") + "\n", "a", "b", nil,
			`t.csv:2:1: column "a" is "$200", which looks like an amount of money`, nil},
		{"dates as texts", "a,b\n9/1/2023 09:00 AM,1\n9/2/2023 09:00 AM,1\n", "a", "b", nil,
			"which looks like a date: dates='", nil},
		{"dates with zones", "a,b\n2023-09-01 09:00:00+02:00,1\n2023-09-02 09:00:00+02:00,1\n", "a", "b", nil,
			"which looks like a date: dates='%Y-%m-%d %H:%M:%S%z' reads it", nil},
		{"days, months and years", "a,b\n31/1/2024,1\n", "a", "b", nil, "(it looks like a date: dates='%d/%m/%Y' reads it)",
			nil},
		{"times of day", "a,b\n09:30,1\n10:30,1\n", "a", "b", nil, "looks like a time of day: dates='%H:%M' reads it", nil},
		{"decimal commas", "a;b\n2,5;1\n", "a", "b", nil, "decimal=, reads the former", nil},
		{"thousands separators", "a,b\n\"1,234\",1\n", "a", "b", nil, "a thousands separator: decimal=, reads the former",
			nil},
		{"typographic minus signs", "a,b\n\u22125,1\n\u22126,1\n", "a", "b", nil,
			"looks like a number with a typographic minus: write - for it", nil},
		{"percentages", "a,b\n45%,1\n46%,1\n", "a", "b", nil, `is "45%", which looks like a percentage: leave the sign out`,
			nil},
		{"names of rows", "a,b\nann,1\nbob,1\ncy,1\ndan,1\neve,1\n", "a", "b", nil,
			`t.csv: column "a" has 5 different texts in 5 rows, which is hardly a category`, nil},
		{"names that are written", "a,b\nann,1\nbob,1\ncy,1\ndan,1\neve,1\n", "a[ann|bob|cy|dan|eve]", "b", nil, "",
			slices.Concat([]float64{1, 0, 0, 0, 0}, []float64{0, 1, 0, 0, 0}, []float64{0, 0, 1, 0, 0}, []float64{0, 0, 0, 1, 0},
				[]float64{0, 0, 0, 0, 1})},
		{"decimal point where commas are", "a;b\n1.5;2\n", "a", "b", []string{"decimal=,"},
			`t.csv:2:1: column "a" is "1.5", expected a number with a decimal comma`, nil},
		{"thousands where commas are", "a;b\n1.234,5;2\n", "a", "b", []string{"decimal=,"},
			"expected a number with a decimal comma", nil},
		{"a name with +", "a+b,b,c\n1,2,3\n", "a+b", "c", nil,
			`a name with + or a comma is written in quotation marks: '"a+b"'`, nil},
		{"a quoted name", "a+b,b,\"x, y\"\n1,2,3\n", `"a+b","x, y"`, `"b"`, nil, "", []float64{1, 3}},
		{"levels of a quoted name", "\"a,b\",b\nu,2\nv,3\n", `"a,b"[u|v]`, "b", nil, "", []float64{1, 0, 0, 1}},
		{"a number beyond 2^53", "a,b\n9007199254740992,1\n9007199254740993,1\n", "a", "b", nil,
			`t.csv:3:1: column "a" is "9007199254740993", a whole number beyond 2^53`, nil},
		{"a large measurement", "a,b\n1e300,1\n9007199254740993.5,1\n", "a", "b", nil, "", []float64{1e300,
			9007199254740994}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Dataset: "csv:t.csv", Inputs: c.inputs, Others: []string{c.output}, Reading: with(t, c.settings...)}
			d, err := loadFrom(fileOf(t, "t.csv", []byte(c.text)), s)
			if err == nil {
				_, err = d.Numbers(c.output)
			}
			filetest.MustFail(t, err, c.want)
			if c.want == "" && !slices.Equal(d.X.RawMatrix().Data, c.values) {
				t.Errorf("%v", d.X.RawMatrix().Data)
			}
		})
	}
}

// Texts in other encodings are the same classes.
func TestEncodedClasses(t *testing.T) {
	const text = "a,b\n1,Ä\n2,日本\n3,Ä\n"
	sjis, err := japanese.ShiftJIS.NewEncoder().String(strings.ReplaceAll(text, "Ä", "京"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := loadFrom(fileOf(t, "t.csv", []byte(sjis)), Spec{Dataset: "csv:t.csv", Inputs: "a",
		Others:  []string{"b[京|日本]"},
		Reading: with(t, "encoding=shift_jis")})
	if err != nil {
		t.Fatal(err)
	}
	if labels, _, err := d.Labels("b"); err != nil || !slices.Equal(labels, []int{0, 1, 0}) {
		t.Errorf("%v, %v", labels, err)
	}
	// NumPy's texts of bytes have no encoding, those of characters do.
	x := npyOf(t, "<f8", false, "(2,)", little, []float64{1, 2})
	path := fileOf(t, "x.npy", x)
	filetest.WriteFile(t, npyOf(t, "|S2", false, "(2,)", little, []byte("\xc4\x00o\x00")), filepath.Dir(path),
		"x.labels.npy")
	_, err = loadFrom(path, Spec{Dataset: "npy:x.npy", Inputs: "x1", Others: []string{"label"}})
	filetest.MustFail(t, err, `x.npy: row 1: column "label" is "\xc4", expected a text in UTF-8; encoding= reads another`)
	d, err = loadFrom(path, Spec{Dataset: "npy:x.npy", Inputs: "x1", Others: []string{"label[Ä|o]"},
		Reading: with(t, "encoding=latin1")})
	if err != nil {
		t.Fatal(err)
	}
	if labels, _, err := d.Labels("label[Ä|o]"); err != nil || !slices.Equal(labels, []int{0, 1}) {
		t.Errorf("%v, %v", labels, err)
	}
	for _, wrong := range []struct {
		texts []uint32
		want  string
	}{
		{[]uint32{'a', 0, 0, 0xd800, 0, 0}, `x.npy: row 2: column "label" is "\\U0000d800"`},
		{[]uint32{'a', 0, 0, 'a', 0, 'b'}, `x.npy: row 2: column "label" is "a\x00b", expected a text without a zero byte`},
	} {
		filetest.WriteFile(t, npyOf(t, "<U3", false, "(2,)", little, wrong.texts), filepath.Dir(path), "x.labels.npy")
		_, err = loadFrom(path, Spec{Dataset: "npy:x.npy", Inputs: "x1", Others: []string{"label"}})
		filetest.MustFail(t, err, wrong.want)
	}
}

// Whole numbers name classes and persons by all their digits, in every format.
func TestWholeNumbersAreExact(t *testing.T) {
	const first = 1 << 53
	var text strings.Builder
	text.WriteString("id,x\n")
	type row struct {
		ID int64   `parquet:"id"`
		X  float64 `parquet:"x"`
	}
	var rows []row
	var ids []int64
	var want []string
	for i := range int64(8) {
		fmt.Fprintf(&text, "%d,%d\n", first+i, i)
		rows, ids = append(rows, row{first + i, float64(i)}), append(ids, first+i)
		want = append(want, fmt.Sprint(first+i))
	}
	array := fileOf(t, "x.npy", npyOf(t, "<f8", false, "(8, 1)", little, []float64{0, 1, 2, 3, 4, 5, 6, 7}))
	filetest.WriteFile(t, npyOf(t, "<i8", false, "(8,)", little, ids), filepath.Dir(array), "x.labels.npy")
	for _, c := range []struct{ name, path, input, id string }{
		{"csv:my", fileOf(t, "t.csv", []byte(text.String())), "x", "id"},
		{"parquet:my", fileOf(t, "t.parquet", parquetOf(t, rows)), "x", "id"},
		{"npy:my", array, "x1", "label"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := loadFrom(c.path, Spec{Dataset: c.name, Inputs: c.input, Others: []string{c.id}})
			if err != nil {
				t.Fatal(err)
			}
			labels, classes, err := d.Labels(c.id)
			if err != nil || !slices.Equal(classes, want) || !slices.Equal(labels, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
				t.Errorf("%v of %q, %v", labels, classes, err)
			}
			_, err = d.Numbers(c.id)
			filetest.MustFail(t, err, "a whole number beyond 2^53")
			_, err = loadFrom(c.path, Spec{Dataset: c.name, Inputs: c.id, Others: []string{c.input}})
			filetest.MustFail(t, err, `"9007199254740993", a whole number beyond 2^53`)
			levels := fmt.Sprintf("%s[%s]", c.id, strings.Join(want, "|"))
			if d, err = loadFrom(c.path, Spec{Dataset: c.name, Inputs: levels, Others: []string{c.input}}); err != nil ||
				d.X.At(7, 7) != 1 || len(d.Names) != 8 {
				t.Errorf("%+v, %v", d, err)
			}
			s, err := Summarise(c.name, c.path, Reading{}, false)
			i := slices.IndexFunc(s.Columns, func(s ColumnSummary) bool { return s.Name == c.id })
			if err != nil || s.Columns[i].Distinct != 8 || !strings.Contains(s.Columns[i].Problem, "beyond 2^53") {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	unsigned := []uint64{1 << 63, 1<<64 - 1, 0, 0, 0, 0, 0, 1<<63 + 1}
	filetest.WriteFile(t, npyOf(t, ">u8", false, "(8,)", big, unsigned), filepath.Dir(array), "x.labels.npy")
	type large struct {
		X1    float64 `parquet:"x1"`
		Label uint64  `parquet:"label"`
	}
	var larger []large
	for i, v := range unsigned {
		larger = append(larger, large{float64(i), v})
	}
	for name, path := range map[string]string{"npy:x.npy": array,
		"parquet:u.parquet": fileOf(t, "u.parquet", parquetOf(t, larger))} {
		d, err := loadFrom(path, Spec{Dataset: name, Inputs: "x1", Others: []string{"label"}})
		if err != nil {
			t.Fatal(err)
		}
		if labels, classes, err := d.Labels("label"); err != nil || !slices.Equal(labels, []int{1, 3, 0, 0, 0, 0, 0, 2}) ||
			!slices.Equal(classes, []string{"0", "9223372036854775808", "9223372036854775809", "18446744073709551615"}) {
			t.Errorf("%s: %v of %q, %v", name, labels, classes, err)
		}
	}
	d, err := loadText(t, "id,x\n9007199254740993,\n9007199254740995,1\n9007199254740997,2\n", "x", "id")
	if err != nil {
		t.Fatal(err)
	}
	if _, classes, err := d.Labels("id"); err != nil || !slices.Equal(classes, []string{"9007199254740995",
		"9007199254740997"}) {
		t.Errorf("of rows that stay: %q, %v", classes, err)
	}
	d, err = loadText(t, "a,y\n1000000,1\n20.5,2\n", "y", "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, classes, err := d.Labels("a"); err != nil || !slices.Equal(classes, []string{"20.5", "1000000"}) {
		t.Errorf("%q, %v", classes, err)
	}
}

// The ledger sees the same rows however a release understands them.
func TestWholeIsTheSameHoweverItIsRead(t *testing.T) {
	path := fileOf(t, "t.csv", []byte("a;b;c\n1,5;?;9/1/2023\n2;3;9/2/2023\n"))
	read := func(settings ...string) string {
		w, err := ReadWhole("csv:t.csv", path, with(t, settings...), "", func(s string) uint64 { return hashOf(s) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(w)
	}
	usually := read()
	if got := read("decimal=,", "missing=?", "dates=%m/%d/%Y"); got != usually {
		t.Errorf("%s, not %s", got, usually)
	}
	if !strings.Contains(usually, "[1.5 2]") {
		t.Error(usually)
	}
}

// A hundred thousand columns are read as any others are.
func TestManyColumns(t *testing.T) {
	tier.Sequential(t)
	const columns = 100_000
	var header, row strings.Builder
	for i := range columns {
		fmt.Fprintf(&header, ",c%d", i)
		row.WriteString(",1")
	}
	text := header.String()[1:] + "\n" + row.String()[1:] + "\n" + row.String()[1:] + "\n"
	d, err := loadText(t, text, "c0+c99999", "c5")
	if err != nil || !slices.Equal(d.X.RawMatrix().Data, []float64{1, 1, 1, 1}) {
		t.Errorf("%+v, %v", d, err)
	}
	s, err := Summarise("csv:t.csv", fileOf(t, "t.csv", []byte(text)), Reading{}, false)
	if err != nil || len(s.Columns) != columns {
		t.Errorf("%v", err)
	}
}

// Decimals of a Parquet file that float64 may not hold are refused.
func TestParquetDecimals(t *testing.T) {
	type money struct {
		A int64 `parquet:"a,decimal(2:18)"`
		B float64
	}
	_, err := loadFrom(fileOf(t, "p.parquet", parquetOf(t, []money{{A: 150}, {A: 123456789012345678}})),
		Spec{Dataset: "parquet:p.parquet", Inputs: "a", Others: []string{"B"}})
	filetest.MustFail(t, err, `p.parquet: row 2: column "a" is`)
	d, err := loadFrom(fileOf(t, "p.parquet", parquetOf(t, []money{{A: 150}, {A: -999}})),
		Spec{Dataset: "parquet:p.parquet", Inputs: "a", Others: []string{"B"}, Reading: with(t, "missing=-9.99")})
	if err != nil || !slices.Equal(d.X.RawMatrix().Data, []float64{1.5}) {
		t.Errorf("%+v, %v", d, err)
	}
	// Most programs write the two's complement of bytes.
	type exact struct {
		A [9]byte `parquet:"a,decimal(2:20)"`
		B float64
	}
	minus := [9]byte{255, 255, 255, 255, 255, 255, 255, 255, 251}
	d, err = loadFrom(fileOf(t, "p.parquet", parquetOf(t, []exact{{A: [9]byte{8: 150}}, {A: minus}, {A: [9]byte{7: 1}}})),
		Spec{Dataset: "parquet:p.parquet", Inputs: "a", Others: []string{"B"}})
	if err != nil || !slices.Equal(d.X.RawMatrix().Data, []float64{1.5, -0.05, 2.56}) {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = loadFrom(fileOf(t, "p.parquet", parquetOf(t, []exact{{A: [9]byte{1: 128}}})),
		Spec{Dataset: "parquet:p.parquet", Inputs: "a", Others: []string{"B"}})
	filetest.MustFail(t, err, `p.parquet: row 1: column "a" is "9.223372036854776e+16", expected a decimal of at most`)
}

// What a proposal leaves to the user: UTF-32, and commas that may group thousands.
func TestNotProposed(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfe\x00\x00a\x00\x00\x00": "", "a;b\n1,200;1\n2,345;2\n": "", "a;b\n1,200;1\n2,5;2\n": "decimal=,",
		"a;b\n0,125;1\n": "decimal=,",
	} {
		r, err := Propose("csv:t.csv", fileOf(t, "t.csv", []byte(text)))
		if err != nil || strings.Join(r.Unusual(), " ") != want {
			t.Errorf("%q: %q, %v", text, r.Unusual(), err)
		}
	}
}

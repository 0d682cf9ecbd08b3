package own

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/machinefile"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// rowsFile are 24 rows of two classes that are apart.
func rowsFile() string {
	var b strings.Builder
	b.WriteString("a,b,kind\n")
	for i := range 24 {
		fmt.Fprintf(&b, "%.3f,%.3f,%d\n", float64(20+50*(i%2))+5*math.Sin(float64(i)), float64(i%7)/10, 3+4*(i%2))
	}
	return b.String()
}

// publishing are settings of a release of the rows.
func publishing(changes ...func(*Publishing)) *Publishing {
	s := &Publishing{Dataset: "csv:rows.csv",
		Table: &Table{Inputs: "a+b", Output: "kind", Low: experiment.SeveralOf[method.None](0),
			High: experiment.SeveralOf[method.None](100, 1), Holdout: .2},
		Kind: wide.Noisy, Pipeline: &wide.Pipeline{Budget: wide.Budget{Epsilon: 4, Delta: 1e-5, D: 1},
			Machine: wide.Machine{N: 2, Layers: 1, Branches: experiment.NumberOr[wide.Rounding](2)}, Variant: wide.Corrected,
			Clustering: wide.Clustering{Starts: 1}, Smoothing: 2}}
	for _, change := range changes {
		change(s)
	}
	return s
}

// planOf plans a release of rows.
func planOf(t *testing.T, rows string, s *Publishing) (*release.Plan, error) {
	t.Helper()
	return s.Plan(t.Context(), trialtest.New(t, trialtest.Options{File: write(t, rows)}))
}

// write writes rows to a file.
func write(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// released releases rows, with the noise of a seed, and returns the query without noise.
func released(t *testing.T, rows string, seed byte, changes ...func(*Publishing),
) (*experiment.Release, []release.Draw) {
	t.Helper()
	plan, err := planOf(t, rows, publishing(changes...))
	if err != nil {
		t.Fatal(err)
	}
	source := release.Unbooked(rand.NewChaCha8([32]byte{seed}))
	var draws []release.Draw
	source.Trace(&draws)
	out, err := plan.With(t.Context(), source, plan.Private)
	if err != nil {
		t.Fatal(err)
	}
	trialtest.WantSize(t, plan.Spending.Size, out)
	return out, draws
}

// The budget books a whole row, pε/d; classes that are numbers are in the account that other
// methods have of the same file.
func TestSpending(t *testing.T) {
	plan, err := planOf(t, rowsFile(), publishing(func(s *Publishing) { s.D = .5 }))
	if err != nil {
		t.Fatal(err)
	}
	s := plan.Spending
	output := make([]float64, 24)
	for i := range output {
		output[i] = float64(3 + 4*(i%2))
	}
	if s.Epsilon != 16 || s.Delta != 0 || s.Rows != 24 || fmt.Sprint(s.Units) != "[inputs]" ||
		fmt.Sprint(s.Publishes) != "[output]" ||
		s.Data != dataset.Canonical(plan.Private, output) || s.Row != "" ||
		!slices.Equal(s.Losses, []experiment.Loss{{Law: "laplace", Size: 8, Times: 2}}) {
		t.Errorf("%+v", s)
	}
}

// Entries get Laplace noise of scale d/ε each, a draw for each entry, after clipping to the
// public range.
func TestNoiseOfRelease(t *testing.T) {
	rows := strings.Replace(rowsFile(), "a,b,kind\n", "a,b,kind\n-50,7,3\n", 1)
	out, draws := released(t, rows, 1, func(s *Publishing) { s.D = .5 })
	if len(draws) != 1 || len(draws[0].Query) != 50 {
		t.Fatalf("%d draws", len(draws))
	}
	if q := draws[0].Query; q[0] != 0 || q[1] != 1 || math.Abs(q[2]-.2) > 1e-9 {
		t.Errorf("noise is added to %v", q[:3])
	}
	n := draws[0].Noise
	if s := n.Scale(); s < .125 || s > .125*(1+1e-6) {
		t.Errorf("a scale of %g, want d/epsilon = .125", s)
	}
	var all, want []float64
	for _, row := range out.Rows {
		all = append(all, row[0]/100, row[1])
	}
	want = append(want, draws[0].Output...)
	slices.Sort(all)
	slices.Sort(want)
	for i := range all {
		if math.Abs(all[i]-want[i]) > 1e-12 {
			t.Fatalf("released %v, and drawn %v", all, want)
		}
	}
}

// The rows of a release are in the order of their noisy values within their class, and
// every class has as many as the file; the model has the same samples.
func TestRowsOfRelease(t *testing.T) {
	for _, kind := range []wide.Data{wide.Noisy, wide.Fabricated} {
		out, _ := released(t, rowsFile(), 2, func(s *Publishing) { s.Kind = kind })
		if want := append(slices.Repeat([]string{"3"}, 12), slices.Repeat([]string{"7"}, 12)...); !slices.Equal(out.Classes,
			want) || out.ClassColumn != "kind" || fmt.Sprint(out.Columns) != "[a b]" {
			t.Errorf("classes %v of %v", out.Classes, out.Columns)
		}
		if kind == wide.Noisy && (!slices.IsSortedFunc(out.Rows[:12], slices.Compare[[]float64]) ||
			!slices.IsSortedFunc(out.Rows[12:], slices.Compare[[]float64])) {
			t.Errorf("rows %v", out.Rows)
		}
		if kind == wide.Noisy {
			continue
		}
		noisy, _ := released(t, rowsFile(), 2)
		if fmt.Sprint(noisy.Rows) == fmt.Sprint(out.Rows) {
			t.Error("the fabricated rows are the noisy ones")
		}
	}
}

// A column that is itself named with levels keeps its name.
func TestReleaseOfBracketedColumn(t *testing.T) {
	out, _ := released(t, strings.Replace(rowsFile(), "kind", "kind[3|7]", 1), 1,
		func(s *Publishing) { s.Output = "kind[3|7]" })
	if out.ClassColumn != "kind[3|7]" || out.Model.(*machinefile.Model).Output != "kind[3|7]" {
		t.Errorf("the class is in the columns %q and %q", out.ClassColumn, out.Model.(*machinefile.Model).Output)
	}
}

// Nothing but the noisy entries of the private rows has a part in a release: where these are
// equal, so is all of it, for any rows.
func TestReleaseFollowsFromNoisyEntries(t *testing.T) {
	s := publishing(func(s *Publishing) { s.Kind = wide.Fabricated })
	plan, err := planOf(t, rowsFile(), s)
	if err != nil {
		t.Fatal(err)
	}
	of := func(private *mat.Dense) string {
		out, err := plan.With(t.Context(), release.Unbooked(rand.NewChaCha8([32]byte{5})), private)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%v %v %v %v", out.Rows, out.Classes, out.Warnings, *out.Privacy)
	}
	beyond := mat.DenseCopyOf(plan.Private)
	beyond.Set(3, 1, 40) // counts as 1
	end := mat.DenseCopyOf(plan.Private)
	end.Set(3, 1, 1)
	if of(beyond) != of(end) {
		t.Error("a release tells a value beyond the range from its end")
	}
}

// An input of a level of a category is 0 or 1, for any range of numbers; levels that are
// read off the data are refused, and classes that no row has are left out.
func TestReleaseOfCategories(t *testing.T) {
	rows := "a,colour,kind\n"
	for i := range 12 {
		rows += fmt.Sprintf("%d,%s,%s\n", 10*i, []string{"red", "green", "blue"}[i%3], []string{"x", "y"}[i%2])
	}
	out, draws := released(t, rows, 3, func(s *Publishing) {
		s.Inputs, s.Output = "a+colour[red|green|blue]", "kind[w|x|y]"
		s.Low, s.High = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](110)
	})
	if fmt.Sprint(out.Columns) != "[a colour=red colour=green colour=blue]" || fmt.Sprint(draws[0].Query[5:8]) !=
		"[0 1 0]" || math.Abs(draws[0].Query[4]-10./110) > 1e-9 ||
		fmt.Sprint(out.Classes[:1], out.Classes[11:]) != "[x] [y]" {
		t.Errorf("%v %v %v", out.Columns, draws[0].Query[:8], out.Classes)
	}
	if out.ClassColumn != "kind" || out.Model.(*machinefile.Model).Output != "kind" {
		t.Errorf("the class is in the columns %q and %q", out.ClassColumn, out.Model.(*machinefile.Model).Output)
	}
	_, err := planOf(t, rows, publishing(func(s *Publishing) { s.Inputs = "a+colour" }))
	trialtest.Refuses(t, err, `inputs=colour[A|B|C]`)
}

func TestReleaseRefused(t *testing.T) {
	none := method.Ends{IsWord: true}
	for name, c := range map[string]struct {
		change func(*Publishing)
		want   string
	}{
		"original":           {func(s *Publishing) { s.Kind = wide.Original }, "the rows themselves"},
		"no noise":           {func(s *Publishing) { s.Epsilon = math.Inf(1) }, "adds no noise"},
		"private radius":     {func(s *Publishing) { s.Kind, s.Variant = wide.Fabricated, wide.AsPublished }, "radius"},
		"private clusters":   {func(s *Publishing) { s.Clusters = wide.OriginalClusters }, "clusters of the private"},
		"published clusters": {func(s *Publishing) { s.Variant = wide.AsPublished }, "variant=corrected"},
		"no range":           {func(s *Publishing) { s.Low, s.High = none, none }, "low and high are not given"},
		"every input":        {func(s *Publishing) { s.Inputs = " * " }, "which columns are numbers would be read off"},
		"directions":         {func(s *Publishing) { s.N = 3 }, "only 2 inputs"},
		"reserved":           {func(s *Publishing) { s.Inputs = "a+class" }, `have a column "class" of their own`},
	} {
		t.Run(name, func(t *testing.T) {
			rows := rowsFile()
			if name == "reserved" {
				rows = strings.Replace(rows, "a,b,kind", "a,class,kind", 1)
			}
			if name == "private clusters" {
				c.want = "clusters would be those of the private rows"
			}
			_, err := planOf(t, rows, publishing(c.change))
			trialtest.Refuses(t, err, c.want)
		})
	}
	one := publishing(func(s *Publishing) {
		s.Variant, s.Branches = wide.AsPublished, experiment.NumberOr[wide.Rounding](1)
	})
	if err := one.Check(); err != nil {
		t.Errorf("one machine a class has no clusters: %v", err)
	}
}

// The model of a release classifies points as the classes lie.
func TestReleasedRowOfOneClass(t *testing.T) {
	out, _ := released(t, "a,b,kind\n1,.5,x\n2,.4,x\n3,.3,x\n", 4)
	if len(out.Rows) != 3 || out.Classes[2] != "x" {
		t.Errorf("a party with one class releases %v", out.Rows)
	}
	out, _ = released(t, rowsFile()+"9,.5,9\n", 4, func(s *Publishing) { s.Kind = wide.Fabricated })
	if len(out.Rows) != 25 {
		t.Errorf("a class of one row: %d rows", len(out.Rows))
	}
}

// A release of pictures has their size, and can be written as pictures, but not where some
// pixels are left out.
func TestReleaseOfPictures(t *testing.T) {
	folder := t.TempDir()
	for _, class := range []string{"down", "up"} {
		if err := os.Mkdir(filepath.Join(folder, class), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			grey := image.NewGray(image.Rect(0, 0, 6, 4))
			for j := range grey.Pix {
				grey.Pix[j] = uint8((7*i + 3*j) % 256)
			}
			var b bytes.Buffer
			if err := png.Encode(&b, grey); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, class, fmt.Sprint(i, ".png")), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := publishing(func(s *Publishing) {
		s.Dataset, s.Inputs, s.Output = "images:"+folder+"@3x2", "*", "label"
		s.Low, s.High = method.Ends{IsWord: true}, method.Ends{IsWord: true}
	})
	if !slices.Contains(s.Forms(), experiment.FormPictures) {
		t.Errorf("forms %v", s.Forms())
	}
	plan, err := s.Plan(t.Context(), trialtest.New(t, trialtest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Spending.Epsilon != 24 {
		t.Errorf("a picture of six pixels spends %g, want 6 × 4", plan.Spending.Epsilon)
	}
	out, err := plan.With(t.Context(), release.Unbooked(rand.NewChaCha8([32]byte{})), plan.Private)
	if err != nil {
		t.Fatal(err)
	}
	if out.Picture == nil || *out.Picture != (experiment.Picture{Width: 3, Height: 2}) || len(out.Columns) != 6 ||
		fmt.Sprint(out.Classes) != "[down down down down up up up up]" {
		t.Errorf("%+v, %v, %v", out.Picture, out.Columns, out.Classes)
	}
	s.Inputs = "p1+p2+p3"
	if slices.Contains(s.Forms(), experiment.FormPictures) {
		t.Error("a part of the pixels can be written as a picture")
	}
}

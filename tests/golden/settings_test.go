package golden

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
)

// Data of nobody: [dataFolder] makes them.
const (
	ownRegression = "dataset=csv:own.csv output=y low=-2 high=2 delta=1e-4 "
	givenSums     = "kernel_variance=1 sigma=0.1 ratio=1 rho=0.01 " // which have other defaults there
	ownHulls      = "dataset=csv:own.csv output=class low=-2 high=6 n=2 layers=2 "
	ownClasses    = "dataset=csv:own.csv inputs=x output=class low=0 high=1 delta=1e-4 "
)

// settingsOf returns the settings of an experiment: its defaults where none are listed.
func settingsOf(name string) []string {
	if listed := settings[name]; listed != nil {
		return listed
	}
	return []string{""}
}

// settings are name=value lists, several where an experiment's methods take
// different paths through the code. All of them together take seconds, because
// bits are compared, not the quality of results. Experiments that read real
// data only are run where there are some.
var settings = map[string][]string{
	"baseline/exact-classification": {"repeats=2"},
	"baseline/exact-regression":     {"repeats=2"},
	"baseline/label-noise":          {"repeats=2"},
	"baseline/randomised-response":  {"repeats=2"},
	"baseline/sgd-mnist":            {"train=1000 steps=3 features=inputs"},
	"cloaking/classification": {
		ownClasses + "lengthscale=2 folds=3 draws=5",
		ownClasses + "lengthscale=2 folds=3 draws=5 method=sparse inducing=4 probability=averaged",
		ownClasses + "lengthscale=2 folds=3 draws=5 method=sparse inducing=4 approximation=sor ",
		"dataset=csv:own.csv inputs=x,z output=class low=0 high=1 delta=1e-4 lengthscale=2,0.5 folds=3 draws=5",
	},
	"cloaking/curve": {
		"ages=[0,30,60]", "ages=[0,30,60] method=sparse", "ages=[0,30,60] method=nonstationary",
		"ages=[0,30,60] method=weighted-sum",
	},
	"cloaking/design": {
		"inputs=synthetic",
		"inputs=synthetic method=sparse inducing_points=4",
		"inputs=synthetic solver=gradient iterations=30",
		"inputs=synthetic rank=3",
	},
	"cloaking/hmeq":      {"rows=40 draws=5", "rows=40 draws=5 method=sparse"},
	"cloaking/mnist":     {"train=40 test=10 draws=3 inducing=5", "train=40 test=10 draws=3 method=standard"},
	"cloaking/reference": {"", "method=sparse"},
	"cloaking/regimes":   {"", "kernel=weighted-sum"},
	"cloaking/regression": {
		ownRegression + "inputs=x lengthscale=2 folds=3 draws=5",
		ownRegression + "inputs=x,z lengthscale=2 folds=3 draws=5 method=sparse inducing=4 fold_scheme=random " +
			"calibration=analytic",
		ownRegression + "inputs=x lengthscale=2 folds=3 draws=5 method=nonstationary max_lengthscale=5 kde_rows=20 " +
			"kde_bandwidth=1",
		ownRegression + "inputs=x lengthscale=2 folds=3 draws=5 method=weighted-sum max_lengthscale=5 kde_rows=20 " +
			"kde_bandwidth=1",
		ownRegression + "inputs=x lengthscale=2 folds=3 draws=5 solver=gradient iterations=30",
		ownRegression + "inputs=x,z lengthscale=2,20 folds=3 draws=5 method=sparse inducing=4",
	},
	"cloaking/selection": {
		"lengthscales=[5,25] noise_variances=[1] kernel_variances=[5,25]",
		"lengthscales=[5,25] noise_variances=[1] kernel_variances=[5] sensitivity=as-published split=random",
	},
	"cloaking/stripes": {"points=30 draws=3", "points=30 draws=3 method=sparse probability=averaged"},
	"cloaking/surface": {"weights=[20,50] ages=[10,60]"},
	"dpgp/calibration": {"n=64 repeats=2 inducing=6", "n=64 repeats=2 inducing=6 cover=function covariance=as-published"},
	"dpgp/classification": {
		"n=64 repeats=2 inducing=5",
		"n=64 repeats=2 inducing=5 composition=split centre=least bound=exact",
		"dataset=csv:own.csv inputs=x,z output=class delta=1e-4 epsilon=20 inducing=3 input_low=0 input_high=6,8 " +
			"lengthscale=3,2 repeats=2 alpha=0.01 ratio=1 rho=0.01",
		"dataset=csv:own.csv inputs=x,z output=class delta=1e-4 epsilon=20 input_low=0 input_high=6,8 repeats=2",
	},
	"dpgp/hyperparameters": {"n=64 repeats=2 sigmas=[0.1,0.3] lengthscales=[1] inducing=5",
		"n=64 repeats=2 sigmas=[0.1] lengthscales=[1,3] inducing=5 rule=as-published",
		"n=64 repeats=2 sigmas=[0.1] lengthscales=[1,3] inducing=5 coinpress=as-published",
		"dataset=csv:own.csv inputs=x output=y output_low=-2 output_high=2 input_low=0 input_high=6 inducing=3 " +
			"lengthscales=[1,3] sigmas=[0.1] repeats=2 blocks=2"},
	"dpgp/heteroscedastic": {"inducing=3 variance_high=0.5"},
	"dpgp/inference": {
		"n=64 inducing=5",
		"n=64 inducing=5 bound=exact regularisation=corrected",
		"n=64 inducing=5 covariance=naive bound=eq8",
	},
	"dpgp/regularisation": {"n=64 repeats=5 inducing=4"},
	"dpgp/scenarios":      {"n=64 repeats=2 inducing=6 epsilons=[1,10] sigmas=[0.1,0.3]"},
	"dpgp/search-time":    {"n=64 repeats=2 sigmas=[0.1] lengthscales=[1] inducing=5"},
	"dpgp/regression": {
		"repeats=2 inducing=5",
		ownRegression + givenSums + "inputs=x,z inducing=3 input_low=0 input_high=6 lengthscale=3 repeats=2",
		ownRegression + givenSums + "inputs=x,z inducing=3 input_low=0,-1 input_high=6,8 lengthscale=3,2 repeats=2",
		ownRegression + "inputs=x,z input_low=0 input_high=6 repeats=2",
	},
	"dpgp/sensitivity": {"inducing=5"},
	"kahm/bounds": {"rows=24 dim=6 n=3 layers=2 branches=2 queries=20 smoothing=2",
		"samples=counterexample queries=20 smoothing=2"},
	"kahm/classifier": {
		"train=200 test=20 n=5 layers=2 score_points=50",
		"train=200 test=20 n=5 layers=2 score=false data=noisy epsilon=16",
		"train=200 test=20 n=5 layers=2 score=false data=fabricated epsilon=16",
		"train=200 test=20 n=5 layers=2 score=false data=fabricated epsilon=16 variant=as-published",
		ownHulls + "inputs=x+z score_points=20",
		ownHulls + "inputs=x+z+y data=fabricated epsilon=30 score=false",
	},
	"kahm/fabrication": {"images=30 n=5 shown=1"},
	"kahm/federated": {"train=200 test=20 n=5 layers=2",
		"train=200 test=20 n=5 layers=2 scenario=3 parties=2 data=noisy centralised=false",
		"dataset=csv:own.csv inputs=x+y output=class party=z low=-2 high=6 n=2 layers=2 epsilon=40"},
	"kahm/freiburg":  {"n=2 layers=1 branches=1 score=false"},
	"kahm/layers":    {"images=30 n=5 layers=2"},
	"kahm/reference": {"rows=20 dim=6 n=4 layers=2"},
	"kahm/stress":    {"history=5 n=2 layers=1 score=false data=noisy epsilon=16"},
	"kahm/timing":    {"rows=30 dim=50 n=5 repeats=1"},
	"kahm/toy": {
		"samples=20 grid=4",
		"shape=three-classes samples=20 grid=4 layers=2",
		"shape=helix samples=20 grid=4 data=noisy epsilon=1",
		"shape=moons samples=20 grid=4 data=fabricated epsilon=1",
		"shape=three-parties samples=20 grid=4 data=fabricated epsilon=1 variant=as-published",
	},
	"multikernel/eigenproblem": {"dataset=har-surrogate samples=60 features=5",
		"dataset=har-surrogate samples=60 features=5 kernel=rbf:0.01"},
	"multikernel/har": {"dataset=har-surrogate method=single:rbf:0.01 components=1 c=1"},
	"multikernel/learn": {
		"",
		"projection=pca kernels=linear+rbf:0.1 folds=2 c=1000",
		"projection=rdca kernels=sigmoid:0.01:1+polynomial:1:2:1 method=upr split=random c=1000",
		"dataset=csv:walk.csv inputs=x+z utility=class privacy=part gamma=cv rho=cv gamma_grid=0.1,1 method=alignment c=100",
		"dataset=csv:walk.csv inputs=x+z utility=class privacy=part landmarks=csv:marks.csv method=single:rbf c=100",
	},
	"multikernel/mhealth": {"dataset=mhealth-6ch activities=[1,2] method=single:rbf:0.01 components=1 c=1"},
	"multikernel/reference": {
		"rows=24",
		"rows=24 kernels=linear+rbf:0.01+laplacian:0.1+sigmoid:0.01:1 components=1",
	},
	"privacygp/example1":         {"", "points=5"},
	"privacygp/kernel-condition": {"", "d=2 variant=as-published"},
	"privacygp/regression": {
		"",
		"sensitive=rows:20..22 noise=weak kernel=matern52 hyperparameters=given xi=0.3 xi_unit=output",
		"sensitive=x:0.5 noise=optimal folds=3 mean=0",
		"dataset=csv:own.csv inputs=x,z output=y sensitive=x:2..3 noise=diagonal folds=3 resolution=0.5",
		"sensitive=x:0.2..0.3,x:0.7 xi=0.4,0.2 noise=weak hyperparameters=given folds=3",
		"requirement=kernel kernel=matern32 h_kernel=matern52 h_lengthscales=0.4 h_variance=0.2 hyperparameters=given " +
			"folds=3",
		"requirement=kernel noise=uniform h_lengthscales=0.3 h_variance=0.3 hyperparameters=given folds=3",
		"dataset=csv:own.csv inputs=x output=y sensitive=z>4 folds=3",
	},
	"privacygp/satellite": {"points=13", "points=13 quantity=angle orbit=two-body variant=as-published"},
	"privacygp/scaling":   {"points=16 method=general", "method=draw"},
	"privacygp/strong":    {"", "requirement=weak"},
	"privacygp/weak":      {"", "points=12 sensitive_count=5"},
}

// long are the experiments that have no setting of less than tens of seconds. They
// run by night.
var long = map[string]bool{"kahm/stress": true, "multikernel/har": true}

// ownRows is the file own.csv: two inputs, an output and a class, by formulas whose
// values are rounded, so that it is the same everywhere.
func ownRows() string {
	var b strings.Builder
	b.WriteString("x,z,y,class\n")
	for i := range 45 {
		x, z := float64(i*7%60)/10, float64(i*11%50)/10
		y := math.Sin(x) + .3*math.Cos(2*z) + .2*math.Sin(float64(37*i))
		class := 0
		if y > 0 {
			class = 1
		}
		fmt.Fprintf(&b, "%.1f,%.1f,%.3f,%d\n", x, z, y, class)
	}
	return b.String()
}

// walkRows is the file walk.csv: two inputs and two columns of classes.
func walkRows() string {
	var b strings.Builder
	b.WriteString("x,z,class,part\n")
	for i := range 48 {
		x, z := math.Sin(float64(2*(i%3)))+.4*math.Sin(float64(31*i)), math.Cos(float64(3*(i/3%2)))+.4*math.Sin(float64(17*i))
		fmt.Fprintf(&b, "%.2f,%.2f,c%d,p%d\n", x, z, i%3, i/3%2)
	}
	return b.String()
}

// dataFolder makes own.csv, walk.csv and marks.csv in a temporary folder, which is the current one from then
// on, and a data folder with the sets that a user supplies: features of the
// Freiburg groceries, where their lists are there. All other sets are the user's.
func dataFolder(t *testing.T) string {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"own.csv": ownRows(), "walk.csv": walkRows(), "marks.csv": "x,z\n0,0\n1,1\n-1,0.5\n0.5,-1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	lists, _, err := dataset.NewLocator("").Find("freiburg")
	if err != nil {
		return folder // the test of the experiment reports it
	}
	images := map[string]bool{}
	var names []string
	for _, list := range []string{"train0.txt", "test0.txt"} {
		raw, err := os.ReadFile(filepath.Join(lists, "splits", list))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if fields := strings.Fields(line); len(fields) == 2 && !images[fields[0]] {
				images[fields[0]] = true
				names = append(names, fields[0])
			}
		}
	}
	features := mat.NewDense(len(names), 3, nil)
	for i := range names {
		for j := range 3 {
			features.Set(i, j, float64((i*(7+4*j))%101+10*len(names[i])%13))
		}
	}
	var array bytes.Buffer
	if err := npy.Write(&array, features); err != nil {
		t.Fatal(err)
	}
	supplied := filepath.Join(folder, "freiburg-features")
	if err := os.Mkdir(supplied, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"features.npy": array.Bytes(),
		"images.txt": []byte(strings.Join(names, "\n") + "\n")} {
		if err := os.WriteFile(filepath.Join(supplied, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

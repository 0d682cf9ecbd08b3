package trial_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// The shape of a job between processes is that of the first version: the digests of
// data sets stand behind their folders.
func TestJobMessage(t *testing.T) {
	const host = `{"version":"1","revision":"","go":"","cpu":"","gpu":"","blas":"","datasets":null}`
	for _, c := range []struct {
		name string
		job  trial.Job
		text string
	}{
		{"nothing", trial.Job{Host: record.Provenance{Version: "1"}},
			`{"key":"","experiment":"","result_version":0,"params":{},"seed":0,"backend":"","dtype":"","workers":0,` +
				`"folders":null,"digests":null,"secure":false,"host":` + host + `}`},
		{"everything", trial.Job{
			Key: "k", Identity: experiment.Identity{Experiment: "demo/a", ResultVersion: 2, Params: experiment.Params{"x": 1.5},
				Seed: 3, Backend: "cpu", DType: "float64", Datasets: map[string]string{"set": "digest"}},
			Workers: 4, Folders: map[string]string{"set": "/data"}, Secure: true, Beside: true,
			Profile: "profiles/k.pprof", Shared: trial.SharedWork{Dir: "out", Limit: 5},
			Host: record.Provenance{Version: "1"},
		}, `{"key":"k","experiment":"demo/a","result_version":2,"params":{"x":1.5},"seed":3,"backend":"cpu",` +
			`"dtype":"float64","workers":4,"folders":{"set":"/data"},"digests":{"set":"digest"},"secure":true,` +
			`"beside":true,"profile":"profiles/k.pprof","shared":{"dir":"out","limit":5},"host":` + host + `}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := json.Marshal(c.job)
			if err != nil || string(text) != c.text {
				t.Errorf("%v\ngot  %s\nwant %s", err, text, c.text)
			}
			var back trial.Job
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if len(c.job.Params) == 0 {
				back.Params = nil
			}
			if !reflect.DeepEqual(back, c.job) {
				t.Errorf("read as %+v", back)
			}
		})
	}
}

package trial_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// A job is the same on both sides of a pipe.
func TestJobJSON(t *testing.T) {
	job := trial.Job{
		Key: "k", Identity: experiment.Identity{Experiment: "demo/a", ResultVersion: 2, Params: experiment.Params{"x": 1.5},
			Seed: 3, Backend: "cpu", DType: "float64", Datasets: map[string]string{"set": "digest"}, RNG: "secure and salt"},
		Workers: 4, Folders: map[string]string{"set": "/data"}, Secure: true, Beside: true,
		Profile: "profiles/k.pprof", Shared: trial.SharedWork{Dir: "out", Limit: 5},
		Host: record.Provenance{Version: "1", Datasets: map[string]string{}},
	}
	raw, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var back trial.Job
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, job) {
		t.Errorf("%s is read as %+v, %v", raw, back, err)
	}
}

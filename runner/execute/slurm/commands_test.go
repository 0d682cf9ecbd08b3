package slurm

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  []string
	}{
		{nil, nil},
		{[]string{"partition=gpu,gres=gpu:1,time=2:00:00"}, []string{"--partition=gpu", "--gres=gpu:1", "--time=2:00:00"}},
		{[]string{"partition=short,long,mem=4G"}, []string{"--partition=short,long", "--mem=4G"}},
		{[]string{"exclusive", "account=a"}, []string{"--exclusive", "--account=a"}},
		{[]string{"comment=a=b"}, []string{"--comment=a=b"}},
		{[]string{"gres=gpu:1,shard:2"}, []string{"--gres=gpu:1,shard:2"}},
	} {
		t.Run(strings.Join(c.given, " "), func(t *testing.T) {
			options, err := ParseOptions(c.given)
			var got []string
			for _, o := range options {
				got = append(got, o.String())
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q: %q, %v, not %q", c.given, got, err, c.want)
			}
		})
	}
	for given, want := range map[string]string{
		"":               "an empty option",
		"array=0-3":      "array cannot be set",
		"output=x":       "output cannot be set",
		"-p":             `"-p" is no option of sbatch`,
		"Partition=x":    "is no option of sbatch",
		"time=":          "time is empty",
		"time=1,time=2":  "time is given twice",
		`comment="x"`:    "has a quote",
		"comment=a\nb":   "control character",
		"account=a;rm x": "",
	} {
		t.Run(given, func(t *testing.T) {
			_, err := ParseOptions([]string{given})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%q: %v, not %q", given, err, want)
			}
		})
	}
}

// What squeue, sacct and scontrol print, from Slurm 22.05.
func TestParseQueue(t *testing.T) {
	got := parseQueue(`12|2|privkern-a-1|PENDING|JobArrayTaskLimit
12|0|privkern-a-1|RUNNING|None
12|1|privkern-a-1|FAILED|NonZeroExitCode
77|N/A|other|RUNNING|None
13|0|privkern-a-2|PENDING|launch failed requeued held
nonsense
`)
	want := map[taskID]task{
		{"12", 2}: {"privkern-a-1", "PENDING", "JobArrayTaskLimit"},
		{"12", 0}: {"privkern-a-1", "RUNNING", "None"},
		{"12", 1}: {"privkern-a-1", "FAILED", "NonZeroExitCode"},
		{"13", 0}: {"privkern-a-2", "PENDING", "launch failed requeued held"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if !got[taskID{"13", 0}].stuck() || got[taskID{"12", 2}].stuck() {
		t.Error("stuck")
	}
}

func TestParseAccounts(t *testing.T) {
	got := parseAccounts("12_0|a|COMPLETED\n12_1|a|CANCELLED by " +
		"1000\n12_2|a|OUT_OF_MEMORY\n12_[3-7]|a|PENDING\n12_8|a|NODE_FAIL\n14|b|FAILED\n")
	want := map[taskID]task{
		{"12", 0}: {name: "a", state: "COMPLETED"}, {"12", 1}: {name: "a", state: "CANCELLED"},
		{"12", 2}: {name: "a", state: "OUT_OF_MEMORY"}, {"12", 8}: {name: "a", state: "NODE_FAIL"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestArrayLimit(t *testing.T) {
	for _, c := range []struct {
		config string
		want   int
		err    string
	}{
		{"AccountingStorageType   = x\nMaxArraySize            = 1001\nMaxJobCount = 10\n", 1001, ""},
		{"MaxArraySize            = 1001\nSchedulerParameters     = bf_interval=1,max_array_tasks=200,x\n", 200, ""},
		{"MaxArraySize            = 0\n", 0, "allows no array jobs"},
		{"MaxJobCount = 10\n", 0, "no MaxArraySize"},
	} {
		t.Run(c.config, func(t *testing.T) {
			got, err := parseArrayLimit(c.config)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %d, %v", c.config, got, err)
			}
		})
	}
}

// The script says what it does and survives any path.
func TestScript(t *testing.T) {
	var parts []int
	for i := range 21 {
		parts = append(parts, 2*i+1)
	}
	got := script{
		title: "A\nsweep", parts: parts, kind: kind{parts: 50},
		options:     []Option{array(21, 4), {"output", logPattern("/out 100%", 3)}, {"comment", "it's"}, {"no-requeue", ""}},
		environment: []string{"PRIVKERN_DATA=/data of mine"}, program: "/bin/it's run",
		work: []string{"--jobs", "1"}, dir: "/out 100%",
	}.text()
	const want = `#!/bin/bash
# A sweep: 21 of the 50 parts of the plan in
# /out 100%
#SBATCH --array=0-20%4
#SBATCH --output="/out 100%%/slurm/003-%a.log"
#SBATCH --comment="it's"
#SBATCH --no-requeue

# Part i of n is the trials i, i+n, i+2n, ... of the plan.
parts=(1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39
  41)
part=${parts[$SLURM_ARRAY_TASK_ID]}
echo "part $part of 50: task ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID} on $(hostname), $(date -u +%FT%TZ)"

export PRIVKERN_DATA='/data of mine'
export GOMAXPROCS=${SLURM_CPUS_ON_NODE:-1}
exec '/bin/it'\''s run' work '/out 100%' --shard "$part/50" --jobs 1
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Of timed trials, a script has their own parts.
func TestScriptOfTimedTrials(t *testing.T) {
	got := script{parts: []int{4, 6}, kind: kind{only: "timed", before: 3, parts: 3},
		program: "/bin/run", dir: "/out"}.text()
	for _, want := range []string{
		"# out: 2 of the 3 parts of the plan's timed trials in\n",
		"# Part i of n is the trials i, i+n, i+2n, ... of the plan's timed trials.\n",
		"\nparts=(1 3)\n", "\necho \"part $part of 3: ", "\nexec /bin/run work /out --shard \"$part/3\" --only timed\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
}

func TestExclusive(t *testing.T) {
	given := []Option{{"exclusive", "user"}, {"partition", "p"}, {"oversubscribe", ""}, {"share", ""}}
	if got := exclusive(given); !slices.Equal(got, []Option{{"partition", "p"}, {"exclusive", ""}}) {
		t.Errorf("%v", got)
	}
}

func TestPartList(t *testing.T) {
	for text, want := range map[string]partList{"1": {1}, "1-3": {1, 2, 3}, "2,4-5,9": {2, 4, 5, 9}} {
		t.Run(text, func(t *testing.T) {
			raw, err := want.MarshalText()
			if err != nil || string(raw) != text {
				t.Errorf("%v is written %q, %v", want, raw, err)
			}
			var got partList
			if err := got.UnmarshalText([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%q is read as %v, %v", text, got, err)
			}
		})
	}
	for _, text := range []string{"", "0", "1-", "3-2", "1,1", "2-4,3", "a", "1,,2"} {
		if err := new(partList).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestQueueText(t *testing.T) {
	for _, c := range []struct {
		running, waiting int
		reasons          map[string]int
		want             string
	}{
		{0, 0, nil, "0 running"},
		{3, 0, nil, "3 running"},
		{3, 5, map[string]int{"Priority": 1, "Resources": 4}, "3 running, 5 waiting (Resources)"},
		{0, 2, map[string]int{"None": 2}, "0 running, 2 waiting"},
		{0, 1, map[string]int{"Nodes required for job are DOWN, DRAINED or reserved": 1},
			"0 running, 1 waiting (Nodes required for job a...)"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := queueText(c.running, c.waiting, c.reasons); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

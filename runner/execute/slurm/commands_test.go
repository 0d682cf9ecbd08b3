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

// The lines are those of squeue, Slurm 22.05.
func TestParseQueue(t *testing.T) {
	got := parseQueue(`12|2|privkern-a-1|PENDING|7|JobArrayTaskLimit
12|0|privkern-a-1|RUNNING|7|None
77|N/A|other|RUNNING|8|None
13|0|privkern-a-2|PENDING|8|launch failed requeued held
nonsense
`)
	want := []task{
		{"12", 2, "privkern-a-1", "PENDING", "7", "JobArrayTaskLimit"},
		{"12", 0, "privkern-a-1", "RUNNING", "7", "None"},
		{"13", 0, "privkern-a-2", "LAUNCH_FAILED", "8", "launch failed requeued held"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestParseName(t *testing.T) {
	n := jobName{"0123abcd", "4567cdef", division{12, 3}, 1000}
	if got, ok := parseName(n.String()); !ok || got != n {
		t.Errorf("%s is read as %v, %v", n, got, ok)
	}
	for _, name := range []string{"", "other", "privkern-a-1", n.String() + "x", "privkern-0123abcd-4567cdef-1-2-0"} {
		if got, ok := parseName(name); ok {
			t.Errorf("%q is read as %v", name, got)
		}
	}
}

// A script has comments, and may have any path.
func TestScript(t *testing.T) {
	got := script{
		title: "A\nsweep", first: 1, parts: 50,
		options: []Option{{"array", "0-2,4,6-7%4"}, {"output", "/out 100%%/slurm/%A_%a.log"},
			{"comment", "it's"}, {"no-requeue", ""}},
		environment: []string{"PRIVKERN_DATA=/data of mine"}, program: "/bin/it's run",
		work: []string{"--jobs", "1"}, dir: "/out 100%",
	}.text()
	const want = `#!/bin/bash
# A sweep: the 50 parts of the plan in
# /out 100%
#SBATCH --array=0-2,4,6-7%4
#SBATCH --output="/out 100%%/slurm/%A_%a.log"
#SBATCH --comment="it's"
#SBATCH --no-requeue

# Part i of n is the trials i, i+n, i+2n, ... of the plan.
part=$((SLURM_ARRAY_TASK_ID + 1))
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
	got := script{only: "timed", first: -2, parts: 3, program: "/bin/run", dir: "/out"}.text()
	for _, want := range []string{
		"# out: the 3 parts of the plan's timed trials in\n",
		"# Part i of n is the trials i, i+n, i+2n, ... of the plan's timed trials.\n",
		"\npart=$((SLURM_ARRAY_TASK_ID + -2))\n", "\necho \"part $part of 3: ",
		"\nexec /bin/run work /out --shard \"$part/3\" --only timed\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
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
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := queueText(c.running, c.waiting, c.reasons); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "4": {4}, "0-2,4,6-7": {0, 1, 2, 4, 6, 7}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v is written %q, not %q", numbers, got, want)
		}
	}
}

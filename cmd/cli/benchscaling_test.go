package cli

import (
	"strings"
	"testing"
)

func TestScalingCases(t *testing.T) {
	for _, c := range []struct {
		methods string
		want    string // names, or the error
	}{
		{"dpgp/cl", "dpgp/classification"},
		{"cloaking/reg,cloaking/regression sp", "cloaking/regression standard,cloaking/regression sparse"},
		{"dpgp,dpgpx", `unknown method "dpgpx"`},
	} {
		f := &scalingFlags{methods: strings.Split(c.methods, ",")}
		cases, err := f.scalingCases()
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.methods, err, c.want)
			}
			continue
		}
		var names []string
		for _, x := range cases {
			names = append(names, x.Name())
		}
		if got := strings.Join(names, ","); got != c.want {
			t.Errorf("%s: %q, want %q", c.methods, got, c.want)
		}
	}
}

// A page of some methods does not take the place of that of all.
func TestScalingOfSomeNeedsAFolder(t *testing.T) {
	for _, flag := range []string{"--quick", "--methods=dpgp"} {
		cmd := silent(t).scalingCommand()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{flag})
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "name another folder, --out") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

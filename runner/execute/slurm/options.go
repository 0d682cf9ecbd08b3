package slurm

import (
	"fmt"
	"regexp"
	"strings"
)

// Option is an option of sbatch by its long name.
type Option struct {
	Name  string // such as "partition"
	Value string // "" for an option without a value
}

// String returns the option as sbatch takes it.
func (o Option) String() string {
	if o.Value == "" {
		return "--" + o.Name
	}
	return "--" + o.Name + "=" + o.Value
}

// directive returns the option as a line of a batch script. Slurm reads quotes
// there as a shell does.
func (o Option) directive() string {
	text := o.String()
	if name, value, ok := strings.Cut(text, "="); ok && strings.ContainsAny(value, " \t#'") {
		text = name + `="` + value + `"`
	}
	return "#SBATCH " + text
}

// own maps the options that the executor reserves to the reason.
var own = map[string]string{
	"array": "--array-chunk and --max-running decide it", "job-name": "jobs are found by it",
	"output": "logs are in the output folder", "error": "logs are in the output folder",
	"open-mode": "logs are in the output folder",
	"chdir":     "tasks run where the command does", "export": "tasks need the environment of the command",
	"export-file": "tasks need the environment of the command",
	"requeue":     "lost tasks are submitted again by --requeue", "no-requeue": "it is set",
	"parsable": "it is set", "wrap": "the script is the executor's", "wait": "the command waits for its jobs",
	"test-only": "see --dry-run",
	"clusters":  "jobs of one cluster are looked after", "hold": "a held job never runs", "input": "tasks read no input",
	"help": "see `sbatch --help`", "usage": "see `sbatch --help`", "version": "see `sbatch --version`",
}

var (
	optionName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	assignment = regexp.MustCompile(`^[a-z][a-z0-9-]*=`)
)

// ParseOptions reads options of sbatch from texts such as
// "partition=gpu,gres=gpu:1". The text after a comma is an option where it has the
// form name=value; otherwise it belongs to the value before it, as in
// "partition=short,long". An option without a value is a text of its own.
func ParseOptions(given []string) ([]Option, error) {
	var out []Option
	seen := map[string]bool{}
	for _, text := range given {
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("an empty option; write name=value, such as partition=gpu")
		}
		var pieces []string
		for piece := range strings.SplitSeq(text, ",") {
			if len(pieces) == 0 || assignment.MatchString(piece) {
				pieces = append(pieces, piece)
			} else {
				pieces[len(pieces)-1] += "," + piece
			}
		}
		for _, piece := range pieces {
			name, value, hasValue := strings.Cut(piece, "=")
			switch why, reserved := own[name]; {
			case !optionName.MatchString(name):
				return nil, fmt.Errorf("%q is no option of sbatch; write name=value with the long name, such as partition=gpu",
					piece)
			case reserved:
				return nil, fmt.Errorf("%s cannot be set: %s", name, why)
			case seen[name]:
				return nil, fmt.Errorf("%s is given twice", name)
			case hasValue && value == "":
				return nil, fmt.Errorf("%s is empty", name)
			case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }):
				return nil, fmt.Errorf("the value of %s has a quote, a backslash or a control character in it: %q", name, value)
			}
			seen[name] = true
			out = append(out, Option{name, value})
		}
	}
	return out, nil
}

package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privkern/runner/experiment"
)

// flagError returns the usage error of a flag that cannot be parsed. args are
// those of the whole command line: a misspelt subcommand comes before its flags,
// which its parent does not have.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if cmd.HasSubCommands() {
		if word := firstWord(cmd, args); word != "" {
			return cmd.Args(cmd, []string{word})
		}
	}
	return usagef("%w (see `%s --help`)", flagText(cmd, err), cmd.CommandPath())
}

// firstWord returns the word where a subcommand of cmd, which Find has
// found from args, is expected; "" where a flag stands there.
func firstWord(cmd *cobra.Command, args []string) string {
	_, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return ""
	}
	return rest[0]
}

// flagText is pflag's error in the words of a user.
func flagText(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if owners := ownersOf(cmd, unknown.GetSpecifiedName()); owners != nil {
			return fmt.Errorf("%s is a flag of %s, not of %s", name, strings.Join(owners, ", "), cmd.CommandPath())
		}
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			name = "-" + letters // -seed is read as -s -e -e -d
		}
		return experiment.Unknown("flag", name, flagNames(cmd))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s has no value; it takes %s", missing.GetFlag().Name, taken(missing.GetFlag()))
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is not a flag; flags are written --name=value", syntax.GetSpecifiedFlag())
	case errors.As(err, &invalid):
		return invalidText(invalid)
	}
	return err
}

// ownersOf returns the subcommands of cmd that have a flag.
func ownersOf(cmd *cobra.Command, flag string) []string {
	var out []string
	for _, c := range cmd.Commands() {
		if !c.Hidden && (c.Flags().Lookup(flag) != nil || c.PersistentFlags().Lookup(flag) != nil) {
			out = append(out, c.CommandPath())
		}
	}
	return out
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

func invalidText(e *pflag.InvalidValueError) error {
	f, value := e.GetFlag(), e.GetValue()
	var cause *strconv.NumError
	switch {
	case errors.As(e.Unwrap(), &cause) && errors.Is(cause, strconv.ErrRange):
		return fmt.Errorf("--%s is %q, a number that is too large", f.Name, value)
	case f.Value.Type() == "duration" && isWhole(value):
		return fmt.Errorf("--%s is %q; the unit is missing: write %[2]ss, %[2]sm or %[2]sh", f.Name, value)
	case takes[f.Value.Type()] != "":
		return fmt.Errorf("--%s is %q; it takes %s", f.Name, value, taken(f))
	}
	return fmt.Errorf("--%s: %w", f.Name, e.Unwrap())
}

func isWhole(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// takes describes the values of flags by their type.
var takes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 up", "float64": "a number",
	"duration": "a time with its unit, such as 90s, 10m or 1h30m", "bool": "true or false",
}

// taken describes the values of a flag.
func taken(f *pflag.Flag) string {
	if text := takes[f.Value.Type()]; text != "" {
		return text
	}
	return "a value: --" + f.Name + "=VALUE"
}

// argumentError names the argument that is missing or one too many: check refuses
// args.
func argumentError(cmd *cobra.Command, check cobra.PositionalArgs, args []string) error {
	usage := cmd.Use
	if cmd.HasParent() {
		usage = cmd.Parent().CommandPath() + " " + cmd.Use
	}
	for n := len(args) - 1; n >= 0; n-- {
		if check(cmd, args[:n]) == nil {
			return usagef("unexpected argument %q; usage: %s", args[n], usage)
		}
	}
	return usagef("an argument is missing; usage: %s", usage)
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"privkern/experiments/dataset"
	"privkern/graphs/cuda"
	"privkern/runner"
	"privkern/runner/execute/progress"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/text"
)

// app has the state and streams that the commands share.
type app struct {
	in  io.Reader
	out *progress.Results
	err *progress.Messages

	papers            []experiment.Paper
	*runner.Catalogue // nil until a command runs, and for a worker

	dataFolder string
	quiet      bool
	logFormat  string
	// known means that the failures of earlier runs have been shown, in an earlier round of a search.
	known bool
}

// execute runs the command line and returns the exit status. Results go to out, messages
// and progress to errOut.
func execute(ctx context.Context, papers []experiment.Paper, args []string, in io.Reader, out, errOut *os.File) int {
	messages := messagesTo(errOut)
	defer messages.Flush()
	a := &app{papers: papers, in: in, out: progress.NewResults(ctx, out, messages), err: messages}
	root := a.root(args)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		group(completion, "shell")
	}
	err := root.ExecuteContext(ctx)
	status := exitStatus(err)
	if err != nil && err.Error() != "" && status != exitNoReader {
		text := err.Error()
		if status == exitInterrupted && errors.Is(err, context.Canceled) {
			text = "interrupted"
		}
		a.complain("run: %s", text)
	}
	return status
}

// root returns the command that has all others below it.
func (a *app) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "run",
		Short: "Run experiments with privacy-preserving kernel methods and compare them with published results",
		Long: `Run sweeps of experiments with privacy-preserving kernel methods, and recompute
the tables and figures of the papers that introduced the methods, with the
published value next to each reproduced one.

Results go to stdout; messages and progress go to stderr.`,
		Example: `  run sweep configs/quickstart.yaml       a first look: one minute, no download
  run table cloaking/table1               a published table with reproduced values
  run trial privacygp/example1 xi=0.3     one trial, its record as JSON
  run list                                experiments, tables and data sets`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	flags := root.PersistentFlags()
	flags.StringVar(
		&a.dataFolder,
		"data",
		"",
		"folder of the data sets, searched before $PRIVKERN_DATA and the user's cache",
	)
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print results and problems only, no progress")
	flags.StringVar(&a.logFormat, "log-format", "text", "format of messages on stderr: text or json")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		// cobra checks the groups only after this, and its error is no usage error.
		if err := cmd.ValidateFlagGroups(); err != nil {
			return usagef("%w (see `%s --help`)", err, cmd.CommandPath())
		}
		if _, err := os.Stat(a.dataFolder); a.dataFolder != "" && err != nil && cmd.Name() != "fetch" {
			return usagef("--data: %w", err)
		}
		if a.logFormat != "text" && a.logFormat != "json" {
			return usagef("--log-format is %q; it takes text or json", a.logFormat)
		}
		if !isTerminal(a.err) { // where progress is drawn again
			a.err.Missing(a.missing)
		}
		if cmd.Name() != workerName {
			a.Catalogue = runner.NewCatalogue(a.papers)
			cuda.OnCompiling(func(text string) { a.say("%s", text) })
		}
		return nil
	}
	group(root, "command",
		a.listCommand(),
		a.trialCommand(),
		a.releaseCommand(),
		a.predictCommand(),
		a.sweepCommand(),
		a.compareCommand(),
		a.attackCommand(),
		a.workCommand(),
		a.mergeCommand(),
		a.checkCommand(),
		a.tableCommand(),
		a.reportCommand(),
		a.showCommand(),
		a.diffCommand(),
		a.exportCommand(),
		a.dataCommand(),
		a.doctorCommand(),
		a.benchCommand(),
		a.auditCommand(),
		a.budgetCommand(),
		a.schemaCommand(),
		a.versionCommand(),
		a.licensesCommand(),
		a.workerCommand(),
		exitCodesTopic(),
		sweepFilesTopic(),
		clustersTopic(),
		releasesTopic(),
		foldersTopic(),
	)
	root.SetHelpCommand(helpCommand(root))
	usageForArguments(root)
	// Descriptions of flags go on in their column.
	width := min(100, bound(a.out))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages",
		fmt.Sprintf(".FlagUsagesWrapped %d", width)))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if width < 100 {
			cmd.Long = reflow(cmd.Long, width)
		}
		help(cmd, args)
	})
	return root
}

// helpCommand is cobra's, but an unknown topic is a mistake.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or topic]",
		Short: "Help about any command or topic",
		Example: `  run help sweep
  run help export parquet
  run help exit-codes`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return experiment.Unknown("command or topic", strings.Join(args, " "), commandNames(root))
			}
			return cmd.Help()
		},
	}
}

// usageForArguments makes wrong numbers of arguments usage errors.
func usageForArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			var usage usageError
			err := check(cmd, args)
			var unknown *experiment.UnknownError
			if err == nil || errors.As(err, &usage) || errors.As(err, &unknown) {
				return err
			}
			return argumentError(cmd, check, args)
		}
	}
	for _, c := range cmd.Commands() {
		usageForArguments(c)
	}
}

// group adds subcommands to a command that only shows its help; what names them in an error.
func group(cmd *cobra.Command, what string, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return experiment.Unknown(what, args[0], commandNames(cmd))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// locator finds data sets by the flags and the environment.
func (a *app) locator() dataset.Locator { return dataset.NewLocator(a.dataFolder) }

// datasets finds data sets in the folder of --data and the places of the environment.
func (a *app) datasets() *plan.Datasets { return plan.NewDatasets(a.locator()) }

// Bytes of messages that wait for a reader who does not read: on a terminal no more than he would
// look at when he does, for a program as many as it may be behind.
const (
	waitOnTerminal = 64 << 10
	waitForProgram = 16 << 20
)

// messagesTo returns the writer of messages to a file.
func messagesTo(file *os.File) *progress.Messages {
	if isTerminal(file) {
		return progress.NewMessages(file, waitOnTerminal)
	}
	return progress.NewMessages(file, waitForProgram)
}

// isTerminal reports whether w is a terminal that takes escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// columns is the width of lines on w: that of the terminal, or that in COLUMNS where it is smaller or w is no terminal;
// 120 where there is neither.
func columns(w io.Writer) int {
	if n := bound(w); n < math.MaxInt {
		return n
	}
	return 120
}

// bound is as [columns], but without a bound where there is neither: programs read lines as they are.
func bound(w io.Writer) int {
	width := math.MaxInt
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			width = min(width, n)
		}
	}
	return width
}

func useColor(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" }

func (a *app) progressOptions() progress.Options {
	return progress.Options{
		Out:      a.err,
		Terminal: isTerminal(a.err),
		Color:    useColor(a.err),
		Quiet:    a.quiet,
		Format:   progress.Format(a.logFormat),
		Known:    a.known,
		Width:    func() int { return columns(a.err) },
	}
}

// say writes a message to stderr.
func (a *app) say(format string, args ...any) {
	if !a.quiet && a.logFormat == "text" {
		_, _ = fmt.Fprintln(a.err, a.folded(fmt.Sprintf(format, args...)))
	}
}

// complain writes a problem to stderr, with --quiet too.
func (a *app) complain(format string, args ...any) {
	_, _ = fmt.Fprintln(a.err, a.problem(fmt.Sprintf(format, args...)))
}

// problem is a problem in the format of messages.
func (a *app) problem(message string) string {
	if a.logFormat == "json" {
		raw, err := json.Marshal(
			map[string]string{"time": time.Now().UTC().Format(time.RFC3339Nano), "event": "problem", "message": message},
		)
		if err == nil {
			return string(raw)
		}
	}
	return a.folded(text.PrintableLines(message))
}

// missing is the message that n messages were not read in time, and dropped.
func (a *app) missing(n int) string {
	return a.problem(fmt.Sprintf("%s missing here: nobody read in time", areOf(n, "message")))
}

// barWidth is the width of a bar of at most that many columns, where others take some of the line.
func (a *app) barWidth(most, others int) int { return max(1, min(most, columns(a.err)-others)) }

// formats adds the flag --output, of which the first format is the default; other words are refused before the command
// runs.
func formats(cmd *cobra.Command, output *string, usage string, valid ...string) {
	cmd.Flags().StringVar(output, "output", valid[0], usage)
	cmd.PreRunE = func(*cobra.Command, []string) error { return oneOf("output", *output, valid...) }
}

// oneOf refuses values of a flag that are not valid.
func oneOf(flag, value string, valid ...string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	if n := experiment.Nearest(value, valid); n != "" {
		return usagef("--%s is %q; did you mean %q?", flag, value, n)
	}
	return usagef("--%s is %q; it takes %s", flag, value, strings.Join(valid, ", "))
}

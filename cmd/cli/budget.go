package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"privkern/experiments/budget"
	"privkern/runner/experiment"
	"privkern/runner/show/tables"
)

func (a *app) budgetCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Show and limit the spending of releases",
		Long: `Every release spends a part of the privacy budget of its data. A ledger, one file
beside your configuration (or --budget-file), records the spending, with an
account for each data set and unit of protection: a person with all rows, a whole
row, the output of a row, or the inputs of a row with a public output. A release
that would exceed the limit of an account is refused. The limit of a new account is
epsilon 10 at delta min(1e-6, 0.01/n) for n rows or persons.

The ledger recognises the people: by the path of a file, by samples of its rows and
columns, and by the names of persons (person=COLUMN). After a corrected cell, rows
more or less or in another order, a column that is rescaled, renamed or new, other
inputs, another format or folder, the same accounts are charged; data that several
accounts know are charged to all of them. It holds hashes with a key of its own,
and these commands print none of them. Who may read the ledger can test guesses.
What is printed tells nothing of the data but which of them share people.`,
		Example: `  run budget list
  run budget show 1
  run budget set default --epsilon 3`,
	}
	cmd.PersistentFlags().Var((*budgetFile)(&file), "budget-file", budgetFileUsage)
	return group(cmd, "command", a.budgetListCommand(&file), a.budgetShowCommand(&file), a.budgetSetCommand(&file),
		a.budgetLinkCommand(&file))
}

const budgetFileUsage = "ledger of the budgets (default: privkern/budget.json in your configuration folder)"

// budgetFile is the value of --budget-file. An empty shell variable must not
// choose the default ledger.
type budgetFile string

func (f *budgetFile) String() string { return string(*f) }
func (f *budgetFile) Type() string   { return "FILE" }
func (f *budgetFile) Set(s string) error {
	if s == "" {
		return errors.New("it names no file")
	}
	*f = budgetFile(s)
	return nil
}

// openLedger returns the ledger of a --budget-file, or the default one for "".
func (a *app) openLedger(path string) (*budget.Ledger, error) { return budget.Open(path) }

func (a *app) budgetListCommand(file *string) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the accounts with their spending and remainder",
		Long: `List the accounts. "spent" is the (epsilon, delta) of all releases together, at the
delta of the account's limit; "left" is the largest Gaussian release that is still
allowed, at this delta, and "pure" the largest epsilon of a release without a delta.

The exit status is 0 if there is no ledger yet; see run help exit-codes.`,
		Example: "  run budget list\n  run budget list --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.listBudgets(*file, output == "json")
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	return cmd
}

// budgetEntries is the list as JSON.
type budgetEntries struct {
	File     string           `json:"file"`
	Default  limitEntry       `json:"default"`
	Accounts []*budget.Report `json:"accounts"`
}

// limitEntry is the limit that new accounts get.
type limitEntry struct {
	Epsilon float64  `json:"epsilon"`
	Delta   *float64 `json:"delta"` // null: budget.AutoDelta
}

// defaultLimit returns the entry of a limit; a delta of 0 stands for [budget.AutoDelta].
func defaultLimit(l budget.Limit) limitEntry {
	if l.Delta == 0 {
		return limitEntry{Epsilon: l.Epsilon}
	}
	return limitEntry{l.Epsilon, &l.Delta}
}

func (d limitEntry) String() string {
	if d.Delta == nil {
		return fmt.Sprintf("epsilon %s at delta min(1e-6, 0.01/n)", budget.Shown(d.Epsilon))
	}
	return fmt.Sprintf("epsilon %s at delta %s", budget.Shown(d.Epsilon), budget.Shown(*d.Delta))
}

// listBudgets prints the accounts of a ledger. A ledger that is not there has none.
func (a *app) listBudgets(file string, asJSON bool) error {
	ledger, err := a.openLedger(file)
	if err != nil {
		return err
	}
	state, err := ledger.Read()
	none := errors.Is(err, budget.ErrNone)
	if none {
		state = &budget.State{}
	} else if err != nil {
		return err
	}
	reports := []*budget.Report{}
	for _, account := range state.Accounts {
		r, err := account.Report()
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	limit := defaultLimit(state.NewLimit())
	if asJSON {
		return a.printJSON(budgetEntries{ledger.Path(), limit, reports})
	}
	if none {
		_, err = fmt.Fprintf(a.out, "There is no budget ledger yet; the first release makes %s.\n", ledger.Path())
		return err
	}
	if err := budgetTable(a, reports); err != nil {
		return err
	}
	_, err = io.WriteString(a.out, tables.Hang("", fmt.Sprintf("Limit of new accounts: %s. Ledger: %s", limit,
		ledger.Path()), bound(a.out)))
	return err
}

// printJSON prints a value as indented JSON, without escapes for web pages.
func (a *app) printJSON(v any) error { return tables.EncodeJSON(a.out, v) }

// budgetTable prints accounts, one a line. The remainder is rounded down.
func budgetTable(a *app, reports []*budget.Report) error {
	if len(reports) == 0 {
		return nil
	}
	var lines [][]string
	for _, r := range reports {
		lines = append(lines, []string{strconv.Itoa(r.Number), r.Account, orDash(r.Label), r.Unit, rowsOf(r),
			strconv.Itoa(r.Releases), amount(r.Spent), amount(r.Limit), leftOf(r), budget.ShownDown(r.LeftPure)})
	}
	return a.printGrid([]string{"no.", "account", "label", "unit", "n", "releases", "spent", "limit", "left", "pure"},
		lines)
}

// printGrid prints a table in the width of the terminal.
func (a *app) printGrid(titles []string, lines [][]string) error {
	_, err := io.WriteString(a.out, tables.GridOf(titles, nil, lines).Text(columns(a.out)))
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func rowsOf(r *budget.Report) string {
	if r.Rows == 0 {
		return "-"
	}
	return strconv.Itoa(r.Rows)
}

func amount(a budget.Amount) string {
	return fmt.Sprintf("(%s, %s)", budget.Shown(a.Epsilon), budget.Shown(a.Delta))
}

// leftOf describes the remainder of an account, rounded down.
func leftOf(r *budget.Report) string {
	switch {
	case len(r.Published) > 0 && r.Left.Epsilon == 0:
		return "nothing: " + publicParts(r)
	case r.Over:
		return "nothing: the limit is exceeded"
	case r.Left.Epsilon == 0:
		return "nothing"
	}
	return fmt.Sprintf("(%s, %s), mu %s", budget.ShownDown(r.Left.Epsilon), budget.Shown(r.Left.Delta),
		budget.ShownDown(r.Left.Mu))
}

// publicParts names the parts of rows that releases have published.
func publicParts(r *budget.Report) string {
	return strings.Join(r.Published, " and ") + " published"
}

func (a *app) budgetShowCommand(file *string) *cobra.Command {
	var unit, output string
	cmd := &cobra.Command{
		Use:   "show ACCOUNT",
		Short: "Show an account with all of its releases",
		Long: `Show an account. ACCOUNT is its number in run budget list, or names the accounts
of all units of protection: its name, its label, or data-N for data without a name.
--unit shows the account of one unit.

"known by" counts the forms in which the ledger has met the data, and "found" of a
release is how they were recognised then: by their path, a person, a sketch of rows
and columns, the bytes of the columns that are used (accounts of earlier versions),
or the name given; or the account was opened.

The exit status is 2 if there is no such account; see run help exit-codes.`,
		Example:           "  run budget show 1\n  run budget show patients --unit inputs --output json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeAccounts(file),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkUnit(cmd, unit); err != nil {
				return err
			}
			return a.showBudget(*file, args[0], unit, output == "json")
		},
	}
	cmd.Flags().StringVar(&unit, "unit", "", "the account of this unit only: "+unitNames())
	formats(cmd, &output, "text or json", "text", "json")
	return cmd
}

// unitNames lists the units of protection.
func unitNames() string { return strings.Join(experiment.Units(), ", ") }

// checkUnit refuses a --unit that is given and names no unit of protection.
func checkUnit(cmd *cobra.Command, unit string) error {
	if !cmd.Flags().Changed("unit") {
		return nil
	}
	return oneOf("unit", unit, experiment.Units()...)
}

// showBudget prints the accounts that a word names, or that of a unit.
func (a *app) showBudget(file, word, unit string, asJSON bool) error {
	ledger, err := a.openLedger(file)
	if err != nil {
		return err
	}
	state, err := ledger.Read()
	if errors.Is(err, budget.ErrNone) {
		return usagef("there is no account %q: %w; the first release makes %s", word, err, ledger.Path())
	} else if err != nil {
		return err
	}
	accounts, err := state.Choose(word, unit)
	if err != nil {
		return budgetUsage(err)
	}
	var reports []*budget.Report
	for _, account := range accounts {
		r, err := account.Details()
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if asJSON {
		return a.printJSON(reports)
	}
	for i, r := range reports {
		if i > 0 {
			_, _ = fmt.Fprintln(a.out)
		}
		if err := a.showAccount(r); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showAccount(r *budget.Report) error {
	by := map[string]string{"pure": ", by the sum of pure epsilons", "gaussian": ", by the sum of squares of mu",
		"zcdp": ", by the sum of rho"}
	lines := [][2]string{
		{"account " + strconv.Itoa(r.Number), r.Account}, {"label", orDash(r.Label)}, {"unit", r.Unit}, {"n", rowsOf(r)},
		{"limit", amount(r.Limit)}, {"spent", amount(r.Spent) + " at the account's delta" + by[r.Filter]},
		{"left", leftOf(r)}, {"pure left", budget.ShownDown(r.LeftPure)}, {"releases", strconv.Itoa(r.Releases)},
		{"known by", r.Known.String()},
	}
	for _, apart := range r.Known.Apart {
		if line := [2]string{"new people", apart.Time + ": " + apart.Reason}; !slices.Contains(lines, line) {
			lines = append(lines, line) // one declaration, from several accounts
		}
	}
	for _, p := range r.Known.Published {
		lines = append(lines, [2]string{"published", p.Time + ", by " + p.Experiment + ": " + p.Part})
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l[0]))
	}
	for _, l := range lines {
		_, _ = io.WriteString(a.out, tables.Hang(fmt.Sprintf("%-*s  ", width, l[0]), l[1], bound(a.out)))
	}
	if len(r.Entries) == 0 {
		return nil
	}
	var entries [][]string
	for _, e := range r.Entries {
		entries = append(entries, []string{e.Time, e.Experiment, exactly(e.Epsilon), exactly(e.Delta), booked(e.Pure, 0),
			booked(e.Mu, e.MuDelta), booked(e.Rho, 0), orDash(e.Found), orDash(e.Note)})
	}
	_, _ = fmt.Fprintln(a.out)
	return a.printGrid([]string{"time", "experiment", "epsilon", "delta", "pure", "mu", "rho", "found", "note"}, entries)
}

// booked writes an amount with the delta outside of it; a dash for none.
func booked(amount, delta float64) string {
	switch {
	case amount == 0:
		return "-"
	case delta == 0:
		return budget.Shown(amount)
	}
	return fmt.Sprintf("%s outside %s", budget.Shown(amount), budget.Shown(delta))
}

// exactly writes all digits of a number, as the ledger has it.
func exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (a *app) budgetSetCommand(file *string) *cobra.Command {
	var epsilon, delta, label string
	var c budget.Change
	cmd := &cobra.Command{
		Use:   "set ACCOUNT|default",
		Short: "Change a limit or a label, or open an account",
		Long: `Change the limit of an account or its label; or, with default, the limit of accounts
that are opened from now on. ACCOUNT is as for run budget show. Values that are not
given stay. The delta of new accounts is min(1e-6, 0.01/n), for n rows or persons,
unless a number is given; --delta auto goes back to that.

Where ACCOUNT names the accounts of several units of protection, --unit selects whose
limit changes; a label is that of all. With --create accounts are opened
before their first release, under the name that releases give with --account: of
every unit, each with the limit, or of --unit only. A release opens those that are
missing with the limit of new accounts.

A limit below the spending takes nothing back, but stops further releases.

The exit status is 2 if a value or the account is wrong; see run help exit-codes.`,
		Example: `  run budget set default --epsilon 3
  run budget set default --epsilon 3 --delta auto
  run budget set 1 --epsilon 5 --label 'dose study'
  run budget set patients --epsilon 1 --delta 1e-5 --create
  run budget set patients --unit inputs --epsilon 0.5`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeAccounts(file),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			for _, given := range []struct {
				name, text string
				to         **float64
				check      func(float64) error
			}{{"epsilon", epsilon, &c.Epsilon, budget.CheckEpsilon}, {"delta", delta, &c.Delta, budget.CheckDelta}} {
				if !cmd.Flags().Changed(given.name) {
					continue
				}
				if given.name == "delta" && args[0] == "default" {
					switch given.text {
					case "auto":
						*given.to = new(float64)
						continue
					case "0.1/n":
						return usagef("--delta is %q, which is the default no more; use auto, for min(1e-6, 0.01/n)", given.text)
					}
				}
				if *given.to, err = limitFlag(given.name, given.text, given.check); err != nil {
					return err
				}
			}
			if err := checkUnit(cmd, c.Unit); err != nil {
				return err
			}
			c.Account = args[0]
			if cmd.Flags().Changed("label") {
				c.Label = &label
			}
			if args[0] == "default" {
				for _, name := range []string{"unit", "label", "create"} {
					if cmd.Flags().Changed(name) {
						return usagef("--%s: the limit of new accounts has none; give an account instead of default",
							name)
					}
				}
				return a.setDefaultBudget(*file, c)
			}
			return a.setBudget(*file, c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&epsilon, "epsilon", "", "limit of epsilon, above 0")
	flags.StringVar(&delta, "delta", "", "limit of delta, above 0 and below 1; of default also auto")
	flags.StringVar(&c.Unit, "unit", "", "which of the accounts that ACCOUNT names: "+unitNames())
	flags.StringVar(&label, "label", "", "a name for the account, for all units; '' removes it")
	flags.BoolVar(&c.Create, "create", false, "open the accounts, for releases with --account ACCOUNT")
	return cmd
}

// limitFlag reads the number of a flag that sets a limit.
func limitFlag(name, text string, check func(float64) error) (*float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		x = math.NaN() // which every check refuses
	}
	if err := check(x); err != nil {
		return nil, usagef("--%s is %q; %w", name, text, err)
	}
	return &x, nil
}

// setDefaultBudget sets the limit of accounts that are opened from now on.
func (a *app) setDefaultBudget(file string, c budget.Change) error {
	ledger, err := a.openLedger(file)
	if err != nil {
		return err
	}
	limit, err := ledger.SetDefault(c.Epsilon, c.Delta)
	if err != nil {
		return budgetUsage(err)
	}
	_, err = fmt.Fprintf(a.out, "New accounts have the limit epsilon %s\n",
		strings.TrimPrefix(defaultLimit(limit).String(), "epsilon "))
	return err
}

// setBudget changes accounts, or opens them.
func (a *app) setBudget(file string, c budget.Change) error {
	ledger, err := a.openLedger(file)
	if err != nil {
		return err
	}
	reports, err := ledger.Set(c)
	if err != nil {
		return budgetUsage(err)
	}
	return a.changedBudgets(reports)
}

// changedBudgets prints accounts after a change.
func (a *app) changedBudgets(reports []*budget.Report) error {
	if err := budgetTable(a, reports); err != nil {
		return err
	}
	for _, r := range reports {
		if r.Over {
			a.complain("account %d has spent more than its limit allows: nothing more is released", r.Number)
		}
	}
	return nil
}

// budgetUsage makes mistakes in a request usage errors.
func budgetUsage(err error) error {
	if _, ok := errors.AsType[*budget.ArgumentError](err); ok {
		return usageError{err}
	}
	return err
}

// completeAccounts offers the words that name accounts.
func (a *app) completeAccounts(
	file *string,
) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var words []string
		if ledger, err := a.openLedger(*file); err == nil && (len(args) == 0 || cmd.Name() == "link" && len(args) == 1) {
			if cmd.Name() == "set" {
				words = append(words, "default")
			}
			if state, err := ledger.Read(); err == nil {
				words = append(words, state.Words()...)
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

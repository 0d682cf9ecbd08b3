package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/runner/show/tables"
)

func (a *app) dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "List, fetch, make, verify and find data sets, and show your own",
		Long: `Data sets are searched for in the folder given by --data, then in $PRIVKERN_DATA,
then in the user's cache. A missing data set is never replaced by another: its
trials are skipped, with the command that fetches it.`,
		Example: "  run data list\n  run data fetch kung\n  run data verify",
	}
	return group(cmd, "command", a.dataListCommand(), a.dataFetchCommand(), a.dataMakeCommand(), a.dataVerifyCommand(),
		a.dataPathCommand(), a.dataShowCommand())
}

// sets returns the named data sets, or all.
func sets(names []string) ([]dataset.Set, error) {
	if len(names) == 0 {
		return dataset.All(), nil
	}
	var out []dataset.Set
	for _, name := range names {
		s, err := dataset.Lookup(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func completeSets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, s := range dataset.All() {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) dataListCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the data sets and where they are",
		Long: `List the data sets: title, size, folder or reason why it is not usable, source,
licence, the publication to cite, and remarks about the content.`,
		Example: "  run data list\n  run data list --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			type entry struct {
				Name     string   `json:"name"`
				Title    string   `json:"title"`
				Bytes    int64    `json:"bytes"`
				Source   string   `json:"source"`
				Licence  string   `json:"licence"`
				Citation string   `json:"citation"`
				Notes    []string `json:"notes,omitempty"`
				Folder   string   `json:"folder"`
				SHA256   string   `json:"sha256"`
				Problem  string   `json:"problem,omitempty"`
			}
			var entries []entry
			for _, s := range dataset.All() {
				folder, found, err := a.locator().Resolve(cmd.Context(), s)
				e := entry{Name: s.Name, Title: s.Title, Bytes: found.TotalSize(), Source: s.Source, Licence: s.Licence,
					Citation: s.Citation, Notes: s.Notes}
				if err == nil {
					e.Folder, e.SHA256 = folder, found.Digest()
				} else {
					e.Problem = err.Error()
				}
				entries = append(entries, e)
			}
			if output == "json" {
				return a.printJSON(entries)
			}
			for _, e := range entries {
				state := "found in " + e.Folder
				if e.Problem != "" {
					state = e.Problem
				}
				if e.Bytes > 0 { // not known for data that a user has to supply
					state = fmt.Sprintf("%d bytes; %s", e.Bytes, state)
				}
				width := bound(a.out)
				text := tables.Hang(e.Name+"  ", e.Title, width)
				for _, line := range append([]string{state, "source: " + e.Source, "licence: " + e.Licence, "cite: " + e.Citation},
					e.Notes...) {
					text += tables.Hang("    ", line, width)
				}
				if _, err := io.WriteString(a.out, text); err != nil {
					return err
				}
			}
			return nil
		},
	}
	formats(cmd, &output, "table or json", "table", "json")
	return cmd
}

func (a *app) dataFetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch NAME...",
		Short: "Fetch data sets from their publishers",
		Long: `Fetch data sets from their publishers' public addresses into the folder of
--data, or $PRIVKERN_DATA, or the user's cache. An interrupted download is
resumed. A file gets its name only when its SHA-256 is right. For a data set
without a public address, the command explains how to supply it.`,
		Example:           "  run data fetch kung\n  run data fetch kung --data ~/data",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeSets,
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted, err := sets(args)
			if err != nil {
				return err
			}
			root, err := a.locator().FetchRoot()
			if err != nil {
				return err
			}
			for _, s := range wanted {
				if err := a.fetch(cmd, s, root); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// fetch downloads the files of a data set and verifies them; files that are there and whole stay.
func (a *app) fetch(cmd *cobra.Command, s dataset.Set, root string) error {
	var bar *progressbar.ProgressBar
	file := ""
	err := dataset.Fetch(cmd.Context(), s, root, func(name string, done, total int64) {
		if name != file {
			file = name
			a.say("fetching %s/%s (%d bytes)", s.Name, name, total)
			if isTerminal(a.err) && !a.quiet {
				bar = progressbar.NewOptions64(
					total,
					progressbar.OptionSetWriter(a.err),
					progressbar.OptionSetWidth(a.barWidth(40, 58)),
					progressbar.OptionShowBytes(true),
					progressbar.OptionClearOnFinish(),
				)
			}
		}
		if bar != nil {
			_ = bar.Set64(done)
		}
	})
	if bar != nil {
		_ = bar.Clear()
	}
	if err != nil {
		return err
	}
	folder, digest, err := dataset.Locator{Roots: []string{root}}.Find(s.Name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s is in %s (SHA-256 %.12s)\n", s.Name, folder, digest)
	return err
}

func (a *app) dataVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Check the files of data sets against their SHA-256",
		Long: `Check the files of data sets against their SHA-256: of the named sets, or of all
that are present. The exit status is 1 if a named set is missing or a file is wrong.`,
		Example:           "  run data verify\n  run data verify kung",
		ValidArgsFunction: completeSets,
		RunE: func(_ *cobra.Command, args []string) error {
			wanted, err := sets(args)
			if err != nil {
				return err
			}
			var problems []error
			for _, s := range wanted {
				folder, digest, err := a.locator().Find(s.Name)
				var missing *dataset.MissingError
				state := fmt.Sprintf("ok, in %s (SHA-256 %.12s)", folder, digest)
				if !s.Registered() {
					state = fmt.Sprintf(
						"there, in %s (SHA-256 %.12s, of your files: there is none to check against)",
						folder,
						digest,
					)
				}
				switch {
				case errors.As(err, &missing) && len(args) == 0:
					state = "not there; " + missing.Advice()
				case err != nil:
					problems = append(problems, err)
					continue
				}
				if _, err := fmt.Fprintf(a.out, "%s: %s\n", s.Name, state); err != nil {
					return err
				}
			}
			return errors.Join(problems...)
		},
	}
}

func (a *app) dataPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "path NAME",
		Short:             "Print the folder of a data set",
		Example:           "  run data path kung",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeSets,
		RunE: func(_ *cobra.Command, args []string) error {
			folder, _, err := a.locator().Find(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.out, folder)
			return err
		},
	}
}

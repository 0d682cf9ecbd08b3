package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/har"
	"privkern/experiments/dataset/readers"
	"privkern/runner/store/disk"
)

// reconstructed is the data set that the program makes; the others are published.
const reconstructed = "har-reconstructed"

func (a *app) dataMakeCommand() *cobra.Command {
	var everyone string
	cmd := &cobra.Command{
		Use:   "make " + reconstructed,
		Short: "Make a stand-in from public recordings",
		Long: `Make har-reconstructed: compute the 561 features of UCI HAR from the recordings
of UCI HAPT, of all 30 people, and write those of the first 20, which experiments
read, into the folder of --data, or $PRIVKERN_DATA, or the user's cache. The file
is written only if its SHA-256 is the registered one. Where the data set is there
already it stays as it is, and the command reports how far the two differ.`,
		Example: "  run data fetch hapt\n  run data make har-reconstructed\n" +
			"  run data make har-reconstructed --everyone all.npz",
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{reconstructed}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := dataset.Lookup(args[0])
			if err != nil {
				return err
			}
			if set.Name != reconstructed {
				return usagef("the data set %q is not made by this program, only %s is; see: run data fetch --help", set.Name,
					reconstructed)
			}
			return a.makeReconstructed(cmd, set, everyone)
		},
	}
	cmd.Flags().StringVar(&everyone, "everyone", "",
		"also write the windows of all 30 people to this file (NumPy .npz)")
	return cmd
}

func (a *app) makeReconstructed(cmd *cobra.Command, set dataset.Set, everyone string) error {
	root, err := a.locator().FetchRoot()
	if err != nil {
		return err
	}
	there, _, err := a.locator().Find(set.Name)
	var missing *dataset.MissingError
	if err != nil && !errors.As(err, &missing) {
		return err
	}
	recordings, _, err := a.locator().Find("hapt")
	if err != nil {
		return err
	}
	windows, rows, err := har.Reconstruct(cmd.Context(), recordings, a.recordingsDone())
	if err != nil {
		return err
	}
	if everyone != "" {
		write := func(w io.Writer) error { return readers.WriteHARReconstructed(w, windows) }
		if err := disk.WriteFileWith(disk.System, everyone, write); err != nil {
			return err
		}
		a.say("%d windows of %d people are in %s", windows.Len(), readers.HARSubjects, everyone)
	}
	return a.keepReconstructed(set, windows.Rows(rows), root, there)
}

// recordingsDone reports progress: with a bar on a terminal, with one line elsewhere.
func (a *app) recordingsDone() func(done, total int) {
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if done == 0 {
			a.say("computing the features of %d recordings", total)
			if isTerminal(a.err) && !a.quiet {
				bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(a.err),
					progressbar.OptionSetWidth(a.barWidth(40, 28)), progressbar.OptionClearOnFinish())
			}
		}
		if bar != nil {
			_ = bar.Set(done)
		}
	}
}

// keepReconstructed compares windows with existing ones, in the folder unless it
// is empty, and writes them into the root where there are none.
func (a *app) keepReconstructed(set dataset.Set, w *readers.Windows, root, there string) error {
	var content bytes.Buffer
	if err := readers.WriteHARReconstructed(&content, w); err != nil {
		return err
	}
	sum := sha256.Sum256(content.Bytes())
	digest, file := hex.EncodeToString(sum[:]), set.Files[0]
	if _, err := fmt.Fprintf(a.out, "%s: %d windows, %d bytes, SHA-256 %s\n", set.Name, w.Len(), content.Len(),
		digest); err != nil {
		return err
	}
	if there != "" {
		other, err := readers.LoadHARReconstructed(there)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "beside the file in %s: %s\n", there, har.Compare(w, other)); err != nil {
			return err
		}
	}
	if digest != file.Made && digest != file.SHA256 {
		return fmt.Errorf("the SHA-256 is not the registered %s, and the file was not written: this program, for %s, rounds "+
			"otherwise than the one that was registered", file.Made, runtime.GOARCH)
	}
	if there != "" {
		return nil
	}
	folder, err := set.FolderIn(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := disk.WriteFile(disk.System, filepath.Join(folder, file.Path), content.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s is in %s\n", set.Name, folder)
	return err
}

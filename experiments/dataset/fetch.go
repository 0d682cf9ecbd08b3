package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Progress gets how much of a file has arrived; total is 0 where it is not known. It
// is called from one goroutine.
type Progress func(file string, done, total int64)

// Fetch downloads what is missing of a set into its folder in root from its public
// addresses, with the default [Fetcher].
func Fetch(ctx context.Context, set Set, root string, progress Progress) error {
	return NewFetcher().Fetch(ctx, set, root, progress)
}

// Fetcher downloads data sets.
type Fetcher struct {
	Client *http.Client
}

// NewFetcher returns a Fetcher that gives up on a server that does not answer
// within a minute. A download itself may take as long as it needs.
func NewFetcher() *Fetcher {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	return &Fetcher{Client: &http.Client{Transport: transport}}
}

// Fetch downloads the missing files of the set into its folder in root. A download grows in
// FILE.part, continues there after an interruption, and gets its final name only when its SHA-256
// is right. A correct file is left alone; a wrong one is an error (*[WrongFileError]) and stays as
// it is. The addresses of a file are tried in order; the error lists the answer of each. A set that
// the user supplies cannot be fetched: where it is missing, the error explains how to make it.
func (f *Fetcher) Fetch(ctx context.Context, set Set, root string, progress Progress) error {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	folder, err := set.FolderIn(root)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", set.Name, err)
	}
	if set.Supplied != "" {
		err := Verify(ctx, set, folder)
		if _, ok := errors.AsType[*absentError](err); ok {
			err = errors.New("it has no public address: " + set.Supplied)
		}
		if err != nil {
			return fmt.Errorf("fetching %s: %w", set.Name, err)
		}
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("fetching %s: %w", set.Name, err)
	}
	wanted := map[string][]File{} // archive to the files it is needed for
	for _, file := range set.Files {
		path, err := localPath(folder, file.Path)
		if err != nil {
			return fmt.Errorf("fetching %s: %w", set.Name, err)
		}
		err = file.verify(ctx, folder)
		var absent *absentError
		switch {
		case err == nil:
			continue
		case !errors.As(err, &absent):
			return fmt.Errorf("fetching %s: %w", set.Name, err)
		case file.Archive != "":
			wanted[file.Archive] = append(wanted[file.Archive], file)
			continue
		}
		report := func(done, total int64) { progress(file.Path, done, total) }
		if err := f.download(ctx, path, file.URLs, file.Size, file.SHA256, report); err != nil {
			return fmt.Errorf("fetching %s: %w", set.Name, err)
		}
	}
	for _, archive := range set.Archives {
		if files := wanted[archive.Name]; len(files) > 0 {
			if err := f.unpack(ctx, set.Archives, archive, files, folder, progress); err != nil {
				return fmt.Errorf("fetching %s: %w", set.Name, err)
			}
			delete(wanted, archive.Name)
		}
	}
	for name := range wanted {
		return fmt.Errorf("fetching %s: the archive %q is not described", set.Name, name)
	}
	return nil
}

// localPath joins a slash-separated path to a folder, which it must not leave.
func localPath(folder, path string) (string, error) {
	local := filepath.FromSlash(path)
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("the path %q leaves the folder of the data set", path)
	}
	return filepath.Join(folder, local), nil
}

// unpack downloads an archive, extracts it into the folder of the set, and moves the wanted files
// to their places after checking them.
func (f *Fetcher) unpack(
	ctx context.Context, all []Archive, a Archive, files []File, folder string, progress Progress,
) error {
	path, err := localPath(folder, a.Name)
	if err != nil {
		return err
	}
	if verifyFile(ctx, path, identity{a.Size, a.SHA256, ""}) != nil {
		if err := f.obtain(ctx, all, a, path, folder, progress); err != nil {
			return err
		}
	}
	temporary, err := os.MkdirTemp(folder, ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the rest are unwanted members
	if err := Extract(ctx, path, temporary, 0); err != nil {
		return err
	}
	for _, file := range files {
		from, err := localPath(temporary, file.Member)
		if err != nil {
			return err
		}
		if err := verifyFile(ctx, from, file.identity()); err != nil {
			return fmt.Errorf("%s in %s: %w", file.Member, a.Name, err)
		}
		to, err := localPath(folder, file.Path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return os.Remove(path)
}

// obtain puts an archive at path: from its addresses or, where they fail, out
// of the archive that contains it.
func (f *Fetcher) obtain(ctx context.Context, all []Archive, a Archive, path, folder string, progress Progress) error {
	var failed error
	if len(a.URLs) > 0 || a.Within == "" {
		report := func(done, total int64) { progress(a.Name, done, total) }
		failed = f.download(ctx, path, a.URLs, a.Size, a.SHA256, report)
		if failed == nil || a.Within == "" || ctx.Err() != nil {
			return failed
		}
	}
	outer := slices.IndexFunc(all, func(o Archive) bool { return o.Name == a.Within && o.Within == "" })
	if outer < 0 {
		return errors.Join(failed, fmt.Errorf("the archive %q is not described", a.Within))
	}
	inner := File{Path: a.Name, Size: a.Size, SHA256: a.SHA256, Member: a.Name}
	err := f.unpack(ctx, all, all[outer], []File{inner}, folder, progress)
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := os.Remove(path + ".part"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// download tries the addresses in turn. size 0 means unknown.
func (f *Fetcher) download(
	ctx context.Context, path string, urls []string, size int64, sha string, report func(done, total int64),
) error {
	name := filepath.Base(path)
	if len(urls) == 0 {
		return fmt.Errorf("%s has no public address; see the notes of the data set", name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	var failures []error
	for _, url := range urls {
		_, statErr := os.Stat(part)
		err := f.attempt(ctx, url, path, part, size, sha, report)
		var wrong *WrongFileError
		if statErr == nil && errors.As(err, &wrong) {
			// The earlier part may have been of something else.
			err = f.attempt(ctx, url, path, part, size, sha, report)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w; what has arrived is kept, the same command goes on from there", name, ctx.Err())
		}
		if errors.As(err, &wrong) {
			err = fmt.Errorf("the content has SHA-256 %s (%d bytes), expected %s (%d bytes)", wrong.SHA256, wrong.Size,
				wrong.WantSHA256, wrong.WantSize)
		}
		failures = append(failures, fmt.Errorf("%s: %w", url, err))
	}
	return fmt.Errorf("%s could not be downloaded: %w", name, errors.Join(failures...))
}

// attempt downloads from one address, checks the content, and gives it its
// final name. Wrong content, which cannot be continued, is removed.
func (f *Fetcher) attempt(
	ctx context.Context, url, path, part string, size int64, sha string, report func(done, total int64),
) error {
	if err := f.transfer(ctx, url, part, size, report); err != nil {
		return err
	}
	if err := verifyFile(ctx, part, identity{size, sha, ""}); err != nil {
		if _, ok := errors.AsType[*WrongFileError](err); ok {
			err = errors.Join(err, os.Remove(part))
		}
		return err
	}
	return os.Rename(part, path)
}

// transfer appends to the file part what it lacks of the content at url.
func (f *Fetcher) transfer(
	ctx context.Context, url, part string, size int64, report func(done, total int64),
) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 && have > size {
		have = 0 // it cannot be the beginning of the file
	}
	if size > 0 && have == size {
		return nil // complete, but not yet checked
	}
	response, err := f.request(ctx, url, have)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // only read
	switch {
	case response.StatusCode == http.StatusPartialContent && rangeStart(response) == have:
	case response.StatusCode == http.StatusOK:
		have = 0 // the server sends everything
	case response.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		if err := out.Truncate(0); err != nil {
			return err
		}
		return fmt.Errorf("the server cannot continue at byte %d; the partial download was dropped", have)
	default:
		return fmt.Errorf("the server answered %q", response.Status)
	}
	if err := out.Truncate(have); err != nil {
		return err
	}
	if _, err := out.Seek(have, io.SeekStart); err != nil {
		return err
	}
	total := size
	if total == 0 && response.ContentLength >= 0 {
		total = have + response.ContentLength
	}
	body := io.Reader(response.Body)
	if size > 0 {
		// One byte more than expected is enough to know that it is wrong.
		body = io.LimitReader(body, size-have+1)
	}
	report(have, total)
	written, err := io.Copy(&countingWriter{out, have, total, report}, body)
	have += written
	switch {
	case err != nil:
		return fmt.Errorf("after %d of %d bytes: %w", have, total, err)
	case have < total:
		return fmt.Errorf("the connection ended after %d of %d bytes", have, total)
	}
	return out.Sync()
}

func (f *Fetcher) request(ctx context.Context, url string, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	// Byte counts and ranges are those of the file itself.
	request.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	return f.Client.Do(request)
}

// rangeStart reads the first byte position of "Content-Range: bytes a-b/n", or
// returns -1.
func rangeStart(r *http.Response) int64 {
	text, ok := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes ")
	first, _, found := strings.Cut(text, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if !ok || !found || err != nil {
		return -1
	}
	return n
}

type countingWriter struct {
	w           io.Writer
	done, total int64
	report      func(done, total int64)
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.done += int64(n)
	c.report(c.done, c.total)
	return n, err
}

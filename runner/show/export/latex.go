package export

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
	"privkern/runner/store/disk"
)

// Document is the name of the LaTeX document with all tables.
const Document = "tables.tex"

// Fragment is a table in LaTeX, for \input.
type Fragment struct {
	Name string // of the table, such as cloaking/table1
	Text []byte // begins with a comment that names the command
}

// Summaries returns the tables of a sweep without published ones.
func Summaries(title string, all []*summary.MetricTable) ([]Fragment, error) {
	var out []Fragment
	for _, t := range all {
		var b bytes.Buffer
		if err := t.LaTeXFragment(&b, title, "run export latex"); err != nil {
			return nil, err
		}
		out = append(out, Fragment{"summary/" + t.Experiment, b.Bytes()})
	}
	return out, nil
}

// LaTeX writes every table to the folder dir as NAME.tex, for \input, and [Document], which
// includes all of them and compiles on its own. It returns the paths of the tables.
func LaTeX(dir string, evaluations []*judge.Evaluation, others ...Fragment) ([]string, error) {
	all, err := published(evaluations)
	if err != nil {
		return nil, err
	}
	return writeLaTeX(dir, append(all, others...))
}

// published returns published tables.
func published(evaluations []*judge.Evaluation) ([]Fragment, error) {
	var out []Fragment
	for _, e := range evaluations {
		var b bytes.Buffer
		if err := tables.Write(&b, tables.FormatLaTeX, tables.TextOptions{}, e); err != nil {
			return nil, err
		}
		out = append(out, Fragment{e.Table, b.Bytes()})
	}
	return out, nil
}

func writeLaTeX(dir string, fragments []Fragment) ([]string, error) {
	if len(fragments) == 0 {
		return nil, errors.New("there is no table to export")
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; name one for the tables", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, cannotWrite(dir, err)
	}
	written := func(head []byte) bool {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		return bytes.HasPrefix(line, []byte("% ")) && bytes.Contains(line, []byte("written by `run"))
	}
	var paths []string
	contents := map[string][]byte{}
	for _, f := range fragments {
		path := filepath.Join(dir, fragmentName(f.Name))
		if contents[path] != nil {
			return nil, fmt.Errorf("%s is a table of several of the output folders; export them into folders of their own",
				f.Name)
		}
		contents[path] = f.Text
		paths = append(paths, path)
	}
	document := filepath.Join(dir, Document)
	contents[document] = latexDocument(fragments)
	all := append(paths, document)
	for _, path := range all { // before any is written
		if err := checkFile(path, "LaTeX table", written); err != nil {
			return nil, err
		}
	}
	for _, path := range all {
		if err := disk.WriteFile(disk.System, path, contents[path]); err != nil {
			return nil, cannotWrite(path, err)
		}
	}
	return paths, nil
}

func fragmentName(table string) string { return strings.ReplaceAll(table, "/", "-") + ".tex" }

func latexDocument(fragments []Fragment) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% all tables, written by `run export latex`\n"+
		"\\documentclass[a4paper]{article}\n"+
		"\\usepackage[margin=25mm]{geometry}\n\\usepackage{%s}\n\\begin{document}\n",
		strings.Join(tables.LaTeXPackages, ","))
	for _, f := range fragments {
		fmt.Fprintf(&b, "\\input{%s}\n\\clearpage\n", strings.TrimSuffix(fragmentName(f.Name), ".tex"))
	}
	b.WriteString("\\end{document}\n")
	return b.Bytes()
}

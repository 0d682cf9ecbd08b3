package export

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/show/tables"
	"privkern/runner/store/disk"
)

// Document is the name of the LaTeX document with all tables.
const Document = "tables.tex"

// LaTeX writes every table to the folder dir as NAME.tex, for \input, and [Document], which
// includes all of them and compiles on its own. It returns the paths of the tables.
func LaTeX(dir string, evaluations []*judge.Evaluation) ([]string, error) {
	if len(evaluations) == 0 {
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
	for _, e := range evaluations {
		path := filepath.Join(dir, fragmentName(e.Table))
		if contents[path] != nil {
			return nil, fmt.Errorf("%s is a table of several of the output folders; export them into folders of their own",
				e.Table)
		}
		var b bytes.Buffer
		if err := tables.Write(&b, tables.FormatLaTeX, tables.TextOptions{}, e); err != nil {
			return nil, err
		}
		contents[path] = b.Bytes()
		paths = append(paths, path)
	}
	document := filepath.Join(dir, Document)
	contents[document] = latexDocument(evaluations)
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

func latexDocument(evaluations []*judge.Evaluation) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% all tables, written by `run export latex`\n"+
		"\\documentclass[a4paper]{article}\n"+
		"\\usepackage[margin=25mm]{geometry}\n\\usepackage{%s}\n\\begin{document}\n",
		strings.Join(tables.LaTeXPackages, ","))
	for _, e := range evaluations {
		fmt.Fprintf(&b, "\\input{%s}\n\\clearpage\n", strings.TrimSuffix(fragmentName(e.Table), ".tex"))
	}
	b.WriteString("\\end{document}\n")
	return b.Bytes()
}

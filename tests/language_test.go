package tests

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vagueWords bounds words of comments in each 100,000 words. Their measure are gonum, pebble and
// restic, with at most 34, 7, 0 and 1: a comment names its subject by a term of the field.
var vagueWords = map[string]int{"what": 120, "says": 30, "beside": 10, "whatever": 5}

var (
	commentWord = regexp.MustCompile(`[A-Za-z][A-Za-z'’-]*`)
	// riddle is a comment that defines a name by a question: "x is what becomes of y".
	riddle = regexp.MustCompile(`^(A |An |The )?[\w.]+,? (is|are|was|were|has|have)( [a-z]+)? what(ever)?\b`)
)

// Comments, those of tests included, are definitions in terms of the field.
func TestLanguageOfComments(t *testing.T) {
	total, counts := 0, map[string]map[string]int{} // of a word, by file
	eachComment(t, func(file string, line int, text string) {
		if m := riddle.FindString(text); m != "" {
			t.Errorf("%s:%d: %q is no definition", file, line, m)
		}
		for _, word := range commentWord.FindAllString(text, -1) {
			total++
			word = strings.ToLower(word)
			if _, vague := vagueWords[word]; !vague {
				continue
			}
			if counts[word] == nil {
				counts[word] = map[string]int{}
			}
			counts[word][file]++
		}
	})
	if total < 100_000 {
		t.Fatalf("only %d words of comments were found", total)
	}
	for word, most := range vagueWords {
		uses := 0
		for n := range maps.Values(counts[word]) {
			uses += n
		}
		if per := float64(uses) / float64(total) * 100_000; per > float64(most) {
			t.Errorf("%q stands %.0f times in 100,000 words of comments, at most %d are meant; most often in %s",
				word, per, most, worst(counts[word]))
		}
	}
}

// eachComment calls f for the comments of all Go files of the module.
func eachComment(t *testing.T, f func(file string, line int, text string)) {
	t.Helper()
	goFiles(t, append([]string{"tests"}, layeredFolders...), func(file, path string) {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range parsed.Comments {
			f(file, files.Position(comment.Pos()).Line, comment.Text())
		}
	})
}

// worst lists the files with the highest counts.
func worst(counts map[string]int) string {
	files := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	var out []string
	for _, file := range files[:min(10, len(files))] {
		out = append(out, fmt.Sprintf("%s (%d)", file, counts[file]))
	}
	return strings.Join(out, ", ")
}

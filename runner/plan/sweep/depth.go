package sweep

import (
	"github.com/goccy/go-yaml/token"
)

// maxDepth is how deep lists and maps may be nested in a sweep file; no sweep needs
// ten levels.
const maxDepth = 100

// tooDeep returns the token at which a text is nested deeper than maxDepth, or nil.
// The parser takes time and memory that grow with the square of the depth, so that
// the text is refused before it is parsed.
func tooDeep(tokens token.Tokens) *token.Token {
	flow := 0         // open brackets and braces
	var columns []int // of the block lists and maps that are open, outermost first
	block := func(column int) {
		for len(columns) > 0 && columns[len(columns)-1] >= column {
			columns = columns[:len(columns)-1]
		}
		columns = append(columns, column)
	}
	for i, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingKeyType:
			block(t.Position.Column)
		case token.MappingValueType: // its key stands before it
			if flow == 0 && i > 0 && tokens[i-1].Position.Line == t.Position.Line {
				block(tokens[i-1].Position.Column)
			}
		}
		if flow+len(columns) > maxDepth {
			return t
		}
	}
	return nil
}

package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// The text of a sealed file is one JSON object whose last member is the digest: 64
// hexadecimal digits in lower case, the SHA-256 of the text from its first byte up to, and
// without, the comma before that member. `"}` and a newline follow. So the digest can be
// checked without a JSON parser, and every byte is either digested or has a single valid
// value.

// errBrokenDigest is the error of a file whose digest does not match.
var errBrokenDigest = errors.New("its digest does not hold: it was changed after it was written")

const (
	digestDigits = 2 * sha256.Size
	digestEnd    = "\"}\n"
)

// AppendDigest returns the text of a JSON object with its digest as the last member. White
// space around the last brace is dropped; the rest stays as it is. The argument may be
// overwritten.
func AppendDigest(object []byte, member string) ([]byte, error) {
	text, err := openObject(object)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	text = append(text, digestStart(member)...)
	text = hex.AppendEncode(text, sum[:])
	return append(text, digestEnd...), nil
}

// openObject returns the text of a JSON object with members without the final brace, so
// that members can be appended.
func openObject(object []byte) ([]byte, error) {
	text, ok := bytes.CutSuffix(bytes.TrimRight(object, " \t\r\n"), []byte("}"))
	text = bytes.TrimRight(text, " \t\r\n")
	if !ok || len(text) == 0 || text[len(text)-1] == '{' {
		return nil, errors.New("not a JSON object with members")
	}
	return text, nil
}

// CheckDigest reports whether a text ends with a digest under that name. The error is that
// of a digest that does not match the text before it.
func CheckDigest(file []byte, member string) (sealed bool, err error) {
	tail := len(file) - len(digestEnd)
	if tail < digestDigits || string(file[tail:]) != digestEnd {
		return false, nil
	}
	text, ok := bytes.CutSuffix(file[:tail-digestDigits], []byte(digestStart(member)))
	if !ok {
		return false, nil
	}
	sum := sha256.Sum256(text)
	if string(file[tail-digestDigits:tail]) != hex.EncodeToString(sum[:]) {
		return true, errBrokenDigest
	}
	return true, nil
}

// digestStart returns the text between the digested text and the digest.
func digestStart(member string) string { return `,"` + member + `":"` }

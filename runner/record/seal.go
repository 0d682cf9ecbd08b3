package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// The text of a sealed file is that of one JSON object whose last member is the
// digest: 64 hexadecimal digits in lower case, the SHA-256 of the text from its
// first byte up to, and without, the comma before that member. What follows the
// digest is `"}` and a newline. So the digest can be checked without a reader of
// JSON, and everything that a bit can be flipped in is either digested or has one
// spelling only.

// ErrBrokenDigest says that a file has a digest of something else.
var ErrBrokenDigest = errors.New("its digest does not hold: it was changed after it was written")

const (
	digestDigits = 2 * sha256.Size
	digestEnd    = "\"}\n"
)

// AppendDigest returns the text of a JSON object with its digest as another member
// behind the others. White space around the last brace is dropped; all else
// stays as it is. It may write over the text.
func AppendDigest(object []byte, member string) ([]byte, error) {
	text, err := OpenObject(object)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	text = append(text, digestStart(member)...)
	text = hex.AppendEncode(text, sum[:])
	return append(text, digestEnd...), nil
}

// OpenObject returns the text of a JSON object that has members without the brace
// at its end, so that others can be written behind them.
func OpenObject(object []byte) ([]byte, error) {
	text, ok := bytes.CutSuffix(bytes.TrimRight(object, " \t\r\n"), []byte("}"))
	text = bytes.TrimRight(text, " \t\r\n")
	if !ok || len(text) == 0 || text[len(text)-1] == '{' {
		return nil, errors.New("not a JSON object with members")
	}
	return text, nil
}

// CheckDigest says whether a text ends with a digest under that name, and returns
// [ErrBrokenDigest] where it is not the digest of what is before it.
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
		return true, ErrBrokenDigest
	}
	return true, nil
}

// digestStart is what is between the digested text and the digest.
func digestStart(member string) string { return `,"` + member + `":"` }

package workspace

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// Encoding is the unit in which a language server counts the characters of a
// line (LSP's PositionEncodingKind).
type Encoding int

// The encodings of LSP. A byte that is no valid UTF-8 counts as U+FFFD, which
// is what a server is sent for it.
const (
	// UTF16 is LSP's default, and so the zero value.
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// Position is a place in a text as LSP counts it: a 0-based line, and a
// 0-based character in units of an [Encoding].
type Position struct {
	Line, Character int
}

// byteOrderMark is a character to a language server, and nothing that a
// reader sees.
var byteOrderMark = []byte("\uFEFF")

// Lines finds lines and columns in one text. A line ends with LF, CRLF or a
// lone CR, as in LSP; the text behind the last terminator is a line too, even
// when it is empty. Lines is read-only and safe for concurrent use.
type Lines struct {
	src    []byte
	starts []int // offset of each line; the first is 0
}

// NewLines indexes a text, which must not change afterwards.
func NewLines(src []byte) *Lines {
	starts := make([]int, 1, 1+bytes.Count(src, []byte{'\n'}))
	for i, c := range src {
		crlf := c == '\r' && i+1 < len(src) && src[i+1] == '\n'
		if c == '\n' || c == '\r' && !crlf {
			starts = append(starts, i+1)
		}
	}
	return &Lines{src: src, starts: starts}
}

// Count returns how many lines there are; at least one.
func (l *Lines) Count() int { return len(l.starts) }

// Text returns a 1-based line without its terminator and without a byte order
// mark, as valid UTF-8: each invalid byte becomes one U+FFFD, so that columns
// still fit. A line that does not exist is empty.
func (l *Lines) Text(line1 int) string {
	if line1 < 1 || line1 > len(l.starts) {
		return ""
	}
	start, end := l.bounds(line1 - 1)
	text := l.src[l.visibleStart(start):end]
	if utf8.Valid(text) {
		return string(text)
	}
	return string([]rune(string(text)))
}

// Offset returns the byte offset of a position. As LSP asks, a character
// behind the end of its line is the end of the line, and one inside a
// surrogate pair or a multi-byte character is its start; a line behind the
// last is the end of the text.
func (l *Lines) Offset(p Position, enc Encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(l.starts) {
		return len(l.src)
	}
	offset, end := l.bounds(p.Line)
	for left := p.Character; offset < end; {
		r, size := utf8.DecodeRune(l.src[offset:end])
		left -= enc.width(r)
		if left < 0 {
			break
		}
		offset += size
	}
	return offset
}

// Position returns the position of a byte offset, moved back to the start of
// the character that it lies in. An offset inside a CRLF is the end of its
// line, and one outside the text is the nearest in it.
func (l *Lines) Position(offset int, enc Encoding) Position {
	line, at := l.locate(offset)
	start := l.starts[line]
	p := Position{Line: line}
	for start < at {
		r, size := utf8.DecodeRune(l.src[start:])
		p.Character += enc.width(r)
		start += size
	}
	return p
}

// LineAt returns the 1-based line of a byte offset. Unlike a position it costs
// the same however long the line is.
func (l *Lines) LineAt(offset int) int {
	line, _ := l.locate(offset)
	return line + 1
}

// UserPosition returns the line and column of a byte offset as people and
// models count them: both from 1, columns in code points (a tab is one, an
// invalid byte is one, a byte order mark is none). Offsets are clamped as in
// Position.
func (l *Lines) UserPosition(offset int) (line1, col1 int) {
	line, at := l.locate(offset)
	start := l.visibleStart(l.starts[line])
	return line + 1, 1 + utf8.RuneCount(l.src[start:max(start, at)])
}

// locate returns the 0-based line of an offset, and the offset moved back to
// the start of a character or the end of the line's text.
func (l *Lines) locate(offset int) (line, at int) {
	offset = min(max(offset, 0), len(l.src))
	line = sort.SearchInts(l.starts, offset+1) - 1
	start, end := l.bounds(line)
	at = min(offset, end)
	for first := at; first > start && at-first < utf8.UTFMax; {
		first--
		if !utf8.RuneStart(l.src[first]) {
			continue
		}
		if _, size := utf8.DecodeRune(l.src[first:end]); first+size > at {
			return line, first
		}
		break
	}
	return line, at
}

// bounds returns where a 0-based line begins and where its text ends.
func (l *Lines) bounds(line int) (start, end int) {
	start, end = l.starts[line], len(l.src)
	if line+1 == len(l.starts) {
		return start, end
	}
	end = l.starts[line+1] - 1
	if end > start && l.src[end] == '\n' && l.src[end-1] == '\r' {
		end--
	}
	return start, end
}

// visibleStart skips a byte order mark at the start of the text.
func (l *Lines) visibleStart(start int) int {
	if start == 0 && bytes.HasPrefix(l.src, byteOrderMark) {
		return len(byteOrderMark)
	}
	return start
}

// width is how many units a character takes.
func (e Encoding) width(r rune) int {
	switch {
	case e == UTF8:
		return utf8.RuneLen(r)
	case e == UTF16 && r > 0xFFFF:
		return 2
	default:
		return 1
	}
}

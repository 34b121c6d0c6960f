package workspace

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLinesText(t *testing.T) {
	tests := []struct {
		name, src string
		want      []string
	}{
		{"empty", "", []string{""}},
		{"no final newline", "a\nb", []string{"a", "b"}},
		{"final newline", "a\n", []string{"a", ""}},
		{"crlf", "a\r\nb\r\n", []string{"a", "b", ""}},
		{"lone cr", "a\rb", []string{"a", "b"}},
		{"cr cr lf", "a\r\r\nb", []string{"a", "", "b"}},
		{"lf cr", "a\n\rb", []string{"a", "", "b"}},
		{"cr at the end", "a\r", []string{"a", ""}},
		{"byte order mark", "\uFEFFa\n\uFEFFb", []string{"a", "\uFEFFb"}},
		{"only a byte order mark", "\uFEFF", []string{""}},
		{"invalid bytes, one each", "a\xff\xfeb", []string{"a\uFFFD\uFFFDb"}},
		{"line separators of Unicode are text", "a\u2028b\vc", []string{"a\u2028b\vc"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLines([]byte(tt.src))
			if l.Count() != len(tt.want) {
				t.Fatalf("%d lines, want %d", l.Count(), len(tt.want))
			}
			for i, want := range tt.want {
				if got := l.Text(i + 1); got != want {
					t.Errorf("line %d: %q, want %q", i+1, got, want)
				}
			}
			if l.Text(0) != "" || l.Text(l.Count()+1) != "" {
				t.Error("a line that does not exist has text")
			}
		})
	}
}

func TestLinesPositions(t *testing.T) {
	const emoji = "a😀é\tz\r\nx\ry\n\xffq" // a=0 😀=1..4 é=5,6 \t=7 z=8 CRLF=9,10 x=11 CR=12 y=13 LF=14 \xff=15 q=16
	const marked = "\uFEFFab"
	tests := []struct {
		name             string
		src              string
		offset           int
		line             int // 0-based
		u8, u16, u32     int
		userLine, column int
	}{
		{"start", emoji, 0, 0, 0, 0, 0, 1, 1},
		{"emoji", emoji, 1, 0, 1, 1, 1, 1, 2},
		{"behind the emoji", emoji, 5, 0, 5, 3, 2, 1, 3},
		{"behind the tab", emoji, 8, 0, 8, 5, 4, 1, 5},
		{"end of the crlf line", emoji, 9, 0, 9, 6, 5, 1, 6},
		{"next line", emoji, 11, 1, 0, 0, 0, 2, 1},
		{"behind a lone cr", emoji, 13, 2, 0, 0, 0, 3, 1},
		{"invalid byte", emoji, 15, 3, 0, 0, 0, 4, 1},
		{"behind the invalid byte", emoji, 16, 3, 3, 1, 1, 4, 2},
		{"end", emoji, 17, 3, 4, 2, 2, 4, 3},
		{"mark", marked, 0, 0, 0, 0, 0, 1, 1},
		{"behind the mark", marked, 3, 0, 3, 1, 1, 1, 1},
		{"marked line's end", marked, 5, 0, 5, 3, 3, 1, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLines([]byte(tt.src))
			for enc, character := range map[Encoding]int{UTF8: tt.u8, UTF16: tt.u16, UTF32: tt.u32} {
				want := Position{Line: tt.line, Character: character}
				if got := l.Position(tt.offset, enc); got != want {
					t.Errorf("encoding %d: %+v, want %+v", enc, got, want)
				}
				if got := l.Offset(want, enc); got != tt.offset {
					t.Errorf("encoding %d: offset %d, want %d", enc, got, tt.offset)
				}
			}
			if line := l.LineAt(tt.offset); line != tt.userLine {
				t.Errorf("LineAt(%d) = %d, want %d", tt.offset, line, tt.userLine)
			}
			if line, column := l.UserPosition(tt.offset); line != tt.userLine || column != tt.column {
				t.Errorf("user position %d:%d, want %d:%d", line, column, tt.userLine, tt.column)
			}
		})
	}
}

func TestLinesClamp(t *testing.T) {
	l := NewLines([]byte("a😀b\r\ncd"))
	offsets := []struct {
		name string
		p    Position
		enc  Encoding
		want int
	}{
		{"behind the line's end", Position{0, 99}, UTF16, 6},
		{"behind the last line", Position{2, 0}, UTF16, 10},
		{"far behind the last line", Position{1 << 30, 5}, UTF8, 10},
		{"inside a surrogate pair", Position{0, 2}, UTF16, 1},
		{"inside a multi-byte character", Position{0, 3}, UTF8, 1},
		{"negative line", Position{-1, 3}, UTF16, 0},
		{"negative character", Position{1, -3}, UTF16, 8},
	}
	for _, tt := range offsets {
		if got := l.Offset(tt.p, tt.enc); got != tt.want {
			t.Errorf("%s: offset %d, want %d", tt.name, got, tt.want)
		}
	}
	positions := []struct {
		name   string
		offset int
		want   Position
	}{
		{"negative", -5, Position{0, 0}},
		{"behind the end", 99, Position{1, 2}},
		{"inside the emoji", 3, Position{0, 1}},
		{"inside the crlf", 7, Position{0, 4}},
	}
	for _, tt := range positions {
		if got := l.Position(tt.offset, UTF16); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb\rc\n", "\uFEFF😀\t\xff\xe2\x82", "\r\r\n\n", "é\x80\x80\x80\x80\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		l := NewLines(src)
		var terminators strings.Builder
		for line := range l.Count() {
			start, end := l.bounds(line)
			if strings.ContainsAny(string(src[start:end]), "\r\n") {
				t.Fatalf("line %d of %q holds a terminator", line, src)
			}
			if !utf8.ValidString(l.Text(line + 1)) {
				t.Fatalf("line %d of %q is no UTF-8", line, src)
			}
			terminators.Write(src[start:end])
			if line+1 < l.Count() {
				terminators.Write(src[end:l.starts[line+1]])
			}
		}
		if terminators.String() != string(src) {
			t.Fatalf("lines of %q add up to %q", src, terminators.String())
		}
		for offset := range len(src) + 1 {
			_, at := l.locate(offset)
			for _, enc := range []Encoding{UTF8, UTF16, UTF32} {
				if got := l.Offset(l.Position(offset, enc), enc); got != at {
					t.Fatalf("offset %d of %q comes back as %d, want %d (encoding %d)", offset, src, got, at, enc)
				}
			}
			line, column := l.UserPosition(offset)
			if line < 1 || line > l.Count() || column < 1 || column > 1+utf8.RuneCountInString(l.Text(line)) {
				t.Fatalf("offset %d of %q is at %d:%d", offset, src, line, column)
			}
		}
	})
}

package syntax

// Separator is the role of a token between or behind siblings.
type Separator int

// The roles.
const (
	NoSeparator Separator = iota
	// Comma separates siblings; one may trail behind the last.
	Comma
	// Terminator ends a statement: a semicolon, a line break that counts.
	Terminator
)

// Separator returns the role of a kind of token.
func (l *Language) Separator(s Symbol) Separator {
	if int(s) < len(l.grammar.separators) {
		return l.grammar.separators[s]
	}
	return NoSeparator
}

func separatorOf(name string) Separator {
	switch name {
	case ",":
		return Comma
	case ";", "\n", "\r\n", "\x00", "":
		return Terminator
	default:
		return NoSeparator
	}
}

// Gap returns what lies between two offsets without the white space around
// it, line continuations included. In most grammars it is empty, since every
// other byte is in some node; in some, the contents of strings are in none.
func Gap(source []byte, start, end uint32) []byte {
	if start >= end {
		return nil
	}
	gap := source[start:end]
	for len(gap) > 0 && isBlank(gap[0], gap[1:]) {
		gap = gap[1:]
	}
	for len(gap) > 0 && isBlank(gap[len(gap)-1], nil) {
		gap = gap[:len(gap)-1]
	}
	return gap
}

func isBlank(c byte, rest []byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		return true
	case '\\':
		return len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r')
	default:
		return false
	}
}

package walk

import "strings"

// parseSet reads the set that text begins with ("[a-z]", "[!x]", "[[:alpha:]]")
// and tells how many bytes of text it is. ok is false for one that has no end
// or names an unknown class. It takes the same steps as git's wildmatch, odd
// cases included: "]" is an ordinary member in the first place, and so is "-"
// at either end or behind a range or class.
func parseSet(text string) (set byteSet, size int, ok bool) {
	i := 1
	negated := i < len(text) && (text[i] == '!' || text[i] == '^')
	if negated {
		i++
	}
	previous := byte(0) // what a "-" may begin a range with; 0 for nothing
	for first := true; i < len(text); first = false {
		switch c := text[i]; {
		case c == ']' && !first:
			if negated {
				set.invert()
			}
			return set, i + 1, true
		case c == '-' && previous != 0 && i+1 < len(text) && text[i+1] != ']':
			end, n := member(text[i+1:])
			if n == 0 {
				return set, 0, false
			}
			set.addRange(previous, end)
			previous = 0
			i += 1 + n
		case c == '[' && strings.HasPrefix(text[i:], "[:"):
			name, n := className(text[i:])
			if n == 0 { // no ":]" follows: an ordinary bracket
				set.add('[')
				previous = '['
				i++
				continue
			}
			if !set.addClass(name) {
				return set, 0, false
			}
			previous = 0
			i += n
		default:
			b, n := member(text[i:])
			if n == 0 {
				return set, 0, false
			}
			set.add(b)
			previous = b
			i += n
		}
	}
	return set, 0, false
}

// member reads one byte, which a backslash may stand before. n is 0 when only
// the backslash is left.
func member(text string) (b byte, n int) {
	switch {
	case text[0] != '\\':
		return text[0], 1
	case len(text) > 1:
		return text[1], 2
	default:
		return 0, 0
	}
}

// className reads "[:name:]". n is 0 when the first "]" is not behind a colon,
// so that text begins no class.
func className(text string) (name string, n int) {
	end := strings.IndexByte(text[2:], ']')
	if end < 1 || text[2+end-1] != ':' {
		return "", 0
	}
	return text[2 : 2+end-1], 2 + end + 1
}

// addClass adds a POSIX class of ASCII, and tells whether there is one of that
// name.
func (s *byteSet) addClass(name string) bool {
	switch name {
	case "alnum":
		s.addClass("alpha")
		s.addRange('0', '9')
	case "alpha":
		s.addClass("lower")
		s.addClass("upper")
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 31)
		s.add(127)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space":
		s.addRange('\t', '\r')
		s.add(' ')
	case "upper":
		s.addRange('A', 'Z')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('a', 'f')
		s.addRange('A', 'F')
	default:
		return false
	}
	return true
}

package walk

import "strings"

// pattern is a compiled pattern of an ignore file: one matcher for each part of
// a path. It follows git's wildmatch byte by byte, and unlike it takes time
// proportional to the product of both lengths at worst.
type pattern []part

// part matches one name of a path, or with "**" any number of them.
type part struct {
	kind   partKind
	text   string  // of a literal, or behind the star of a suffix
	tokens []token // of a wildcard
}

type partKind int

const (
	literal  partKind = iota
	suffix            // "*.go"
	wildcard          // anything else with *, ? or a set in it
	anyDepth          // "**" as a whole part
)

// token is one step of a wildcard: a star, or the bytes that may stand there.
type token struct {
	star  bool
	bytes byteSet
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *byteSet) addRange(from, to byte) {
	for b := int(from); b <= int(to); b++ {
		s.add(byte(b))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// compile compiles the text of a pattern. ok is false for one that git lets
// match nothing: a set without an end or of an unknown class, or a backslash
// at the end.
func compile(text string) (p pattern, ok bool) {
	var current []token
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '/':
			p = append(p, newPart(current))
			current = nil
			i++
		case '\\':
			if i+1 == len(text) {
				return nil, false
			}
			if text[i+1] == '/' {
				i++ // the slash is a separator all the same
				continue
			}
			current = append(current, single(text[i+1]))
			i += 2
		case '*':
			// Neighbours are kept: a part of stars alone is a "**".
			current = append(current, token{star: true})
			i++
		case '?':
			var every byteSet
			every.invert()
			current = append(current, token{bytes: every})
			i++
		case '[':
			set, size, ok := parseSet(text[i:])
			if !ok {
				return nil, false
			}
			current = append(current, token{bytes: set})
			i += size
		default:
			current = append(current, single(c))
			i++
		}
	}
	return append(p, newPart(current)), true
}

func single(b byte) token {
	var t token
	t.bytes.add(b)
	return t
}

// only returns the byte that a token stands for, if it is just one.
func (t *token) only() (b byte, ok bool) {
	if t.star {
		return 0, false
	}
	n := 0
	for c := range 256 {
		if t.bytes.has(byte(c)) {
			b = byte(c)
			n++
		}
	}
	return b, n == 1
}

// newPart picks the cheapest matcher for the tokens of a part.
func newPart(tokens []token) part {
	stars := 0
	for stars < len(tokens) && tokens[stars].star {
		stars++
	}
	if stars >= 2 && stars == len(tokens) {
		return part{kind: anyDepth}
	}
	var text []byte
	for _, t := range tokens[stars:] {
		b, ok := t.only()
		if !ok {
			return part{kind: wildcard, tokens: tokens}
		}
		text = append(text, b)
	}
	if stars > 0 {
		return part{kind: suffix, text: string(text)}
	}
	return part{kind: literal, text: string(text)}
}

// matchName matches a pattern of one part against the last name of a path.
func (p pattern) matchName(name string) bool {
	return p[0].kind == anyDepth || p[0].matches(name)
}

// matchPath matches a pattern against a whole path. "**" stands for any number
// of folders, and at the end for whatever is in the folder before it.
func (p pattern) matchPath(path string) bool {
	// When a part fails, the last "**" takes one folder more and the parts
	// behind it are tried from there. That is enough: every part takes exactly
	// one name, so what an earlier "**" could take instead leads nowhere new.
	retryPart, retryRest := -1, ""
	rest, left := path, true
	for i := 0; ; {
		switch {
		case i == len(p):
			if !left {
				return true
			}
		case p[i].kind == anyDepth:
			if i == len(p)-1 {
				return left
			}
			i++
			retryPart, retryRest = i, rest
			continue
		case left:
			name, after, slash := strings.Cut(rest, "/")
			if p[i].matches(name) {
				rest, left = after, slash
				i++
				continue
			}
		}
		_, after, slash := strings.Cut(retryRest, "/")
		if retryPart < 0 || !slash {
			return false
		}
		retryRest, rest, left, i = after, after, true, retryPart
	}
}

func (p *part) matches(name string) bool {
	switch p.kind {
	case literal:
		return name == p.text && name != ""
	case suffix:
		return strings.HasSuffix(name, p.text)
	default:
		return matchTokens(p.tokens, name)
	}
}

// matchTokens matches a name. Only the last star needs to be tried again: what
// stood before it matched as early as it could.
func matchTokens(tokens []token, name string) bool {
	t, n := 0, 0
	retryToken, retryName := -1, 0
	for n < len(name) {
		switch {
		case t < len(tokens) && tokens[t].star:
			t++
			retryToken, retryName = t, n
			continue
		case t < len(tokens) && tokens[t].bytes.has(name[n]):
			t++
			n++
			continue
		case retryToken < 0:
			return false
		}
		retryName++
		t, n = retryToken, retryName
	}
	for t < len(tokens) && tokens[t].star {
		t++
	}
	return t == len(tokens)
}

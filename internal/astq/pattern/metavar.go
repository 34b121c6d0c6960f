package pattern

import (
	"fmt"
	"strings"
)

// metavar is a metavariable of a pattern.
type metavar struct {
	name  string // without dollars; "" for $$$ alone
	multi bool
	any   bool // $$NAME: unnamed nodes too
	text  string
	// placeholder is the identifier that stands for it in what is parsed. All
	// places of one text share it.
	placeholder string
}

// binds tells whether it keeps what it takes: $_ and all that begin so do not.
func (m *metavar) binds() bool { return m.name != "" && m.name[0] != '_' }

// piece is a part of a pattern: source text, or a metavariable.
type piece struct {
	text string
	meta *metavar
}

// split finds the metavariables of a pattern. Names are [A-Z_][A-Z0-9_]*, so
// $x and $Xy are source text, and so is a dollar inside a word. Two of them
// side by side are told apart only when touching is set: in a pattern they
// would be parsed as one word.
func split(source string, touching bool) (pieces []piece, metas []*metavar) {
	base := "mvq"
	for strings.Contains(source, base) {
		base += "q"
	}
	known := map[string]*metavar{}
	plain := 0
	for i := 0; i < len(source); {
		m, size := metavarAt(source, i, touching, touching && i > 0 && i == plain)
		if m == nil {
			i++
			continue
		}
		if plain < i {
			pieces = append(pieces, piece{text: source[plain:i]})
		}
		if have, ok := known[m.text]; ok {
			m = have
		} else {
			m.placeholder = fmt.Sprintf("%s%dz", base, len(metas))
			known[m.text] = m
			metas = append(metas, m)
		}
		pieces = append(pieces, piece{meta: m})
		i += size
		plain = i
	}
	if plain < len(source) {
		pieces = append(pieces, piece{text: source[plain:]})
	}
	return pieces, metas
}

// metavarAt reads the metavariable at an offset, if there is one. follows says
// that another ends there.
func metavarAt(source string, at int, touching, follows bool) (*metavar, int) {
	if source[at] != '$' || !follows && at > 0 && isWord(source[at-1]) {
		return nil, 0
	}
	dollars := 0
	for at+dollars < len(source) && source[at+dollars] == '$' {
		dollars++
	}
	end := at + dollars
	for end < len(source) && isNameByte(source[end], end > at+dollars) {
		end++
	}
	name := source[at+dollars : end]
	ends := end == len(source) || !isWord(source[end]) || touching && source[end] == '$'
	if dollars > 3 || !ends || name == "" && dollars != 3 {
		return nil, 0
	}
	return &metavar{name: name, multi: dollars == 3, any: dollars == 2, text: source[at:end]}, end - at
}

func isNameByte(c byte, digits bool) bool {
	return 'A' <= c && c <= 'Z' || c == '_' || digits && '0' <= c && c <= '9'
}

// isWord tells whether a byte may be part of an identifier; a dollar may, in
// JavaScript and others, and so may any byte of a letter beyond ASCII.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

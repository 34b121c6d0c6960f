package pattern

import (
	"bytes"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// chain is a row of tokens that stand beside each other in every match, with
// nothing between them but white space, comments and the few tokens that
// matching passes over: errors . New ( has four. It keeps more files from
// being parsed than its words alone do.
type chain [][]byte

// setChains finds the chains of the program. A language whose comments are not
// known has none.
func (p *Pattern) setChains() {
	if p.Language.CommentStarts() == "" {
		return
	}
	var current chain
	flush := func() {
		if len(current) > 1 {
			p.chains = append(p.chains, current)
		}
		current = nil
	}
	for _, op := range p.Program {
		switch op.Code {
		case Enter, Leave:
			if len(op.Gap) > 0 {
				flush()
			}
		case Leaf:
			text := op.Text
			sure := len(op.Gap) == 0 && len(text) > 0 && !op.AfterMulti && !op.BeforeMulti &&
				(op.Named || !op.Separator && string(text) == p.Language.KindName(op.Symbol))
			if !sure {
				flush()
				continue
			}
			current = append(current, text)
		case Single, Multi, MultiIn:
			flush()
		}
	}
	flush()
}

// mayStandIn tells whether a source may hold the chain. It errs to the side of
// yes: where a comment may begin it does not look on.
func (c chain) mayStandIn(source []byte, language *syntax.Language) bool {
	for at := 0; ; {
		i := bytes.Index(source[at:], c[0])
		if i < 0 {
			return false
		}
		at += i
		if c.mayFollow(source, at, language) {
			return true
		}
		at++
	}
}

// mayFollow tells whether the chain may stand at an offset, where its first
// token does.
func (c chain) mayFollow(source []byte, at int, language *syntax.Language) bool {
	for i, token := range c {
		if i > 0 {
			start := at
			at = skipSpace(source, at)
			if at < len(source) && isDoubtful(source[at], at > start, language.CommentStarts()) && !bytes.HasPrefix(source[at:], token) {
				return true
			}
		}
		if !bytes.HasPrefix(source[at:], token) {
			return false
		}
		at += len(token)
	}
	return true
}

func skipSpace(source []byte, at int) int {
	for at < len(source) {
		switch source[at] {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			at++
		default:
			return at
		}
	}
	return at
}

// isDoubtful tells whether a byte may begin what matching passes over: a
// comment, a line continuation, a comma or semicolon, a keyword.
func isDoubtful(c byte, apart bool, comments string) bool {
	if c == '\\' || c == ',' || c == ';' || c >= 0x80 {
		return true
	}
	return bytes.IndexByte([]byte(comments), c) >= 0 || apart && 'a' <= c && c <= 'z'
}

package pattern

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// compileBudget bounds one try to parse a fragment.
const compileBudget = 2 * time.Second

// Compile compiles a pattern. One that no context takes is
// PATTERN_UNPARSABLE, with where it stopped and what was tried; an empty one
// is BAD_ARGUMENT; one that would match everything, PATTERN_TOO_BROAD.
func Compile(ctx context.Context, language *syntax.Language, source string) (*Pattern, error) {
	if err := language.Unusable(); err != nil {
		return nil, err
	}
	fragment := strings.TrimSpace(source)
	if fragment == "" {
		return nil, toolerr.BadArgument("pattern", "is empty; give a fragment of %s code, with $NAME for any node and $$$NAME for a run of them", language.ID)
	}
	if len(fragment) > MaxBytes {
		return nil, toolerr.BadArgument("pattern", "has %d bytes, the most is %d; give the shape to look for, not a file", len(fragment), MaxBytes)
	}
	pieces, metas := split(fragment)
	if len(pieces) == 1 && pieces[0].meta != nil {
		return nil, tooBroad(fragment)
	}
	c := &compiler{language: language, source: fragment, pieces: pieces, metas: metas}
	p, err := c.climb(ctx)
	if err != nil {
		return nil, err
	}
	p.setWords()
	p.setChains()
	return p, nil
}

func tooBroad(fragment string) error {
	return toolerr.New(toolerr.InvalidArgument, toolerr.ReasonPatternTooBroad,
		"pattern %q matches every node; put it into the code around it, for example f(%s)", shorten(fragment), shorten(fragment))
}

// compiler tries one fragment in the contexts of a language.
type compiler struct {
	language *syntax.Language
	source   string
	pieces   []piece
	metas    []*metavar
	best     failure
}

// failure is how far a try came, for the error message.
type failure struct {
	context string
	offset  int // in the text that was tried
	text    string
	tried   bool
}

// attempt is one way to read the fragment.
type attempt struct {
	context syntax.Context
	// semicolon says that we put one behind the fragment. It is then no part
	// of the pattern.
	semicolon bool
	// forms are how each place of a run ($$$) is written, for grammars that
	// take no bare identifier there.
	forms []string
	// lenient takes what the parser could not place when it is exactly a run.
	lenient bool
}

// runForms are the ways to write a run: bare, as a statement, as a field or
// member declaration.
var runForms = []string{"%s", "%s;", "int %s;", "var %s;"}

// maxForms bounds the tries with runs in several places.
const maxForms = 256

// climb tries the ladder: the common contexts as is, then with a semicolon of
// ours, then the rarer ones likewise; and then the same with more tolerance for
// runs in places where the grammar takes no expression. All of a group are
// tried as is before any semicolon, because in some languages one turns an
// expression into a declaration: C reads "a * b;" as one.
func (c *compiler) climb(ctx context.Context) (*Pattern, error) {
	plain := c.forms()[0]
	rounds := []func(syntax.Context, bool) []attempt{
		func(k syntax.Context, semicolon bool) []attempt {
			return []attempt{{context: k, semicolon: semicolon, forms: plain}}
		},
		func(k syntax.Context, semicolon bool) []attempt {
			var out []attempt
			for _, forms := range c.forms()[1:] {
				out = append(out, attempt{context: k, semicolon: semicolon, forms: forms})
			}
			return out
		},
		func(k syntax.Context, semicolon bool) []attempt {
			return []attempt{{context: k, semicolon: semicolon, forms: plain, lenient: true}}
		},
	}
	for _, round := range rounds {
		for _, contexts := range c.ladder() {
			for _, semicolon := range []bool{false, true} {
				for _, k := range contexts {
					for _, a := range round(k, semicolon) {
						p, err := c.try(ctx, a)
						if p != nil || err != nil {
							return p, err
						}
					}
				}
			}
		}
	}
	return nil, c.unparsable()
}

// ladder returns the contexts that the fragment may stand in, those up to
// declaration apart from the rarer ones: a guard without its semicolon is a
// statement before it is an element of a collection.
func (c *compiler) ladder() [][]syntax.Context {
	var common, rare []syntax.Context
	declarations := slices.IndexFunc(c.language.Contexts, func(k syntax.Context) bool { return k.Name == "declaration" })
	for i, k := range c.language.Contexts {
		switch {
		case !strings.HasPrefix(c.source, k.Starts):
		case i <= declarations || declarations < 0:
			common = append(common, k)
		default:
			rare = append(rare, k)
		}
	}
	return [][]syntax.Context{common, rare}
}

// forms lists how the places of runs may be written, the plain way first.
func (c *compiler) forms() [][]string {
	places := 0
	for _, p := range c.pieces {
		if p.meta != nil && p.meta.multi {
			places++
		}
	}
	out := [][]string{{}}
	for range places {
		if len(out)*len(runForms) > maxForms {
			out = appendToAll(out, runForms[:1])
			continue
		}
		out = appendToAll(out, runForms)
	}
	return out
}

// appendToAll makes every combination, those with the earlier forms first.
func appendToAll(lists [][]string, forms []string) [][]string {
	var out [][]string
	for _, form := range forms {
		for _, list := range lists {
			out = append(out, append(append([]string{}, list...), form))
		}
	}
	return out
}

// try reads the fragment in one way; nil when it is not taken. An error is
// not the fragment's fault, or makes further tries pointless.
func (c *compiler) try(ctx context.Context, a attempt) (*Pattern, error) {
	r := c.render(a)
	tree, err := c.language.Parse(ctx, []byte(r.text), compileBudget)
	if errors.Is(err, syntax.ErrTimeout) {
		return nil, toolerr.BadArgument("pattern", "takes longer than %s to parse; give a smaller one", compileBudget)
	}
	if err != nil {
		return nil, fmt.Errorf("parse the pattern: %w", err)
	}
	e := &emitter{compiler: c, attempt: a, rendered: r, tree: tree}
	if at, bad := e.firstError(); bad {
		if !a.lenient && !a.semicolon {
			c.note(a.context.Name, r, at)
		}
		return nil, nil
	}
	roots, ok := e.roots()
	if !ok {
		return nil, nil
	}
	return e.emit(roots)
}

// rendered is the text that is parsed for an attempt.
type rendered struct {
	text       string
	start, end int // of the fragment, with our semicolon
	// metas finds a metavariable by the text that stands for it.
	metas map[string]*metavar
	// semicolon is the offset of ours, or -1.
	semicolon int
}

func (c *compiler) render(a attempt) rendered {
	r := rendered{metas: map[string]*metavar{}, semicolon: -1}
	var b strings.Builder
	b.WriteString(a.context.Before)
	r.start = b.Len()
	place := 0
	for _, p := range c.pieces {
		if p.meta == nil {
			b.WriteString(p.text)
			continue
		}
		text := p.meta.placeholder
		r.metas[text] = p.meta
		if p.meta.multi {
			text = fmt.Sprintf(a.forms[place], text)
			r.metas[text] = p.meta
			place++
		}
		b.WriteString(text)
	}
	if a.semicolon {
		r.semicolon = b.Len()
		b.WriteByte(';')
	}
	r.end = b.Len()
	b.WriteString(a.context.After)
	r.text = b.String()
	return r
}

// restore gives a text back as it stood in the pattern.
func (c *compiler) restore(text string) string {
	for _, m := range c.metas {
		text = strings.ReplaceAll(text, m.placeholder, m.text)
	}
	return text
}

// note remembers the try that came furthest.
func (c *compiler) note(context string, r rendered, at int) {
	at = min(max(at, r.start), r.end)
	if c.best.tried && at-r.start <= c.best.offset {
		return
	}
	c.best = failure{context: context, offset: at - r.start, text: r.text[r.start:r.end], tried: true}
}

// unparsable says where the best try stopped and what was tried.
func (c *compiler) unparsable() error {
	var names []string
	for _, contexts := range c.ladder() {
		for _, k := range contexts {
			names = append(names, k.Name)
		}
	}
	where := "no context takes exactly this fragment"
	if c.best.tried {
		before := c.restore(c.best.text[:c.best.offset])
		rest := c.restore(c.best.text[c.best.offset:])
		where = fmt.Sprintf("as %s it stops at its end", c.best.context)
		if rest = strings.TrimSpace(rest); rest != "" {
			line := strings.Count(before, "\n") + 1
			column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
			where = fmt.Sprintf("as %s it stops at line %d, column %d, before %q", c.best.context, line, column, shorten(rest))
		}
	}
	return toolerr.New(toolerr.InvalidArgument, toolerr.ReasonPatternUnparsable,
		"pattern %q is no %s code: %s. Tried, each as is and with a semicolon: %s. Give a whole statement, expression, member or declaration",
		shorten(c.source), c.language.ID, where, strings.Join(names, ", "))
}

// shorten cuts a text for a message.
func shorten(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

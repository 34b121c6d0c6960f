package pattern

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// compileBudget bounds all tries to parse one fragment.
const compileBudget = 5 * time.Second

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
	pieces, metas := split(fragment, false)
	if len(pieces) == 1 && pieces[0].meta != nil {
		return nil, tooBroad(fragment)
	}
	c := &compiler{language: language, source: fragment, pieces: pieces, metas: metas, left: compileBudget}
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
	left     time.Duration // of the budget
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
	// operators writes each $$NAME as an operator, where a name is no code.
	operators bool
}

// operator stands for $$NAME in the place of a token.
const operator = "+"

// runForms are the ways to write a run: bare, as a statement, as a field or
// member declaration.
var runForms = []string{"%s", "%s;", "int %s;", "var %s;"}

// climb tries the ladder: the common contexts as is, then with a semicolon of
// ours, then the rarer ones likewise; in each context also with the forms and
// the tolerance for runs that stand where the grammar takes nothing of the
// kind. All of a group are tried as is before any semicolon, because in some
// languages one turns an expression into a declaration: C reads "a * b;" as one.
func (c *compiler) climb(ctx context.Context) (*Pattern, error) {
	var fallback *Pattern
	for a := range c.attempts() {
		p, err := c.try(ctx, a)
		switch {
		case err != nil:
			return nil, err
		case p == nil:
		case !c.language.IsUnlikely(p.Program[0].Symbol) || p.Program[0].Code != Enter:
			return p, nil
		case fallback == nil:
			fallback = p
		}
	}
	if fallback != nil {
		return fallback, nil
	}
	return nil, c.unparsable()
}

// attempts lists the ways to read the fragment, in the order of the ladder.
func (c *compiler) attempts() iter.Seq[attempt] {
	forms := c.forms()
	operators := []bool{false}
	if slices.ContainsFunc(c.metas, func(m *metavar) bool { return m.any }) {
		operators = append(operators, true)
	}
	return func(yield func(attempt) bool) {
		for _, asOperators := range operators {
			for _, contexts := range c.ladder() {
				for _, semicolon := range []bool{false, true} {
					for _, k := range contexts {
						a := attempt{context: k, semicolon: semicolon, operators: asOperators}
						if !yieldForms(a, forms, yield) {
							return
						}
					}
				}
			}
		}
	}
}

// yieldForms passes an attempt on with every form of its runs, and then with
// tolerance for them.
func yieldForms(a attempt, forms [][]string, yield func(attempt) bool) bool {
	for _, a.lenient = range []bool{false, true} {
		for _, a.forms = range forms {
			if !yield(a) {
				return false
			}
		}
	}
	return true
}

// ladder returns the contexts that the fragment may stand in, those up to
// declaration apart from the rarer ones: a guard without its semicolon is a
// statement before it is an element of a collection.
func (c *compiler) ladder() [][]syntax.Context {
	var common, rare []syntax.Context
	declarations := slices.IndexFunc(c.language.Contexts, func(k syntax.Context) bool { return k.Name == "declaration" })
	for i, k := range c.language.Contexts {
		switch {
		case !k.Takes(c.source):
		case i <= declarations || declarations < 0:
			common = append(common, k)
		default:
			rare = append(rare, k)
		}
	}
	return [][]syntax.Context{common, rare}
}

// forms lists how the places of runs may be written, the plain way first. One
// inside round or square brackets is always bare: an argument, a parameter and
// an element may be a name. The others are all written in one way, since what
// is a member is a statement too.
func (c *compiler) forms() [][]string {
	inBrackets := c.runsInBrackets()
	var out [][]string
	for _, form := range runForms {
		list := make([]string, len(inBrackets))
		for i, bare := range inBrackets {
			list[i] = form
			if bare {
				list[i] = runForms[0]
			}
		}
		if len(out) > 0 && slices.Equal(list, out[0]) {
			break
		}
		out = append(out, list)
	}
	return out
}

// runsInBrackets tells for each place of a run whether the bracket that opens
// last before it is a round or a square one. Brackets in strings are taken for
// others; they come in pairs there as well, or the worst is a try less.
func (c *compiler) runsInBrackets() []bool {
	var out []bool
	var open []rune
	for _, p := range c.pieces {
		for _, r := range p.text {
			switch r {
			case '(', '[', '{':
				open = append(open, r)
			case ')', ']', '}':
				open = open[:max(0, len(open)-1)]
			}
		}
		if p.meta != nil && p.meta.multi {
			out = append(out, len(open) > 0 && open[len(open)-1] != '{')
		}
	}
	return out
}

// try reads the fragment in one way; nil when it is not taken. An error is
// not the fragment's fault, or makes further tries pointless.
func (c *compiler) try(ctx context.Context, a attempt) (*Pattern, error) {
	r := c.render(a)
	started := time.Now()
	tree, err := c.language.Parse(ctx, []byte(r.text), c.left)
	c.left -= time.Since(started)
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
		return nil, nil //nolint:nilnil // not taken
	}
	roots, ok := e.roots()
	if !ok {
		return nil, nil //nolint:nilnil // not taken
	}
	return e.emit(roots)
}

// rendered is the text that is parsed for an attempt.
type rendered struct {
	text       string
	start, end int // of the fragment, with our semicolon
	// metas finds a metavariable by the text that stands for it.
	metas map[string]*metavar
	// operators are the metavariables that are written as operators, by offset.
	operators map[int]*metavar
	// semicolon is the offset of the one that we put at the end, or -1.
	semicolon int
	// semicolons are those of ours, wherever they stand.
	semicolons []int
}

func (c *compiler) render(a attempt) rendered {
	r := rendered{metas: map[string]*metavar{}, operators: map[int]*metavar{}, semicolon: -1}
	var b strings.Builder
	b.WriteString(a.context.Before)
	r.start = b.Len()
	place := 0
	for _, p := range c.pieces {
		if p.meta == nil {
			b.WriteString(strings.ReplaceAll(p.text, "\n", "\n"+a.context.Indent))
			continue
		}
		if a.operators && p.meta.any {
			r.operators[b.Len()] = p.meta
			b.WriteString(operator)
			continue
		}
		text := p.meta.placeholder
		if p.meta.multi {
			text = fmt.Sprintf(a.forms[place], text)
			// A semicolon that the pattern has there goes with the run.
			r.metas[text+";"] = p.meta
			// So does a comma that the parser could not place either.
			r.metas[text+","] = p.meta
			if declared, ok := strings.CutSuffix(text, ";"); ok {
				// Where the semicolon is a sibling, it is as little a part of the
				// pattern as one that we put at the end.
				r.metas[declared] = p.meta
				r.semicolons = append(r.semicolons, b.Len()+len(declared))
			}
			place++
		}
		r.metas[text] = p.meta
		b.WriteString(text)
	}
	if a.semicolon {
		r.semicolon = b.Len()
		r.semicolons = append(r.semicolons, r.semicolon)
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

// isPlaceholder tells whether a text stands for a metavariable.
func (c *compiler) isPlaceholder(text string) bool {
	return slices.ContainsFunc(c.metas, func(m *metavar) bool { return m.placeholder == text })
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

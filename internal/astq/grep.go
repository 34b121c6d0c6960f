package astq

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// Bounds of ast_grep's results.
const (
	// DefaultMaxResults is how many matches are returned when nothing is said
	// (spec.md, "ast_grep").
	DefaultMaxResults = 50
	// MaxMaxResults is the most that may be asked for.
	MaxMaxResults = 1000
	// maxMatchText is how many bytes of a match, and of a capture, are
	// returned.
	maxMatchText = 2000
)

// GrepQuery is what ast_grep takes. Path and Language may be empty.
type GrepQuery struct {
	Pattern    string
	Path       string
	Language   string
	MaxResults *int32 // DefaultMaxResults when nil
}

// Reading says how a pattern was understood.
type Reading struct {
	Language string
	Context  string
	Kinds    []string
}

// Span is a piece of a file, by bytes and by 1-based lines and columns;
// columns count code points.
type Span struct {
	StartByte, EndByte     int
	StartLine, StartColumn int
	EndLine, EndColumn     int
}

// Found is one match.
type Found struct {
	Path     string
	Span     Span
	LineText string // of the first line, as lineAround has it
	Text     string // cut at maxMatchText bytes
	Cut      bool   // whether Text was
	Captures []Captured
}

// Captured is what one metavariable stands for in a match.
type Captured struct {
	Name  string
	Multi bool
	Text  string // cut at maxMatchText bytes
	Span  Span
}

// GrepResult is the answer of ast_grep.
type GrepResult struct {
	Query   GrepQuery
	Matches []Found
	// Omitted are the matches found and not returned.
	Omitted int
	Reading Reading
	Stats   Stats
}

// Grep finds code by shape. All matches are counted; the first MaxResults in
// path order are returned, whatever order the files were searched in. It
// writes nothing.
func (s *Session) Grep(ctx context.Context, q GrepQuery) (*GrepResult, error) {
	limit := DefaultMaxResults
	if q.MaxResults != nil {
		limit = int(*q.MaxResults)
	}
	if limit < 1 || limit > MaxMaxResults {
		return nil, toolerr.BadArgument("max_results", "must be between 1 and %d, got %d", MaxMaxResults, limit)
	}
	prepared, err := s.prepare(ctx, q.Pattern, q.Path, q.Language)
	if err != nil {
		return nil, err
	}
	c := &collector{limit: limit}
	stats, err := s.run(ctx, prepared, c.see)
	if err != nil {
		return nil, err
	}
	found := c.first()
	return &GrepResult{
		Query: q, Matches: found, Omitted: c.total - len(found), Stats: stats,
		Reading: Reading{Language: prepared.language.ID, Context: prepared.pattern.Context, Kinds: prepared.pattern.Kinds},
	}, nil
}

// collector keeps the first matches in path order while files come in any
// order. Memory stays bounded by the limit, not by the number of matches: a
// file past the point where earlier files fill the limit is counted and not
// kept.
type collector struct {
	limit int

	mu    sync.Mutex
	total int
	files []collected // sorted by index; their matches reach limit at most once
}

type collected struct {
	index   int
	matches []Found
}

func (c *collector) see(_ context.Context, f foundFile) error {
	if !c.wanted(f.index, len(f.matches)) {
		return nil
	}
	lines := workspace.NewLines(f.tree.Source())
	kept := f.matches[:min(len(f.matches), c.limit)]
	file := collected{index: f.index, matches: make([]Found, len(kept))}
	for i, m := range kept {
		file.matches[i] = newFound(f.path, f.tree, lines, m)
	}
	c.keep(file)
	return nil
}

// wanted counts a file's matches and says whether any may be among the first.
func (c *collector) wanted(index, matches int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += matches
	before := 0
	for _, f := range c.files {
		if f.index < index {
			before += len(f.matches)
		}
	}
	return before < c.limit
}

// keep inserts a file and drops those that it pushes past the limit.
func (c *collector) keep(file collected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _ := slices.BinarySearchFunc(c.files, file.index, func(f collected, index int) int { return cmp.Compare(f.index, index) })
	c.files = slices.Insert(c.files, at, file)
	sum := 0
	for i, f := range c.files {
		if sum >= c.limit {
			c.files = slices.Delete(c.files, i, len(c.files))
			return
		}
		sum += len(f.matches)
	}
}

func (c *collector) first() []Found {
	var out []Found
	for _, f := range c.files {
		out = append(out, f.matches[:min(len(f.matches), c.limit-len(out))]...)
	}
	return out
}

func newFound(path string, tree *syntax.Tree, lines *workspace.Lines, m match.Match) Found {
	source := tree.Source()
	text, cut := cutText(string(source[m.Span.Start:m.Span.End]), maxMatchText)
	span := newSpan(lines, m.Span)
	found := Found{Path: path, Span: span, LineText: lineAround(source, lines, m.Span.Start), Text: text, Cut: cut}
	for _, capture := range m.Captures {
		captured, _ := cutText(string(source[capture.Span.Start:capture.Span.End]), maxMatchText)
		found.Captures = append(found.Captures, Captured{
			Name: capture.Name, Multi: capture.Multi, Text: captured, Span: newSpan(lines, capture.Span),
		})
	}
	return found
}

func newSpan(lines *workspace.Lines, span syntax.Span) Span {
	startLine, startColumn := lines.UserPosition(span.Start)
	endLine, endColumn := lines.UserPosition(span.End)
	return Span{
		StartByte: span.Start, EndByte: span.End,
		StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn,
	}
}

package astq

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/rewrite"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace"
)

// EditQuery is what ast_edit takes. Path and Language may be empty; an empty
// Rewrite deletes the matches.
type EditQuery struct {
	Pattern  string
	Rewrite  string
	Path     string
	Language string
}

// FileEdit is one file of a proposal, or of an accepted one.
type FileEdit struct {
	Path         string
	Replacements int
	// Diff is the unified diff; empty after an accept.
	Diff string
}

// Proposal is the answer of ast_edit: what accepting it would do.
type Proposal struct {
	ID           string
	Files        []FileEdit // in path order
	Replacements int
	// Nested are the matches left alone, because they lie in or overlap one
	// that is rewritten.
	Nested int
	// Unchanged are the matches whose rewrite is what stands there already.
	Unchanged int
	// NewErrors are syntax errors that the rewrite brings in; their lines are
	// those of the rewritten file.
	NewErrors []Place
	// LostComments are the comments that stand in a match and in no capture
	// that the rewrite uses: accepting drops them.
	LostComments []Place
	Stats        Stats
}

// Place is a line of a file.
type Place struct {
	Path     string
	Line     int    // 1-based
	LineText string // as lineAround has it
}

// rewritten is one file on its way into a proposal.
type rewritten struct {
	index     int
	file      stagedFile
	diff      string
	nested    int
	unchanged int
	errors    []Place
	lost      []Place
}

// Edit stages a rewrite of every match and writes nothing. Where matches
// nest or overlap, the outermost and then the earlier is rewritten and the
// rest is counted. It is an error when nothing would change, and when the
// search could not see every file in scope in time.
func (s *Session) Edit(ctx context.Context, q EditQuery) (*Proposal, error) {
	prepared, err := s.prepare(ctx, q.Pattern, q.Path, q.Language)
	if err != nil {
		return nil, err
	}
	template, err := rewrite.ParseTemplate(q.Rewrite, prepared.pattern)
	if err != nil {
		return nil, err
	}
	if err := s.writable(prepared.scope); err != nil {
		return nil, err
	}
	w := &rewriter{session: s, language: prepared.language, template: template}
	stats, err := s.run(ctx, prepared, w.see)
	if err != nil {
		return nil, err
	}
	if stats.Incomplete {
		return nil, toolerr.New(toolerr.DeadlineExceeded, toolerr.ReasonLimit,
			"the search ended after %s, before every file was seen, so nothing was staged; narrow path", s.engine.config.SearchTimeout)
	}
	return w.propose(stats)
}

// writable refuses a scope that is a link to a file: at accept it is files that
// are compared and replaced. The walker follows no other link.
func (s *Session) writable(scope string) error {
	target, err := s.ws.FS().Readlink(scope)
	isLink := err == nil
	info, err := s.ws.FS().Stat(scope)
	if isLink && err == nil && !info.IsDir() {
		return toolerr.BadArgument("path", "%q is a symlink to %q; name the file itself", scope, target)
	}
	return nil
}

// rewriter collects the rewritten files of one edit.
type rewriter struct {
	session  *Session
	language *syntax.Language
	template *rewrite.Template

	mu    sync.Mutex
	files []rewritten
	bytes int64
}

func (w *rewriter) see(ctx context.Context, f foundFile) error {
	out, err := w.rewrite(ctx, f)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = append(w.files, out)
	w.bytes += int64(len(out.file.after))
	return w.fits(w.bytes)
}

// fits refuses an edit that could not be staged.
func (w *rewriter) fits(bytes int64) error {
	limit := w.session.engine.config.MaxStagedBytes
	if bytes <= limit {
		return nil
	}
	return toolerr.Limit("max_staged_bytes", limit,
		"the rewritten files hold more than %d bytes, the limit of a run's staged edits; narrow path", limit)
}

func (w *rewriter) rewrite(ctx context.Context, f foundFile) (rewritten, error) {
	source := f.tree.Source()
	kept, nested := outermost(f.matches)
	out := rewritten{index: f.index, nested: nested, file: stagedFile{path: f.path, before: sha256.Sum256(source)}}
	literals := f.tree.LiteralSpans()
	var edits []workspace.Edit
	var changed []match.Match
	var size int64
	for _, m := range kept {
		if err := ctx.Err(); err != nil {
			return rewritten{}, err
		}
		text := w.template.Expand(source, m, literals)
		if bytes.Equal(text, source[m.Span.Start:m.Span.End]) {
			out.unchanged++
			continue
		}
		// Checked here too, so that a long rewrite of many matches is refused
		// before it is built.
		if err := w.fits(size); err != nil {
			return rewritten{}, err
		}
		size += int64(len(text))
		changed = append(changed, m)
		edits = append(edits, workspace.Edit{Start: m.Span.Start, End: m.Span.End, New: text})
	}
	out.file.replacements = len(edits)
	if len(edits) == 0 {
		return out, nil
	}
	after, err := workspace.ApplyEdits(source, edits)
	if err != nil {
		return rewritten{}, err
	}
	out.file.after = after
	out.lost = w.lostComments(f, changed)
	if out.diff, err = rewrite.Diff(f.path, source, edits); err != nil {
		return rewritten{}, err
	}
	out.errors, err = w.newErrors(ctx, f, after, edits)
	return out, err
}

// outermost selects the matches to rewrite: in source order, a match that
// starts before the end of the one before it is left alone. Matches come in
// pre-order, so of nested ones the outermost is first.
func outermost(matches []match.Match) (kept []match.Match, left int) {
	end := -1
	for _, m := range matches {
		if m.Span.Start < end {
			left++
			continue
		}
		kept = append(kept, m)
		end = m.Span.End
	}
	return kept, left
}

// lostComments finds the comments that the rewrite of some matches, in source
// order, does not put back.
func (w *rewriter) lostComments(f foundFile, changed []match.Match) []Place {
	lines := workspace.NewLines(f.tree.Source())
	var out []Place
	for _, comment := range f.tree.Comments() {
		i := sort.Search(len(changed), func(i int) bool { return changed[i].Span.End >= comment.End })
		if i == len(changed) || changed[i].Span.Start > comment.Start || w.keeps(changed[i], comment) {
			continue
		}
		out = append(out, newPlace(f.path, f.tree.Source(), lines, comment.Start))
	}
	return out
}

func (w *rewriter) keeps(m match.Match, comment syntax.Span) bool {
	for _, c := range m.Captures {
		if w.template.Uses(c.Name) && c.Span.Start <= comment.Start && comment.End <= c.Span.End {
			return true
		}
	}
	return false
}

// newErrors parses the rewritten file and reports the syntax errors on lines
// that had fewer before.
func (w *rewriter) newErrors(ctx context.Context, f foundFile, after []byte, edits []workspace.Edit) ([]Place, error) {
	tree, err := w.session.engine.parse(ctx, w.language, after)
	if errors.Is(err, syntax.ErrTimeout) {
		return nil, toolerr.New(toolerr.DeadlineExceeded, toolerr.ReasonLimit,
			"the rewritten %s takes more than %s to parse, so it cannot be checked and nothing was staged; leave it out of path",
			f.path, w.session.engine.config.ParseTimeout)
	}
	if err != nil {
		return nil, err
	}
	lines := workspace.NewLines(after)
	known := map[int]int{} // old errors, by the line that theirs is now
	for _, e := range f.tree.Errors() {
		known[lines.LineAt(moved(e.Start, edits))]++
	}
	var out []Place
	for _, e := range tree.Errors() {
		place := newPlace(f.path, after, lines, e.Start)
		if known[place.Line] > 0 {
			known[place.Line]--
			continue
		}
		out = append(out, place)
	}
	return out, nil
}

// moved returns where an offset lies after some edits, which are in order;
// inside one, it is where that begins.
func moved(offset int, edits []workspace.Edit) int {
	shift := 0
	for _, e := range edits {
		if offset < e.End {
			return min(offset, e.Start) + shift
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return offset + shift
}

func newPlace(path string, source []byte, lines *workspace.Lines, offset int) Place {
	return Place{Path: path, Line: lines.LineAt(offset), LineText: lineAround(source, lines, offset)}
}

// propose stages what was collected.
func (w *rewriter) propose(stats Stats) (*Proposal, error) {
	slices.SortFunc(w.files, func(a, b rewritten) int { return a.index - b.index })
	p := &Proposal{Stats: stats}
	var staged []stagedFile
	for _, f := range w.files {
		p.Nested += f.nested
		p.Unchanged += f.unchanged
		if f.file.replacements == 0 {
			continue
		}
		p.Replacements += f.file.replacements
		p.NewErrors = append(p.NewErrors, f.errors...)
		p.LostComments = append(p.LostComments, f.lost...)
		p.Files = append(p.Files, FileEdit{Path: f.file.path, Replacements: f.file.replacements, Diff: f.diff})
		staged = append(staged, f.file)
	}
	if len(staged) == 0 {
		return nil, nothingToStage(p)
	}
	var err error
	p.ID, err = w.session.stage(staged, p.Replacements)
	return p, err
}

func nothingToStage(p *Proposal) error {
	if p.Unchanged > 0 {
		return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonNoMatches,
			"nothing was staged: the rewrite of each of the %s is what stands there already", count(p.Unchanged, "match", "matches"))
	}
	return toolerr.New(toolerr.FailedPrecondition, toolerr.ReasonNoMatches, "nothing was staged: %s", p.Stats.noMatches())
}

package astq

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolsd/toolsd/internal/workspace/walk"
)

// Bounds of what a model reads.
const (
	// maxTextLines is how many lines of one match are shown.
	maxTextLines = 8
	// maxTextLine is how many bytes are shown of one line of a match that spans
	// several, and of a diff.
	maxTextLine = 500
	// maxDiffLines is how many lines of a proposal's diffs are shown.
	maxDiffLines = 400
	// maxPlaces is how many new syntax errors, and how many lost comments, are
	// shown.
	maxPlaces = 10
)

// Text renders the matches for a model: "path:line: source", in path order.
func (r *GrepResult) Text() string {
	var b strings.Builder
	total := len(r.Matches) + r.Omitted
	if total == 0 {
		fmt.Fprintf(&b, "%s\n", r.Stats.noMatches())
		fmt.Fprintf(&b, "The pattern was read as %s.\n", r.Reading)
		return b.String()
	}
	fmt.Fprintf(&b, "%s in %s, pattern read as %s.", count(total, "match", "matches"), count(r.Stats.Matched, "file", "files"), r.Reading)
	if r.Stats.Incomplete {
		b.WriteString(" The search ran out of time: there may be more; narrow path.")
	}
	b.WriteByte('\n')
	r.Stats.writeMissed(&b)
	for _, m := range r.Matches {
		m.write(&b)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "… %d more; raise max_results or narrow path\n", r.Omitted)
	}
	return b.String()
}

// String renders how a pattern was understood.
func (r Reading) String() string { return fmt.Sprintf("%s %s", r.Language, r.Context) }

func (f *Found) write(b *strings.Builder) {
	if f.Span.StartLine == f.Span.EndLine {
		fmt.Fprintf(b, "%s:%d: %s\n", f.Path, f.Span.StartLine, strings.TrimSpace(f.LineText))
		return
	}
	fmt.Fprintf(b, "%s:%d-%d:\n", f.Path, f.Span.StartLine, f.Span.EndLine)
	lines := strings.Split(f.Text, "\n")
	lines[0] = leading(f.LineText) + lines[0]
	for i, line := range lines {
		if i == maxTextLines {
			fmt.Fprintf(b, "    … %s\n", count(f.Span.EndLine-f.Span.StartLine+1-maxTextLines, "more line", "more lines"))
			return
		}
		fmt.Fprintf(b, "    %s\n", shortLine(strings.TrimRight(line, "\r")))
	}
}

func leading(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// Text renders the proposal for a model: what would change, the diff, and
// what to do next.
func (p *Proposal) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "(proposed) %s in %s. Nothing is written yet: call resolve with edit_id %q and action \"accept\" or \"discard\".\n",
		count(p.Replacements, "replacement", "replacements"), count(len(p.Files), "file", "files"), p.ID)
	if p.Nested > 0 {
		fmt.Fprintf(&b, "%s left alone, inside or overlapping another; after accepting, run ast_edit again for them.\n", count(p.Nested, "match", "matches"))
	}
	if p.Unchanged > 0 {
		fmt.Fprintf(&b, "%s left alone, because the rewrite is what stands there already.\n", count(p.Unchanged, "match", "matches"))
	}
	p.Stats.writeMissed(&b)
	writePlaces(&b, "Warning: the result has %s that it did not have before", "syntax error", "syntax errors", p.NewErrors)
	writePlaces(&b, "Warning: the rewrite drops %s", "comment", "comments", p.LostComments)
	p.writeDiffs(&b)
	return b.String()
}

// writePlaces lists some places under a headline with their number.
func writePlaces(b *strings.Builder, headline, one, many string, places []Place) {
	if len(places) == 0 {
		return
	}
	fmt.Fprintf(b, headline+":\n", count(len(places), one, many))
	for i, p := range places {
		if i == maxPlaces {
			fmt.Fprintf(b, "  … %d more\n", len(places)-maxPlaces)
			return
		}
		fmt.Fprintf(b, "  %s:%d: %s\n", p.Path, p.Line, strings.TrimSpace(p.LineText))
	}
}

// writeDiffs shows diffs while their lines fit, and says what is left. Long
// lines are cut: this is to read, the whole diff is in the file's own field.
func (p *Proposal) writeDiffs(b *strings.Builder) {
	left := maxDiffLines
	for i, f := range p.Files {
		total := strings.Count(f.Diff, "\n")
		shown := min(total, left)
		for _, line := range strings.SplitN(f.Diff, "\n", shown+1)[:shown] {
			b.WriteString(shortLine(line))
			b.WriteByte('\n')
		}
		if left -= shown; shown == total {
			continue
		}
		fmt.Fprintf(b, "… %s of this file", count(total-shown, "more line", "more lines"))
		if rest := p.Files[i+1:]; len(rest) > 0 {
			replacements := 0
			for _, f := range rest {
				replacements += f.Replacements
			}
			fmt.Fprintf(b, ", and %s with %s", count(len(rest), "more file", "more files"), count(replacements, "replacement", "replacements"))
		}
		b.WriteByte('\n')
		return
	}
}

// Text renders the outcome for a model.
func (r *Resolution) Text() string {
	if r.Action == Discard {
		return fmt.Sprintf("Discarded %s; nothing was written.\n", r.ID)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Accepted %s: wrote %s in %s.\n", r.ID,
		count(r.Replacements, "replacement", "replacements"), count(len(r.Files), "file", "files"))
	const most = 50
	for i, f := range r.Files {
		if i == most {
			fmt.Fprintf(&b, "… %s\n", count(len(r.Files)-most, "more file", "more files"))
			break
		}
		fmt.Fprintf(&b, "  %s (%d)\n", f.Path, f.Replacements)
	}
	return b.String()
}

// noMatches says what a search that found nothing has seen, so that its
// silence is not taken for more than it is.
func (s Stats) noMatches() string {
	skipped := s.skippedText(slices.Collect(maps.Keys(s.Skipped)))
	if s.Searched == 0 && skipped == "" && !s.Incomplete {
		return "No matches: there is no file of the language in scope."
	}
	text := fmt.Sprintf("No matches in %s searched", count(s.Searched, "file", "files"))
	if s.Searched > 0 {
		text += fmt.Sprintf(" (%d of them hold every word of the pattern)", s.Candidates)
	}
	if skipped != "" {
		text += "; passed over: " + skipped
	}
	if s.Incomplete {
		text += "; the time ran out before every file was seen, so narrow path"
	}
	return text + "."
}

// writeMissed tells of what the caller may have meant to be searched and was
// not, as opposed to what is passed over by rule.
func (s Stats) writeMissed(b *strings.Builder) {
	missed := []string{walk.TooLarge, walk.Unreadable, walk.Vanished, skipTimedOut, skipTooComplex}
	if text := s.skippedText(missed); text != "" {
		fmt.Fprintf(b, "Not searched: %s.\n", text)
	}
}

// skippedText counts what was passed over for some reasons, the most first.
func (s Stats) skippedText(reasons []string) string {
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Skipped[b], s.Skipped[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		if n := s.Skipped[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(reason, "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// cutText cuts at a rune's boundary.
func cutText(s string, most int) (text string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}

// shortLine cuts a line for a model and says so.
func shortLine(s string) string {
	text, cut := cutText(s, maxTextLine)
	if !cut {
		return s
	}
	return fmt.Sprintf("%s … (%d more bytes)", text, len(s)-len(text))
}

func joinCapped(items []string, most int) string {
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s … %d more", strings.Join(items[:most], ", "), len(items)-most)
}

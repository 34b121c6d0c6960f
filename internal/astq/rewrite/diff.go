package rewrite

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff renders replacements as a unified diff of the file, with three lines of
// context; "" when they change nothing. They must be in order and not overlap.
// Bytes are kept as they are, a carriage return too, so that patch and git
// apply take it.
//
// Only the lines that a replacement touches are compared, so the cost is that
// of the file's size and of the replacements, however many there are.
func Diff(path string, source []byte, replacements []Replacement) (string, error) {
	d := differ{source: source, line: 1, toLine: 1}
	for len(replacements) > 0 {
		region, n := wholeLines(source, replacements)
		if err := d.region(region, replacements[:n]); err != nil {
			return "", fmt.Errorf("diff of %q: %w", path, err)
		}
		replacements = replacements[n:]
	}
	d.finish()
	if d.out.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n%[2]s", path, d.out.String()), nil
}

// wholeLines returns the lines that the first replacement touches, and those
// of the n-1 after it that touch the same.
func wholeLines(source []byte, replacements []Replacement) (region syntax.Span, n int) {
	region = linesOf(source, replacements[0].Span)
	n = 1
	for n < len(replacements) && replacements[n].Span.Start < region.End {
		region.End = max(region.End, linesOf(source, replacements[n].Span).End)
		n++
	}
	return region, n
}

func linesOf(source []byte, span syntax.Span) syntax.Span {
	start := bytes.LastIndexByte(source[:span.Start], '\n') + 1
	end := len(source)
	if i := bytes.IndexByte(source[span.End:], '\n'); i >= 0 {
		end = span.End + i + 1
	}
	return syntax.Span{Start: start, End: end}
}

// differ writes hunks, going through the source once.
type differ struct {
	source []byte
	at     int // what is before it is in a hunk, or between two
	line   int // of at, in the source
	toLine int // of at, in the result

	hunk hunk
	out  strings.Builder
}

// hunk is the one being written; none while its body is empty.
type hunk struct {
	fromLine, toLine   int
	fromCount, toCount int
	body               strings.Builder
}

// region adds the changes of some lines.
func (d *differ) region(region syntax.Span, replacements []Replacement) error {
	inside := make([]Replacement, len(replacements))
	for i, r := range replacements {
		inside[i] = Replacement{Span: syntax.Span{Start: r.Span.Start - region.Start, End: r.Span.End - region.Start}, Text: r.Text}
	}
	before := d.source[region.Start:region.End]
	after, err := Apply(before, inside)
	if err != nil {
		return err
	}
	for _, e := range udiff.Lines(string(before), string(after)) {
		d.change(region.Start+e.Start, region.Start+e.End, e.New)
	}
	return nil
}

// change replaces whole lines.
func (d *differ) change(start, end int, text string) {
	d.goTo(start)
	for line := range bytes.Lines(d.source[start:end]) {
		d.hunk.write('-', line)
		d.hunk.fromCount++
		d.line++
	}
	for line := range strings.Lines(text) {
		d.hunk.write('+', []byte(line))
		d.hunk.toCount++
		d.toLine++
	}
	d.at = end
}

// goTo goes on to the next change: in the same hunk, when not more lines are
// between the two than both would show, or in one of its own.
func (d *differ) goTo(offset int) {
	between := d.source[d.at:offset]
	lines := bytes.Count(between, []byte("\n"))
	if d.hunk.open() && lines <= 2*contextLines {
		d.same(between)
		return
	}
	d.finish()
	context := lastLines(d.source[d.at:offset], contextLines)
	passed := bytes.Count(d.source[d.at:offset-len(context)], []byte("\n"))
	d.line += passed
	d.toLine += passed
	d.hunk.fromLine, d.hunk.toLine = d.line, d.toLine
	d.same(context)
}

// same adds unchanged lines to the hunk.
func (d *differ) same(text []byte) {
	for line := range bytes.Lines(text) {
		d.hunk.write(' ', line)
		d.hunk.fromCount++
		d.hunk.toCount++
		d.line++
		d.toLine++
	}
}

// finish ends the hunk, if there is one, with the lines that follow it.
func (d *differ) finish() {
	if !d.hunk.open() {
		return
	}
	context := firstLines(d.source[d.at:], contextLines)
	d.same(context)
	d.at += len(context)
	h := &d.hunk
	fmt.Fprintf(&d.out, "@@ -%s +%s @@\n%s", hunkRange(h.fromLine, h.fromCount), hunkRange(h.toLine, h.toCount), h.body.String())
	d.hunk = hunk{}
}

func (h *hunk) open() bool { return h.body.Len() > 0 }

func (h *hunk) write(mark byte, line []byte) {
	h.body.WriteByte(mark)
	h.body.Write(line)
	if !bytes.HasSuffix(line, []byte("\n")) {
		h.body.WriteString("\n\\ No newline at end of file\n")
	}
}

// hunkRange is written as diff writes it: one line goes without its count, and
// none is counted from the line before.
func hunkRange(line, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return strconv.Itoa(line)
	default:
		return fmt.Sprintf("%d,%d", line, count)
	}
}

func firstLines(text []byte, n int) []byte {
	end := 0
	for range n {
		i := bytes.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

// lastLines returns the last lines of a text that ends a line.
func lastLines(text []byte, n int) []byte {
	start := len(text)
	for range n {
		if start == 0 {
			break
		}
		start = bytes.LastIndexByte(text[:start-1], '\n') + 1
	}
	return text[start:]
}

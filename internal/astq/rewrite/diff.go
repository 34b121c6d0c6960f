package rewrite

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/workspace"
)

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// Diff renders edits as a unified diff of the file, with three lines of
// context; "" when they change nothing. They must be in order and not overlap.
// Bytes are kept as they are, a carriage return too, so that patch and git
// apply take it.
//
// Only the lines that an edit touches are compared, so the cost is that of the
// file's size and of the edits, however many there are.
func Diff(path string, source []byte, edits []workspace.Edit) (string, error) {
	d := differ{source: source, line: 1, toLine: 1}
	for len(edits) > 0 {
		region, n := wholeLines(source, edits)
		if err := d.region(region, edits[:n]); err != nil {
			return "", fmt.Errorf("diff of %q: %w", path, err)
		}
		edits = edits[n:]
	}
	d.finish()
	if d.out.Len() == 0 {
		return "", nil
	}
	return fmt.Sprintf("--- a/%[1]s\n+++ b/%[1]s\n%[2]s", path, d.out.String()), nil
}

// wholeLines returns the lines that the first edit touches, and those of the
// n-1 after it that touch the same.
func wholeLines(source []byte, edits []workspace.Edit) (region syntax.Span, n int) {
	region.Start = bytes.LastIndexByte(source[:edits[0].Start], '\n') + 1
	region.End = lineEnd(source, edits[0].End)
	n = 1
	for n < len(edits) && edits[n].Start < region.End {
		// Not for each edit: a minified file has thousands on one line.
		if end := edits[n].End; end >= region.End {
			region.End = lineEnd(source, end)
		}
		n++
	}
	return region, n
}

// lineEnd returns the offset behind the terminator of an offset's line.
func lineEnd(source []byte, offset int) int {
	if i := bytes.IndexByte(source[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(source)
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
func (d *differ) region(region syntax.Span, edits []workspace.Edit) error {
	inside := make([]workspace.Edit, len(edits))
	for i, e := range edits {
		inside[i] = workspace.Edit{Start: e.Start - region.Start, End: e.End - region.Start, New: e.New}
	}
	before := d.source[region.Start:region.End]
	after, err := workspace.ApplyEdits(before, inside)
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

package server

import (
	"math"
	"unicode/utf8"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/astq"
)

// Caps of what the typed responses carry; the protos' comments name them.
const (
	maxLineText  = 400      // characters
	maxDiffBytes = 64 << 10 // of one file
)

func matchToProto(m *astq.Found) *toolsdv1.AstMatch {
	out := &toolsdv1.AstMatch{
		Location:      &toolsdv1.Location{Path: validUTF8(m.Path), Range: rangeToProto(m.Span), LineText: lineText(m.LineText)},
		Text:          validUTF8(m.Text),
		TextTruncated: m.Cut,
	}
	for _, c := range m.Captures {
		out.Captures = append(out.Captures, &toolsdv1.AstCapture{
			Name: c.Name, Multi: c.Multi, Text: validUTF8(c.Text), Range: rangeToProto(c.Span),
		})
	}
	return out
}

func rangeToProto(s astq.Span) *toolsdv1.Range {
	return &toolsdv1.Range{
		StartLine: int32Of(s.StartLine), StartColumn: int32Of(s.StartColumn),
		EndLine: int32Of(s.EndLine), EndColumn: int32Of(s.EndColumn),
		StartByte: int64(s.StartByte), EndByte: int64(s.EndByte),
	}
}

func fileEditsToProto(files []astq.FileEdit) []*toolsdv1.AstFileEdit {
	out := make([]*toolsdv1.AstFileEdit, len(files))
	for i, f := range files {
		diff, cut := cutDiff(f.Diff)
		out[i] = &toolsdv1.AstFileEdit{
			Path: validUTF8(f.Path), Replacements: int32Of(f.Replacements), Diff: validUTF8(diff), DiffTruncated: cut,
		}
	}
	return out
}

func placesToProto(places []astq.Place) []*toolsdv1.AstPlace {
	out := make([]*toolsdv1.AstPlace, len(places))
	for i, p := range places {
		out[i] = &toolsdv1.AstPlace{Path: validUTF8(p.Path), Line: int32Of(p.Line), LineText: lineText(p.LineText)}
	}
	return out
}

func statsToProto(s astq.Stats) *toolsdv1.SearchStats {
	out := &toolsdv1.SearchStats{
		FilesSearched: int64(s.Searched), FilesParsed: int64(s.Parsed), FilesCandidate: int64(s.Candidates), FilesMatched: int64(s.Matched),
		Incomplete: s.Incomplete, Skipped: map[string]int64{},
	}
	for reason, n := range s.Skipped {
		if n > 0 {
			out.Skipped[reason] = int64(n)
		}
	}
	return out
}

func grammarsToProto(engine *astq.Engine) []*toolsdv1.Grammar {
	var out []*toolsdv1.Grammar
	for _, l := range engine.Languages() {
		out = append(out, &toolsdv1.Grammar{
			Language: l.ID, Version: l.Version, Abi: int32Of(l.ABI), File: validUTF8(l.File),
			Extensions: l.Extensions, Unavailable: validUTF8(l.Unavailable),
		})
	}
	return out
}

// lineText cuts a source line to what the API promises.
func lineText(s string) string {
	s = validUTF8(s)
	count := 0
	for i := range s {
		if count == maxLineText {
			return s[:i]
		}
		count++
	}
	return s
}

func cutDiff(diff string) (string, bool) {
	if len(diff) <= maxDiffBytes {
		return diff, false
	}
	end := maxDiffBytes
	for end > 0 && !utf8.RuneStart(diff[end]) {
		end--
	}
	return diff[:end], true
}

// int32Of narrows a line, a column or a count, all far below the bound since
// larger files are not read.
func int32Of(n int) int32 { return int32(min(n, math.MaxInt32)) } //nolint:gosec // bounded by the min

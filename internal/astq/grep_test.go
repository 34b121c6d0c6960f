package astq_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// calls is a Go file with n calls of f.
func calls(n int) string {
	var b strings.Builder
	b.WriteString("package p\n\nfunc g() {\n")
	for i := range n {
		fmt.Fprintf(&b, "\tf(%d)\n", i)
	}
	b.WriteString("}\n")
	return b.String()
}

func TestGrepText(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		query astq.GrepQuery
	}{
		{"grep_one", map[string]string{"a/b.go": calls(1)}, astq.GrepQuery{Pattern: "f($X)", Language: "go"}},
		{
			"grep_lines",
			map[string]string{
				"a.go": "package p\n\nfunc g() error {\n\tif err := h(); err != nil {\n\t\treturn err\n\t}\n\treturn f(func() {\n\t\ta()\n\t\tb()\n\t\tc()\n\t\td()\n\t\te()\n\t\tf(1)\n\t\tg()\n\t\th()\n\t})\n}\n",
				"b.go": "package p\n\nvar x = f(" + strings.Repeat("a, ", 100) + "é)\n",
			},
			astq.GrepQuery{Pattern: "f($$$A)", Language: "go"},
		},
		{
			"grep_capped",
			map[string]string{"a.go": calls(3), "b.go": calls(37)},
			astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(int32(3))},
		},
		{
			"grep_none",
			map[string]string{
				"a.go": calls(1), "nul.go": "package p\x00", "big.go": "package p\n//" + strings.Repeat("x", 1<<20),
				".gitignore": "out\n", "out/a.go": calls(1), "b.py": "f(1)\n",
			},
			astq.GrepQuery{Pattern: "nothing($X)", Language: "go"},
		},
		{
			"grep_missed",
			map[string]string{"a.go": calls(1), "big.go": "package p\n//" + strings.Repeat("x", 1<<20), ".hidden.go": calls(1)},
			astq.GrepQuery{Pattern: "f($X)", Language: "go"},
		},
		{"grep_no_files", map[string]string{"b.py": "f(1)\n"}, astq.GrepQuery{Pattern: "f($X)", Language: "go"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			golden(t, tt.name, newRoom(t, tt.files).grep(tt.query).Text())
		})
	}
}

// A search without time for a single file says so, and is no failure.
func TestGrepIncomplete(t *testing.T) {
	e := engineWith(t, func(c *astq.Config) { c.SearchTimeout = time.Nanosecond })
	r := openRoom(t, e, t.TempDir())
	r.write(map[string]string{"a.go": calls(1)})
	res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go"})
	if !res.Stats.Incomplete {
		t.Error("the search says that it is complete")
	}
	golden(t, "grep_incomplete", res.Text())
}

// What is returned depends on the paths alone: not on which file is searched
// first (the largest) nor on how the workers interleave.
func TestGrepOrder(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/f%02d.go", i%3, i)] = calls(1 + (i*7)%40)
	}
	r := newRoom(t, files)
	for _, most := range []int32{1, 2, 50, 1000} {
		var first *astq.GrepResult
		for range 20 {
			res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(most)})
			if first == nil {
				first = res
			}
			if diff := cmp.Diff(first, res); diff != "" {
				t.Fatalf("two searches differ:\n%s", diff)
			}
			if first.Text() != res.Text() {
				t.Fatal("two texts differ")
			}
		}
		inOrder(t, first.Matches)
		if total := len(first.Matches) + first.Omitted; total != 820 || len(first.Matches) != min(int(most), 820) {
			t.Errorf("max_results %d returns %d of %d, want %d of 820", most, len(first.Matches), total, min(most, 820))
		}
	}
}

func inOrder(t *testing.T, matches []astq.Found) {
	t.Helper()
	for i := 1; i < len(matches); i++ {
		a, b := matches[i-1], matches[i]
		if a.Path > b.Path || a.Path == b.Path && a.Span.StartByte >= b.Span.StartByte {
			t.Errorf("%s:%d stands before %s:%d", a.Path, a.Span.StartLine, b.Path, b.Span.StartLine)
		}
	}
}

func TestGrepMaxResults(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": calls(60)})
	for most, want := range map[int32]int{1: 1, 59: 59, 60: 60, 1000: 60} {
		res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(most)})
		if len(res.Matches) != want || res.Omitted != 60-want {
			t.Errorf("max_results %d: %d returned and %d omitted, want %d of 60", most, len(res.Matches), res.Omitted, want)
		}
	}
	if res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go"}); len(res.Matches) != astq.DefaultMaxResults {
		t.Errorf("without max_results: %d returned, want %d", len(res.Matches), astq.DefaultMaxResults)
	}
	for _, most := range []int32{-1, 0, 1001} {
		_, err := r.Grep(t.Context(), astq.GrepQuery{Pattern: "f($X)", Language: "go", MaxResults: new(most)})
		refused(t, err, toolerr.ReasonBadArgument, "max_results", "between 1 and 1000", strconv.Itoa(int(most)))
	}
}

func TestGrepPath(t *testing.T) {
	r := newRoom(t, map[string]string{"a/b.go": calls(1), "a/c/d.go": calls(1), "e.go": calls(1), "[x].go": calls(1)})
	must(t, os.Symlink("a", r.path("in")))
	outside := t.TempDir()
	must(t, os.WriteFile(outside+"/x.go", []byte(calls(1)), 0o600))
	must(t, os.Symlink(outside, r.path("out")))
	must(t, syscall.Mkfifo(r.path("pipe.go"), 0o600))
	for path, want := range map[string][]string{
		"":            {"[x].go", "a/b.go", "a/c/d.go", "e.go"},
		".":           {"[x].go", "a/b.go", "a/c/d.go", "e.go"},
		"a":           {"a/b.go", "a/c/d.go"},
		"a/":          {"a/b.go", "a/c/d.go"},
		"a/b.go":      {"a/b.go"},
		"./a/../e.go": {"e.go"},
		"a/*.go":      {"a/b.go"},
		"**/d.go":     {"a/c/d.go"},
		"*/{b,x}.go":  {"a/b.go"},
		"[x].go":      {"[x].go"},
		"in/b.go":     {"in/b.go"},
		r.root:        {"[x].go", "a/b.go", "a/c/d.go", "e.go"},
		r.path("a"):   {"a/b.go", "a/c/d.go"},
		"*.none":      nil,
	} {
		var got []string
		for _, m := range r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go", Path: path}).Matches {
			got = append(got, m.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("path %q (-want +got):\n%s", path, diff)
		}
	}
	for path, reason := range map[string]toolerr.Reason{
		"missing": toolerr.ReasonPathNotFound, "missing.go": toolerr.ReasonPathNotFound, "a/b.go/c.go": toolerr.ReasonPathNotFound, "zz/*.go": toolerr.ReasonPathNotFound,
		"..": toolerr.ReasonOutsideWorkspace, "a/../../x": toolerr.ReasonOutsideWorkspace, "/etc": toolerr.ReasonOutsideWorkspace,
		"../*.go": toolerr.ReasonOutsideWorkspace, outside: toolerr.ReasonOutsideWorkspace, r.root + "x": toolerr.ReasonOutsideWorkspace,
		"out": toolerr.ReasonOutsideWorkspace, "out/x.go": toolerr.ReasonOutsideWorkspace, "out/*.go": toolerr.ReasonOutsideWorkspace,
		"pipe.go": toolerr.ReasonBadArgument, "a\x00b": toolerr.ReasonBadArgument, "[": toolerr.ReasonBadArgument,
	} {
		if _, err := r.Grep(t.Context(), astq.GrepQuery{Pattern: "f($X)", Language: "go", Path: path}); !toolerr.Is(err, reason) {
			t.Errorf("path %q: error %v, want %s", path, err, reason)
		}
	}
}

func TestGrepLanguage(t *testing.T) {
	r := newRoom(t, map[string]string{
		"next.js/x.go": calls(1), "a.go": calls(1), "b.py": "f(1)\n", "script": "#!/usr/bin/env python3\nf(1)\n", "c.h": "int x = f(1);\n", "d.txt": "f(1)\n", "e.JS": "f(1)\n",
	})
	for _, tt := range []struct {
		path, language, want string
		files                []string
	}{
		{"a.go", "", "go", []string{"a.go"}},
		{"script", "", "python", []string{"script"}},
		{"c.h", "", "c", []string{"c.h"}},
		{"c.h", "cpp", "cpp", []string{"c.h"}},
		{"", "cpp", "cpp", []string{"c.h"}},
		{"", "c", "c", []string{"c.h"}},
		{"", "python", "python", []string{"b.py", "script"}},
		{"", "javascript", "javascript", []string{"e.JS"}},
		{"d.txt", "go", "go", []string{"d.txt"}},
		{"*.py", "", "python", []string{"b.py"}},
		{"next.js", "go", "go", []string{"next.js/x.go"}},
	} {
		res, err := r.Grep(t.Context(), astq.GrepQuery{Pattern: "f($X)", Language: tt.language, Path: tt.path})
		if err != nil {
			t.Errorf("path %q, language %q: %v", tt.path, tt.language, err)
			continue
		}
		var files []string
		for _, m := range res.Matches {
			files = append(files, m.Path)
		}
		if res.Reading.Language != tt.want || !cmp.Equal(files, tt.files) {
			t.Errorf("path %q, language %q: %s in %q, want %s in %q", tt.path, tt.language, res.Reading.Language, files, tt.want, tt.files)
		}
	}
	for _, tt := range []struct {
		path, language string
		reason         toolerr.Reason
		says           []string
	}{
		{"", "", toolerr.ReasonLanguageRequired, []string{"dart", "go", "python", "tsx"}},
		{"d.txt", "", toolerr.ReasonLanguageRequired, []string{"d.txt", "rust"}},
		{"", "cobol", toolerr.ReasonUnknownLanguage, []string{`"cobol"`, "dart", "go", "tsx"}},
		{"b.py", "go", toolerr.ReasonBadArgument, []string{"language", "b.py", "python", "go"}},
		{"script", "go", toolerr.ReasonBadArgument, []string{"python"}},
		{"*.py", "go", toolerr.ReasonBadArgument, []string{"language", "*.py", "python", "go"}},
		{"next.js", "", toolerr.ReasonLanguageRequired, []string{"next.js", "javascript"}},
	} {
		_, err := r.Grep(t.Context(), astq.GrepQuery{Pattern: "f($X)", Language: tt.language, Path: tt.path})
		refused(t, err, tt.reason, tt.says...)
	}
}

func TestGrepPassesOver(t *testing.T) {
	r := newRoom(t, map[string]string{
		"broken.go": "package p\n\nfunc g() {\n\tf(1)\n\tif {{{\n}\n", "bad.go": "package p\n\n// \xff\xfe\nvar x = f(\"\xff\")\n",
		"nul.go": "package p\x00\nvar x = f(1)\n", "big.go": "package p\nvar x = f(1)\n//" + strings.Repeat("x", 1<<20),
		"empty.go": "", ".hidden.go": calls(1),
	})
	must(t, syscall.Mkfifo(r.path("pipe.go"), 0o600))
	must(t, os.Symlink("broken.go", r.path("link.go")))
	res := r.grep(astq.GrepQuery{Pattern: "f($X)", Language: "go"})
	var got []string
	for _, m := range res.Matches {
		got = append(got, fmt.Sprintf("%s:%d %s", m.Path, m.Span.StartLine, m.LineText))
	}
	if diff := cmp.Diff([]string{"bad.go:4 var x = f(\"\uFFFD\")", "broken.go:4 \tf(1)"}, got); diff != "" {
		t.Errorf("matches differ (-want +got):\n%s", diff)
	}
	want := astq.Stats{
		Searched: 3, Candidates: 2, Parsed: 2, Matched: 2,
		Skipped: map[string]int{"binary": 1, "too_large": 1, "hidden": 1, "special": 1, "symlink": 1},
	}
	if diff := cmp.Diff(want, res.Stats); diff != "" {
		t.Errorf("stats differ (-want +got):\n%s", diff)
	}
}

func TestGrepSpans(t *testing.T) {
	tests := []struct {
		name, source string
		want         astq.Span
		line         string
	}{
		{"plain", "package p\nvar x = f(1)\n", astq.Span{18, 22, 2, 9, 2, 13}, "var x = f(1)"},
		{"a tab is one column", "package p\nvar\tx = f(1)\n", astq.Span{18, 22, 2, 9, 2, 13}, "var\tx = f(1)"},
		{"an emoji is one column", "package p\nvar x, y = \"😀\", f(1)\n", astq.Span{29, 33, 2, 17, 2, 21}, "var x, y = \"😀\", f(1)"},
		{"CRLF", "package p\r\nvar x = f(\r\n1)\r\n", astq.Span{19, 25, 2, 9, 3, 3}, "var x = f("},
		{"a byte order mark", "\uFEFFpackage p; var x = f(1)\n", astq.Span{22, 26, 1, 20, 1, 24}, "package p; var x = f(1)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t, map[string]string{"a.go": tt.source})
			res := r.grep(astq.GrepQuery{Pattern: "f($X)", Path: "a.go"})
			if len(res.Matches) != 1 {
				t.Fatalf("%d matches", len(res.Matches))
			}
			m := res.Matches[0]
			if m.Span != tt.want || m.LineText != tt.line {
				t.Errorf("span %v of %q, want %v of %q", m.Span, m.LineText, tt.want, tt.line)
			}
			if text := tt.source[m.Span.StartByte:m.Span.EndByte]; m.Text != text {
				t.Errorf("text %q, want %q", m.Text, text)
			}
		})
	}
}

func TestGrepCaptures(t *testing.T) {
	r := newRoom(t, map[string]string{"a.go": "package p\n\nvar x = f(a,\n\tb, \"é\", 4)\nvar y = f(a)\n"})
	res := r.grep(astq.GrepQuery{Pattern: "f($X, $$$REST)", Path: "a.go"})
	want := [][]astq.Captured{
		{
			{Name: "X", Text: "a", Span: astq.Span{21, 22, 3, 11, 3, 12}},
			{Name: "REST", Multi: true, Text: "b, \"é\", 4", Span: astq.Span{25, 35, 4, 2, 4, 11}},
		},
		{
			{Name: "X", Text: "a", Span: astq.Span{47, 48, 5, 11, 5, 12}},
			{Name: "REST", Multi: true, Span: astq.Span{48, 48, 5, 12, 5, 12}},
		},
	}
	var got [][]astq.Captured
	for _, m := range res.Matches {
		got = append(got, m.Captures)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("captures differ (-want +got):\n%s", diff)
	}
}

// The texts of a match and a capture are cut at a character, and say so.
func TestGrepCutsText(t *testing.T) {
	long := strings.Repeat("é", 2000)
	r := newRoom(t, map[string]string{"a.go": "package p\n\nvar x = f(\"" + long + "\")\n"})
	m := r.grep(astq.GrepQuery{Pattern: "f($X)", Path: "a.go"}).Matches[0]
	if want := "f(\"" + long[:1996]; m.Text != want || !m.Cut {
		t.Errorf("text has %d bytes, cut %t, want %d", len(m.Text), m.Cut, len(want))
	}
	if want := "\"" + long[:1998]; m.Captures[0].Text != want {
		t.Errorf("capture has %d bytes, want %d", len(m.Captures[0].Text), len(want))
	}
}

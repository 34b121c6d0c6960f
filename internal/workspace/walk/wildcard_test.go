package walk

import (
	"strings"
	"testing"
	"time"
)

func TestPatternMatchPath(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/*", "a/b", true},
		{"a/*", "a", false},
		{"a/**", "a", false},
		{"a/**", "a/b/c", true},
		{"**/a", "a", true},
		{"**/a", "b/c/a", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b/**/c", "a/b/x/b/y/c", true},
		{"a/**/b/c", "a/b/x/b/c", true},
		{"a/**/b/c", "a/b/x/b/d", false},
		{"**", "a/b", true},
		{"**/**", "a", true},
		{"a**", "ab/c", false},
		{"a*/b", "axy/b", true},
		{"*b*c", "abxbc", true},
		{"*b*c", "abxbd", false},
		{"a//b", "a/b", false},
		{`a\/b`, "a/b", true},
		{"[/]", "/", false},
		{"?", "é", false}, // two bytes, as for git
		{"??", "é", true},
	}
	for _, tt := range tests {
		p, ok := compile(tt.pattern)
		if !ok {
			t.Errorf("compile(%q) failed", tt.pattern)
			continue
		}
		if got := p.matchPath(tt.path); got != tt.want {
			t.Errorf("%q matches %q: %t, want %t", tt.pattern, tt.path, got, tt.want)
		}
	}
	for _, bad := range []string{"[", "[a", "[!", `[\`, `a\`, "[[:nope:]]", "[a-", `[a-\`} {
		if _, ok := compile(bad); ok {
			t.Errorf("compile(%q) succeeded; git lets it match nothing", bad)
		}
	}
}

// TestPatternTime has patterns that take naive backtracking years.
func TestPatternTime(t *testing.T) {
	for pattern, path := range map[string]string{
		strings.Repeat("*a", 500) + "b":       strings.Repeat("a", 4000),
		strings.Repeat("**/a/", 300) + "b":    strings.Repeat("a/", 2000) + "c",
		strings.Repeat("**/*a*/", 300) + "b":  strings.Repeat("xax/", 1000) + "c",
		strings.Repeat("[!b]*", 500) + "b":    strings.Repeat("a", 4000),
		strings.Repeat("/**", 2000) + "/none": strings.Repeat("a/", 2000) + "c",
	} {
		p, ok := compile(strings.TrimPrefix(pattern, "/"))
		if !ok {
			t.Fatalf("compile(%.20q…) failed", pattern)
		}
		start := time.Now()
		if p.matchPath(path) {
			t.Errorf("%.20q… matches %.20q…", pattern, path)
		}
		// Milliseconds are what it takes; the rest is for a busy machine.
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.20q… took %v", pattern, took)
		}
	}
}

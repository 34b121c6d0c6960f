package rewrite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/workspace"
)

func replace(start, end int, text string) workspace.Edit {
	return workspace.Edit{Start: start, End: end, New: []byte(text)}
}

func TestDiff(t *testing.T) {
	numbers := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	tests := []struct {
		name, source string
		edits        []workspace.Edit
		want         string // without the two lines of the file's name
	}{
		{
			"two hunks, the second without a last line break", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj",
			[]workspace.Edit{replace(2, 3, "B1\nB2"), replace(18, 19, "J")},
			"@@ -1,5 +1,6 @@\n a\n-b\n+B1\n+B2\n c\n d\n e\n@@ -7,4 +8,4 @@\n g\n h\n i\n-j\n\\ No newline at end of file\n+J\n\\ No newline at end of file\n",
		},
		{
			"changes that share their context are one hunk", numbers,
			[]workspace.Edit{replace(0, 1, "x"), replace(14, 15, "y")},
			"@@ -1,9 +1,9 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n 9\n",
		},
		{
			"several on a line are one change", "f(a, a)\n",
			[]workspace.Edit{replace(2, 3, "b"), replace(5, 6, "c")},
			"@@ -1 +1 @@\n-f(a, a)\n+f(b, c)\n",
		},
		{
			"lines of a replacement that stay are context", "if a {\n  x\n  y\n}\n",
			[]workspace.Edit{replace(0, 16, "if b {\n  x\n  y\n}")},
			"@@ -1,4 +1,4 @@\n-if a {\n+if b {\n   x\n   y\n }\n",
		},
		{"carriage returns stay", "a\r\nb\r\n", []workspace.Edit{replace(0, 1, "x")}, "@@ -1,2 +1,2 @@\n-a\r\n+x\r\n b\r\n"},
		{"everything goes", "a\n", []workspace.Edit{replace(0, 2, "")}, "@@ -1 +0,0 @@\n-a\n"},
		{"something comes", "", []workspace.Edit{replace(0, 0, "a\n")}, "@@ -0,0 +1 @@\n+a\n"},
		{"nothing changes", "a\n", []workspace.Edit{replace(0, 1, "a")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Diff("x/y.go", []byte(tt.source), tt.edits)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want != "" {
				want = "--- a/x/y.go\n+++ b/x/y.go\n" + want
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if _, err := Diff("f", []byte("abc"), []workspace.Edit{replace(1, 3, ""), replace(2, 3, "")}); err == nil {
		t.Error("overlapping edits have a diff")
	}
}

// TestDiffApplies has git make the result of the diff of random edits.
func TestDiffApplies(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		source := randomText(r, 60)
		var edits []workspace.Edit
		for at := r.IntN(20); at < len(source); at += 1 + r.IntN(40) {
			end := min(len(source), at+r.IntN(12))
			edits = append(edits, replace(at, end, string(randomText(r, r.IntN(3)))))
			at = end
		}
		want, err := workspace.ApplyEdits(source, edits)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := Diff("f", source, edits)
		if err != nil {
			t.Fatal(err)
		}
		if got := gitApply(t, dir, source, diff); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: git apply gave\n%q\nwant\n%q\nby\n%s", seed, got, want, diff)
		}
	}
}

func randomText(r *rand.Rand, lines int) []byte {
	var b bytes.Buffer
	for range lines {
		b.WriteString([]string{"a", "bb", "", "{", "    }", "x\r"}[r.IntN(6)])
		if r.IntN(8) > 0 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func gitApply(t *testing.T, dir string, source []byte, diff string) []byte {
	t.Helper()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "--allow-empty", "-")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v: %s\nof\n%s", err, out, diff)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return got
}

// TestDiffTime has as many edits as a generated file may give.
func TestDiffTime(t *testing.T) {
	const n = 30_000
	line := "        call(value + other);\n        nothing to see\n"
	source := []byte(strings.Repeat(line, n))
	var edits []workspace.Edit
	for i := range n {
		at := i*len(line) + 8
		edits = append(edits, replace(at, at+4, fmt.Sprint("call", i)))
	}
	start := time.Now()
	if _, err := Diff("f", source, edits); err != nil {
		t.Fatal(err)
	}
	// It takes some 0.1 s; quadratic, it took 20.
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

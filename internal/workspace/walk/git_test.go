package walk

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository is a work tree in which git's opinion can be had.
type repository struct {
	root *os.Root
	dir  string
}

func newRepository(tb testing.TB, files []string) *repository {
	tb.Helper()
	root, dir := tree(tb, files...)
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		tb.Fatalf("git init: %v: %s", err, out)
	}
	return &repository{root: root, dir: dir}
}

// ignore writes an ignore file.
func (r *repository) ignore(tb testing.TB, name, content string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// git lists the files that git would add, except for hidden ones.
func (r *repository) git(tb testing.TB) []string {
	tb.Helper()
	cmd := exec.Command("git", "-C", r.dir, "ls-files", "--others", "--exclude-standard", "-z")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "XDG_CONFIG_HOME="+r.dir)
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git ls-files: %v", err)
	}
	names := []string{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !strings.HasPrefix(filepath.Base(name), ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r *repository) compare(tb testing.TB, rules ...string) {
	tb.Helper()
	l, err := List(tb.Context(), r.root, "", Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(r.git(tb), paths(l)); diff != "" {
		tb.Errorf("with %q files differ (-git +ours):\n%s", rules, diff)
	}
}

// TestAgainstGit compares what single patterns, pairs and exceptions leave over.
func TestAgainstGit(t *testing.T) {
	patterns := []string{
		"a", "/a", "a/", "*.o", "!a.o", "a/b", "/a/b", "a/*", "a/**", "**/b", "a/**/c", "**", "*", "a*", "?", "[ab]", "[!a]", "[^a]*", `\!x`, `\#x`, "#x",
		"a b", `a\ `, "a ", "{a,b}", "a.{o,c}", "**/a/**", "b/../a", "a**", "**a", "/**/b", "/*", "/*/b", "*/b", `\a`, "[a-c]", "[", "a[", "!", "/", "!/", "x/", "**/x/",
		"[[:alpha:]]", "a//b", "./a", `a\`, `*\`, "[]a]", "[a/b]",
	}
	files := []string{
		"a", "b", "x", "c.o", "a.o", "!x", "#x", "ab", "a ", "a b", "{a,b}", "d/a", "d/b", "d/a.o", "d/e/b", "a1/b", "a1/q/c", "q/a/b/c", "x1/x", "e/x/y", "a.{o,c}", `w\`,
	}
	r := newRepository(t, files)
	compare := func(lines ...string) {
		t.Helper()
		r.ignore(t, gitIgnore, strings.Join(lines, "\n")+"\n")
		r.compare(t, lines...)
	}
	for i, p := range patterns {
		compare(p)
		compare(patterns[(i+7)%len(patterns)], "!"+p)
		compare("*", "!*/", "!"+p)
	}
}

// pieces are what random patterns are made of.
var pieces = []string{
	"a", "b", "c", "ab", "x", ".", "-", "]", "1", " ", "*", "*", "**", "/", "/", "/**/", "?", `\a`, `\*`, `\\`, "{a,b}",
	"[ab]", "[!a]", "[^b-c]", "[a-]", "[-a]", "[]a]", "[]-a]", "[!]a]", `[\]]`, `[a\-c]`, "[[:alpha:]]", "[[:digit:]b]",
	"[[:x:]]", "[c-a]", "[a", "[[a]", "[a-c-e]", "[--a]", "[a-[:digit:]]", "[!-]", "[!!]", "[^^]", "[^]]", "[[:a]",
}

func randomLine(r *rand.Rand) string {
	odds := func(n int, s string) string {
		if r.IntN(n) == 0 {
			return s
		}
		return ""
	}
	line := []string{odds(4, "!"), odds(4, "/")}
	for range 1 + r.IntN(4) {
		line = append(line, pieces[r.IntN(len(pieces))])
	}
	line = append(line, odds(4, "/"), odds(6, " "), odds(8, "\r"))
	return strings.Join(line, "")
}

// starsAfterText are patterns like "a**/b". git's manual calls such asterisks
// regular ones, and git itself matches "ax/y/b" with it, by an accident of how
// it skips the literal text in front.
var starsAfterText = regexp.MustCompile(`[^/!]\*\*+(\\?/|$)`)

// TestAgainstGitAtRandom compares ignore files of random lines in three
// folders, one below the other. The seeds are fixed.
func TestAgainstGitAtRandom(t *testing.T) {
	names := []string{"a", "b", "c", "ab", "a1", "x", "b.c", "]", "-", "a]", "ab-", "*", `\`, "{a,b}", "a b", "^", "!", "d", "[a", "b "}
	var files []string
	for i, n := range names {
		at := func(step int) string { return names[(i+step)%len(names)] }
		files = append(files, n+".f", "t/"+n, "t/"+n+".d/"+at(3), "u/"+n+"/"+at(5)+"/"+at(1))
	}
	r := newRepository(t, files)
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		var all []string
		for _, folder := range []string{".", "u", "u/a"} {
			var lines []string
			for range random.IntN(3) {
				if line := randomLine(random); !starsAfterText.MatchString(line) {
					lines = append(lines, line)
				}
			}
			content := strings.Join(lines, "\n")
			r.ignore(t, filepath.Join(folder, gitIgnore), content)
			all = append(all, content)
		}
		r.compare(t, all...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzAgainstGit compares ignore files of any bytes.
func FuzzAgainstGit(f *testing.F) {
	for _, seed := range []string{
		"*.o\n!a.o\n", "a/**/b\n", "[a-\n", `\`, "\xef\xbb\xbfa\r\n", "{a,b}", "**/**/**/**", "a\x00b\nc", "b \\ \n", "t/[[:alpha:]-c]\\/",
	} {
		f.Add(seed)
	}
	r := newRepository(f, []string{"a", "b", "c", "-", "t/a", "t/b", "t/a.o", "t/u/a", "t/u/c/b", "a b", `\`, "é", "t/ /x"})
	f.Fuzz(func(t *testing.T, content string) {
		for line := range strings.SplitSeq(content, "\n") {
			if starsAfterText.MatchString(line) {
				t.Skip("git differs from its manual")
			}
		}
		r.ignore(t, gitIgnore, content)
		r.compare(t, content)
	})
}

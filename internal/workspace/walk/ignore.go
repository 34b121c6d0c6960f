package walk

import (
	"bytes"
	"slices"
	"strings"
)

// Names of ignore files.
const (
	gitIgnore  = ".gitignore"
	anyIgnore  = ".ignore"
	gitExclude = ".git/info/exclude"
)

// rule is one line of an ignore file.
type rule struct {
	negated  bool // "!": what matches is searched after all
	dirOnly  bool
	anchored bool // matched against the path from the ignore file's folder, not the name
	pattern  pattern
}

// ruleSet is one ignore file: the rules and the folder that they are relative
// to. The last rule that matches decides.
type ruleSet struct {
	folder string // slash path relative to the root; "" for the root
	rules  []rule
}

// parseRules reads an ignore file by the rules of gitignore(5). Lines that can
// match nothing are passed over.
func parseRules(folder string, data []byte) ruleSet {
	set := ruleSet{folder: folder}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(data), "\n") {
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			set.rules = append(set.rules, r)
		}
	}
	return set
}

func parseRule(line string) (rule, bool) {
	line, _, _ = strings.Cut(line, "\x00") // git reads lines as C strings
	line = trimTrailingSpaces(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, line[:len(line)-1]
	}
	if line == "" {
		return rule{}, false
	}
	// A slash in a set counts too, although it matches none.
	r.anchored = strings.Contains(line, "/")
	var ok bool
	r.pattern, ok = compile(strings.TrimPrefix(line, "/"))
	return r, ok
}

// trimTrailingSpaces takes off the spaces at the end that no backslash keeps.
func trimTrailingSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if len(trimmed) == len(line) {
		return line
	}
	backslashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if backslashes%2 == 1 {
		return trimmed + " "
	}
	return trimmed
}

// decide tells what the set says of a path: that it is ignored, that it is
// not, or nothing (decided is false).
func (s *ruleSet) decide(path, name string, isDir bool) (ignored, decided bool) {
	rel := path
	if s.folder != "" {
		rel = path[len(s.folder)+1:]
	}
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		if r.dirOnly && !isDir {
			continue
		}
		if r.anchored && r.pattern.matchPath(rel) || !r.anchored && r.pattern.matchName(name) {
			return !r.negated, true
		}
	}
	return false, false
}

// ignores are the sets in force in a folder, the outermost first. What .ignore
// says beats .gitignore, which beats git's exclude file; of one kind the
// innermost decides. It is immutable.
type ignores struct {
	ignore, git, exclude []ruleSet
}

func (g *ignores) ignored(path, name string, isDir bool) bool {
	for _, sets := range [...][]ruleSet{g.ignore, g.git, g.exclude} {
		for i := len(sets) - 1; i >= 0; i-- {
			if ignored, decided := sets[i].decide(path, name, isDir); decided {
				return ignored
			}
		}
	}
	return false
}

// with returns the sets in force in a folder below, which has ignore files of
// its own; nil stands for one that it has not. Folders share the sets above
// them, so those are never written into.
func (g *ignores) with(folder string, ignore, git []byte) *ignores {
	join := func(above []ruleSet, own []byte) []ruleSet {
		if own == nil {
			return above
		}
		return append(slices.Clip(above), parseRules(folder, own))
	}
	return &ignores{ignore: join(g.ignore, ignore), git: join(g.git, git), exclude: g.exclude}
}

package walk

import (
	"bytes"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// rule is one line of an ignore file.
type rule struct {
	negated  bool // "!": what matches is searched after all
	dirOnly  bool
	anchored bool // matched against the path from the ignore file's folder, not the name
	pattern  string
	literal  bool // the pattern has no wildcard
}

// ruleSet is one ignore file: the rules and the folder that they are relative
// to. The last rule that matches decides.
type ruleSet struct {
	folder string // slash path relative to the root; "" for the root
	rules  []rule
}

// parseRules reads an ignore file by the rules of gitignore(5). Lines that git
// takes for no pattern are passed over.
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
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	// "dir/**" is what is in the folder, not the folder itself.
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	r.literal = !strings.ContainsAny(line, `*?[\`)
	r.pattern = line
	if !r.literal {
		r.pattern = translate(line)
	}
	return r, r.literal || doublestar.ValidatePattern(r.pattern)
}

// translate writes a pattern of git's in doublestar's form: braces are no
// wildcards for git, and its sets may begin with a bracket and name classes.
func translate(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			b.WriteByte(c)
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '[':
			set, size := translateSet(pattern[i:])
			b.WriteString(set)
			i += size - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// classes are POSIX's, of ASCII.
var classes = map[string]string{
	"alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": ` \t`, "digit": "0-9", "lower": "a-z",
	"punct": `!-,\-.:-@\[-` + "`" + `{-~`, "space": ` \t-\r`, "upper": "A-Z", "word": "a-zA-Z0-9_", "xdigit": "0-9a-fA-F",
}

// translateSet writes the set at the start of a pattern, and tells how much of
// it that is. One without an end is left as it is, to be found invalid.
func translateSet(pattern string) (set string, size int) {
	b := []byte{'['}
	i := 1
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		b = append(b, '^')
		i++
	}
	for first := true; i < len(pattern); first = false {
		c := pattern[i]
		switch {
		case c == ']' && !first:
			return string(append(b, ']')), i + 1
		case c == ']':
			b = append(b, '\\', ']')
			i++
		case c == '\\' && i+1 < len(pattern):
			b = append(b, c, pattern[i+1])
			i += 2
		case strings.HasPrefix(pattern[i:], "[:"):
			name, _, found := strings.Cut(pattern[i+2:], ":]")
			ranges, known := classes[name]
			if !found || !known {
				return pattern, len(pattern)
			}
			b = append(b, ranges...)
			i += len(name) + len("[::]")
		case c == '[':
			b = append(b, '\\', '[')
			i++
		default:
			b = append(b, c)
			i++
		}
	}
	return pattern, len(pattern)
}

// trimTrailingSpaces takes off the spaces at the end that no backslash keeps.
func trimTrailingSpaces(line string) string {
	for strings.HasSuffix(line, " ") {
		rest := strings.TrimRight(line[:len(line)-1], " ")
		backslashes := len(rest) - len(strings.TrimRight(rest, `\`))
		if backslashes%2 == 1 {
			return rest + " "
		}
		line = rest
	}
	return line
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
		subject := name
		if r.anchored {
			subject = rel
		}
		if r.matches(subject) {
			return !r.negated, true
		}
	}
	return false, false
}

func (r *rule) matches(subject string) bool {
	if r.literal {
		return r.pattern == subject
	}
	return doublestar.MatchUnvalidated(r.pattern, subject)
}

// Names of ignore files.
const (
	gitIgnore  = ".gitignore"
	anyIgnore  = ".ignore"
	gitExclude = ".git/info/exclude"
)

// ignores are the sets in force in a folder, the outermost first. What .ignore
// says beats .gitignore, which beats git's exclude file; of one kind the
// innermost decides.
type ignores struct {
	ignore, git, exclude []ruleSet
}

func (g *ignores) ignored(path, name string, isDir bool) bool {
	for _, sets := range [][]ruleSet{g.ignore, g.git, g.exclude} {
		for i := len(sets) - 1; i >= 0; i-- {
			if ignored, decided := sets[i].decide(path, name, isDir); decided {
				return ignored
			}
		}
	}
	return false
}

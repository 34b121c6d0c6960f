package syntax

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Languages are all languages of a daemon. Safe for concurrent use.
type Languages struct {
	all         []*Language // by id
	byName      map[string]*Language
	byExtension map[string]*Language
	byFileName  map[string]*Language
	byShebang   map[string]*Language
}

// NewLanguages makes the linked grammars ready and loads those of the folders,
// <id>.so each, with an optional <id>.json that says more of it. A folder that
// cannot be read and a grammar that cannot be used are errors that name the
// file; a known language whose grammar is in no folder is there, unusable.
func NewLanguages(folders []string) (*Languages, error) {
	files, err := grammarFiles(folders)
	if err != nil {
		return nil, err
	}
	rows := table()
	for id := range files {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
			rows = append(rows, row{id: id})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.id, b.id) })
	ls := &Languages{
		byName: map[string]*Language{}, byExtension: map[string]*Language{},
		byFileName: map[string]*Language{}, byShebang: map[string]*Language{},
	}
	for _, r := range rows {
		l, err := newLanguage(r, files[r.id], folders)
		if err != nil {
			return nil, err
		}
		if err := ls.add(l); err != nil {
			return nil, err
		}
	}
	return ls, nil
}

// grammarFiles finds the compiled grammars, by language id; an earlier folder
// wins.
func grammarFiles(folders []string) (map[string]string, error) {
	files := map[string]string{}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("read the grammar folder: %w", err)
		}
		for _, e := range entries {
			id, isLibrary := strings.CutSuffix(e.Name(), ".so")
			if _, taken := files[id]; isLibrary && !taken {
				files[id] = filepath.Join(folder, e.Name())
			}
		}
	}
	return files, nil
}

func (ls *Languages) add(l *Language) error {
	ls.all = append(ls.all, l)
	for _, name := range append([]string{l.ID}, l.Aliases...) {
		if other, taken := ls.byName[name]; taken {
			return fmt.Errorf("languages %s and %s are both called %q", other.ID, l.ID, name)
		}
		ls.byName[name] = l
	}
	for _, e := range l.Extensions {
		if other, taken := ls.byExtension[e]; taken {
			return fmt.Errorf("languages %s and %s both claim %q", other.ID, l.ID, e)
		}
		ls.byExtension[e] = l
	}
	for _, name := range l.FileNames {
		if other, taken := ls.byFileName[name]; taken {
			return fmt.Errorf("languages %s and %s both claim files called %q", other.ID, l.ID, name)
		}
		ls.byFileName[name] = l
	}
	for _, s := range l.Shebangs {
		ls.byShebang[s] = l
	}
	return nil
}

// All returns the languages, by id.
func (ls *Languages) All() []*Language { return ls.all }

// ByName returns the language of an id or an alias, in any case.
func (ls *Languages) ByName(name string) (*Language, bool) {
	l, ok := ls.byName[strings.ToLower(name)]
	return l, ok
}

// ByPath returns the language of a file by its name (Gemfile) or extension,
// or, for a name without an extension, by its first line, which head returns.
func (ls *Languages) ByPath(name string, head func() []byte) (*Language, bool) {
	if l, ok := ls.byFileName[path.Base(name)]; ok {
		return l, true
	}
	ext := path.Ext(name)
	if ext != "" {
		l, ok := ls.byExtension[strings.ToLower(ext)]
		return l, ok
	}
	if head == nil {
		return nil, false
	}
	l, ok := ls.byShebang[interpreter(head())]
	return l, ok
}

// interpreter reads a "#!" line: the name of the program that it starts.
func interpreter(head []byte) string {
	line, _, _ := strings.Cut(string(head), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	words := strings.Fields(rest)
	for len(words) > 0 && (path.Base(words[0]) == "env" || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	// python3.12 is python3; the version's point ends the name.
	name, _, _ := strings.Cut(path.Base(words[0]), ".")
	return name
}

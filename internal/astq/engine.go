// Package astq is structural search: finding code by its shape, rewriting it
// in two steps (stage, then accept or discard), and the texts that a model
// reads of both (spec.md, "ast_grep", "ast_edit" and "resolve").
//
// An Engine holds the grammars and limits of a daemon, a Session what belongs
// to one run. Files are reached and written through package workspace only.
package astq

import (
	"context"
	"time"

	"github.com/toolsd/toolsd/internal/astq/cache"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// Config are the grammar folders and limits of an engine; every limit must be
// above zero.
type Config struct {
	// GrammarDirs hold compiled grammars, <language>.so each.
	GrammarDirs []string
	// MaxFileBytes is the size of the largest file that is read.
	MaxFileBytes int64
	// ParseTimeout bounds the parsing of one file.
	ParseTimeout time.Duration
	// SearchTimeout bounds one search.
	SearchTimeout time.Duration
	// MaxCacheBytes bounds the parsed files that are kept.
	MaxCacheBytes int64
	// MaxStagedBytes bounds the rewritten files that one session may hold.
	MaxStagedBytes int64
}

// Engine is what all runs of a daemon share. Its methods are safe for
// concurrent use.
type Engine struct {
	config    Config
	languages *syntax.Languages
	cache     *cache.Cache
}

// NewEngine loads the grammars. A grammar that cannot be used is an error that
// names its file.
func NewEngine(config Config) (*Engine, error) {
	languages, err := syntax.NewLanguages(config.GrammarDirs)
	if err != nil {
		return nil, err
	}
	return &Engine{config: config, languages: languages, cache: cache.New(config.MaxCacheBytes, time.Now)}, nil
}

// CacheBytes is the memory that parsed files take now.
func (e *Engine) CacheBytes() int64 { return e.cache.Bytes() }

// LanguageInfo describes a language and its grammar.
type LanguageInfo struct {
	ID         string
	Version    string
	ABI        int
	File       string // it was loaded from; empty when it is linked in
	Extensions []string
	// Unavailable says why the language cannot be searched; empty when it can.
	Unavailable string
}

// Languages describes every language, by id.
func (e *Engine) Languages() []LanguageInfo {
	all := e.languages.All()
	out := make([]LanguageInfo, len(all))
	for i, l := range all {
		out[i] = LanguageInfo{ID: l.ID, Version: l.Version(), ABI: l.ABI(), File: l.File(), Extensions: l.Extensions}
		if err := l.Unusable(); err != nil {
			out[i].Unavailable = err.Error()
		}
	}
	return out
}

// resolveLanguage finds the language that a caller named, or that the scope
// tells; inferred is nil when it tells none.
func (e *Engine) resolveLanguage(name, scope string, inferred *syntax.Language) (*syntax.Language, error) {
	if name == "" {
		if inferred == nil {
			return nil, toolerr.New(toolerr.InvalidArgument, toolerr.ReasonLanguageRequired,
				"the language of %q cannot be told from its name; give language, one of: %s", scope, e.languageList())
		}
		return inferred, inferred.Unusable()
	}
	l, ok := e.languages.ByName(name)
	if !ok {
		return nil, toolerr.New(toolerr.InvalidArgument, toolerr.ReasonUnknownLanguage,
			"there is no language %q; known are: %s", name, e.languageList())
	}
	if inferred != nil && inferred != l && !compatible(inferred, l) {
		return nil, toolerr.BadArgument("language", "is %s, but %s is a %s file; leave language out, or name another path", l.ID, scope, inferred.ID)
	}
	return l, l.Unusable()
}

// compatible tells whether a file of one language may be searched as another:
// a C header may hold C++.
func compatible(file, asked *syntax.Language) bool { return file.ID == "c" && asked.ID == "cpp" }

func (e *Engine) languageList() string {
	var ids []string
	for _, l := range e.languages.All() {
		if l.Unusable() == nil {
			ids = append(ids, l.ID)
		}
	}
	return joinCapped(ids, 50)
}

// belongs tells whether a file is of a language, by its name or first line.
func (e *Engine) belongs(l *syntax.Language, path string, head func() []byte) bool {
	file, known := e.languages.ByPath(path, head)
	return known && (file == l || compatible(file, l))
}

func (e *Engine) parse(ctx context.Context, l *syntax.Language, source []byte) (*syntax.Tree, error) {
	return l.Parse(ctx, source, e.config.ParseTimeout)
}

package astq

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolsd/toolsd/internal/astq/cache"
	"github.com/toolsd/toolsd/internal/astq/match"
	"github.com/toolsd/toolsd/internal/astq/pattern"
	"github.com/toolsd/toolsd/internal/astq/syntax"
	"github.com/toolsd/toolsd/internal/toolerr"
	"github.com/toolsd/toolsd/internal/workspace/walk"
)

// Stats counts what a search saw.
type Stats struct {
	// Searched are the files of the language in scope that could be read.
	Searched int
	// Candidates are those of them that may match: they hold every word of the
	// pattern.
	Candidates int
	// Parsed are the candidates that were parsed now; the trees of the others
	// were in the cache.
	Parsed int
	// Matched are the files with a match.
	Matched int
	// Skipped counts what was passed over, by reason.
	Skipped map[string]int
	// Incomplete says that the time ran out before every file was seen.
	Incomplete bool
}

// Reasons for which a search passes a file over, beside the walker's own.
const (
	skipTimedOut   = "timed_out"
	skipTooComplex = "too_complex" // for the pattern; see match.ErrTooComplex
	skipBinary     = "binary"
)

// errBinary is a file that is no text.
var errBinary = errors.New("binary file")

// errSearchTimeout is the cause of a context that the search's own budget
// ended, as opposed to its caller.
var errSearchTimeout = errors.New("the search's time ran out")

// visit sees one file with at least one match. It runs on several goroutines
// at once, for a file each, and may give up when the search's time is over.
type visit func(ctx context.Context, f foundFile) error

// foundFile is a file with matches, in pre-order.
type foundFile struct {
	index   int // place of the file in path order
	path    string
	tree    *syntax.Tree
	matches []match.Match
}

// query is a search that is ready to run.
type query struct {
	scope    string
	pattern  *pattern.Pattern
	language *syntax.Language
	listing  *walk.Listing
}

// prepare resolves the language, compiles the pattern and lists the files.
func (s *Session) prepare(ctx context.Context, source, path, languageID string) (*query, error) {
	scope := "."
	if path != "" {
		var err error
		if scope, err = s.ws.Rel(path); err != nil {
			return nil, err
		}
	}
	language, err := s.engine.resolveLanguage(languageID, scope, s.inferred(scope))
	if err != nil {
		return nil, err
	}
	compiled, err := pattern.Compile(ctx, language, source)
	if err != nil {
		return nil, err
	}
	listing, err := walk.List(ctx, s.ws.FS(), scope, walk.Options{
		Select:       func(path string, head func() []byte) bool { return s.engine.belongs(language, path, head) },
		MaxFileBytes: s.engine.config.MaxFileBytes,
	})
	if err != nil {
		return nil, err
	}
	return &query{scope: scope, pattern: compiled, language: language, listing: listing}, nil
}

// inferred returns the language that a scope tells: a file by its name or its
// first line, a glob by its ending. A folder tells none, though it may be
// called "next.js".
func (s *Session) inferred(scope string) *syntax.Language {
	if info, err := s.ws.FS().Stat(scope); err == nil && info.IsDir() {
		return nil
	}
	head := func() []byte {
		source, err := s.ws.ReadFile(scope, s.engine.config.MaxFileBytes)
		if err != nil {
			return nil
		}
		return source
	}
	language, _ := s.engine.languages.ByPath(scope, head)
	return language
}

// run searches every file of the query on all cores, the largest first, so
// that one large file does not end the search alone. A search whose own time
// ran out is incomplete, not failed; a caller that gave up gets its error.
func (s *Session) run(ctx context.Context, q *query, see visit) (Stats, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.engine.config.SearchTimeout, errSearchTimeout)
	defer cancel()
	r := &searchRun{session: s, query: q, see: see, known: s.engine.cache.Begin(), stats: Stats{Skipped: q.listing.Skipped}}
	order := r.bySize()
	workers := min(runtime.GOMAXPROCS(0), max(1, len(order)))
	var next atomic.Int64
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(order) || limited.Err() != nil || r.failed() {
					return
				}
				r.file(limited, order[n])
			}
		})
	}
	done.Wait()
	if r.err != nil {
		return Stats{}, r.err
	}
	if ctx.Err() != nil {
		return Stats{}, ctx.Err()
	}
	r.stats.Incomplete = limited.Err() != nil
	return r.stats, nil
}

// searchRun is the state that the workers of one search share.
type searchRun struct {
	session *Session
	query   *query
	see     visit
	known   *cache.Search

	mu    sync.Mutex
	stats Stats
	err   error
}

func (r *searchRun) bySize() []int {
	files := r.query.listing.Files
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(files[b].Size, files[a].Size) })
	return order
}

func (r *searchRun) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil
}

func (r *searchRun) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *searchRun) skip(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Skipped[reason]++
}

// file searches one file.
func (r *searchRun) file(ctx context.Context, index int) {
	file := r.query.listing.Files[index]
	tree, err := r.load(ctx, file)
	if err != nil {
		r.failedFile(ctx, err)
		return
	}
	if tree == nil {
		r.count(func(s *Stats) { s.Searched++ })
		return
	}
	matches, err := match.Find(ctx, r.query.pattern, tree)
	if err != nil {
		r.failedFile(ctx, err)
		return
	}
	r.count(func(s *Stats) {
		s.Searched++
		s.Candidates++
		if len(matches) > 0 {
			s.Matched++
		}
	})
	if len(matches) == 0 {
		return
	}
	err = r.see(ctx, foundFile{index: index, path: file.Path, tree: tree, matches: matches})
	if err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// load returns the tree of a file that may hold a match, or nil for one that
// cannot: from the cache as far as the file is still what the cache knows.
func (r *searchRun) load(ctx context.Context, file walk.File) (*syntax.Tree, error) {
	engine := r.session.engine
	key := cache.Key{Root: r.session.ws.Root(), Path: file.Path, Language: r.query.language}
	stamp := cache.Stamp{Size: file.Size, ModTime: file.ModTime, Inode: file.Inode}
	known := r.known.Get(key, stamp)
	if known.Filter != nil && !known.Unsure {
		if !known.Filter.MayHold(r.query.pattern.WordBytes()) {
			return nil, nil //nolint:nilnil // no tree is the answer for a file that cannot match
		}
		if known.Tree != nil {
			return r.candidate(known.Tree), nil
		}
	}
	source, err := r.session.ws.ReadFile(file.Path, engine.config.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	if walk.IsBinary(source) {
		return nil, errBinary
	}
	if known.Unsure && known.Tree != nil && r.known.Confirm(key, stamp, source) {
		return r.candidate(known.Tree), nil
	}
	if !r.query.pattern.MayMatch(source) {
		if known.Filter == nil || known.Unsure {
			r.known.Put(key, stamp, source, nil)
		}
		return nil, nil //nolint:nilnil // likewise
	}
	tree, err := engine.parse(ctx, r.query.language, source)
	if err != nil {
		return nil, err
	}
	r.count(func(s *Stats) { s.Parsed++ })
	r.known.Put(key, stamp, source, tree)
	return tree, nil
}

// candidate passes a cached tree on when its source may hold a match, so that
// a warm search counts what a cold one counts.
func (r *searchRun) candidate(tree *syntax.Tree) *syntax.Tree {
	if !r.query.pattern.MayMatch(tree.Source()) {
		return nil
	}
	return tree
}

// failedFile counts a file that was passed over, by reason. When it is the
// whole search that ended, the file was not passed over but not reached.
func (r *searchRun) failedFile(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errBinary):
		r.skip(skipBinary)
	case errors.Is(err, syntax.ErrTimeout):
		r.skip(skipTimedOut)
	case errors.Is(err, match.ErrTooComplex):
		r.skip(skipTooComplex)
	case toolerr.Is(err, toolerr.ReasonPathNotFound):
		r.skip(walk.Vanished)
	case toolerr.Is(err, toolerr.ReasonLimit):
		r.skip(walk.TooLarge)
	case isToolError(err):
		r.skip(walk.Unreadable)
	default:
		r.fail(err)
	}
}

// isToolError tells a file that cannot be read from a fault of ours.
func isToolError(err error) bool {
	_, ok := toolerr.As(err)
	return ok
}

func (r *searchRun) count(f func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.stats)
}

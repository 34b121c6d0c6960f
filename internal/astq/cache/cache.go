// Package cache keeps what was learned of files while the files stay the same:
// their flat trees, least recently used first out, and for those that fell
// out, or were never parsed, a small filter that tells which words they cannot
// hold. A search of a warm cache reads only the files that changed.
//
// It reads no files. A file is the same while its size, modification time and
// inode are; one that was modified just before it was read may change once
// more within the clock's grain, so its content is compared by hash until it
// has aged.
package cache

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// young is how old a modification must be, at the time of reading, for its
// time to tell it from the next one. File systems keep times as coarse as two
// seconds.
const young = 2 * time.Second

// Key names a file as a language.
type Key struct {
	Root, Path string
	Language   *syntax.Language
}

// Stamp is what tells one state of a file from another.
type Stamp struct {
	Size    int64
	ModTime time.Time
	Inode   uint64
}

func (s Stamp) same(o Stamp) bool {
	return s.Size == o.Size && s.Inode == o.Inode && s.ModTime.Equal(o.ModTime)
}

// Cache is bounded by bytes. Its methods are safe for concurrent use.
type Cache struct {
	maxBytes int64
	now      func() time.Time

	mu       sync.Mutex
	entries  map[Key]*entry
	recent   *list.List // of *entry with a tree, the most recently used first
	filters  *list.List // of *entry with a filter only, likewise
	searches uint64     // begun so far
	bytes    int64      // of all entries
	small    int64      // of the entries in filters
}

type entry struct {
	key     Key
	stamp   Stamp
	tree    *syntax.Tree // nil when it fell out
	filter  *Filter
	hash    [sha256.Size]byte
	young   bool
	search  uint64 // that used it last
	element *list.Element
}

// Search is one search of many files. What it uses is not dropped for what it
// comes to later: a search of more than fits would otherwise leave the cache
// full of its last files, and find none of its first when it is repeated.
type Search struct {
	cache *Cache
	id    uint64
}

// Begin starts a search.
func (c *Cache) Begin() *Search {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.searches++
	return &Search{cache: c, id: c.searches}
}

// New returns an empty cache. Filters take a quarter of it at most.
func New(maxBytes int64, now func() time.Time) *Cache {
	return &Cache{maxBytes: maxBytes, now: now, entries: map[Key]*entry{}, recent: list.New(), filters: list.New()}
}

// Known is what the cache holds of a file.
type Known struct {
	// Tree of the file, or nil.
	Tree *syntax.Tree
	// Filter of the file; nil when nothing is known of it.
	Filter *Filter
	// Unsure says that the content must be compared (Confirm) before Tree and
	// Filter count.
	Unsure bool
}

// Get returns what is known of a file in this state.
func (s *Search) Get(key Key, stamp Stamp) Known {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok || !e.stamp.same(stamp) {
		return Known{}
	}
	e.search = s.id
	c.touch(e)
	return Known{Tree: e.tree, Filter: e.filter, Unsure: e.young}
}

// Confirm tells whether a source that was just read is what the cache knows
// of the file. Once the modification has aged, it is not asked for again.
func (s *Search) Confirm(key Key, stamp Stamp, source []byte) bool {
	c := s.cache
	hash := sha256.Sum256(source)
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok || !e.stamp.same(stamp) || e.hash != hash {
		return false
	}
	e.young = c.now().Sub(stamp.ModTime) < young
	return true
}

// Put keeps what was learned of a file: its source, which was read after the
// stamp was taken, and its tree, or nil when it was not parsed.
func (s *Search) Put(key Key, stamp Stamp, source []byte, tree *syntax.Tree) {
	c := s.cache
	counter := counters.Get().(*gramCounter)
	e := &entry{key: key, stamp: stamp, tree: tree, search: s.id, filter: counter.newFilter(source)}
	counters.Put(counter)
	if e.young = c.now().Sub(stamp.ModTime) < young; e.young {
		e.hash = sha256.Sum256(source)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.remove(old)
	}
	c.entries[key] = e
	c.insert(e)
	c.evict(s.id)
}

// counters spare the memory of counting substrings.
var counters = sync.Pool{New: func() any { return new(gramCounter) }}

// Forget drops what is known of files that were written.
func (c *Cache) Forget(root string, paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := map[string]bool{}
	for _, p := range paths {
		written[p] = true
	}
	for key, e := range c.entries {
		if key.Root == root && written[key.Path] {
			c.remove(e)
		}
	}
}

// Bytes is the memory that the cache holds.
func (c *Cache) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (e *entry) size() int64 {
	const overhead = 256
	n := overhead + int64(len(e.key.Path)) + e.filter.bytes()
	if e.tree != nil {
		n += e.tree.Bytes()
	}
	return n
}

func (c *Cache) listOf(e *entry) *list.List {
	if e.tree != nil {
		return c.recent
	}
	return c.filters
}

func (c *Cache) insert(e *entry) {
	e.element = c.listOf(e).PushFront(e)
	c.count(e, 1)
}

// count adds an entry to the sums, or takes it off.
func (c *Cache) count(e *entry, sign int64) {
	c.bytes += sign * e.size()
	if e.tree == nil {
		c.small += sign * e.size()
	}
}

func (c *Cache) touch(e *entry) { c.listOf(e).MoveToFront(e.element) }

func (c *Cache) remove(e *entry) {
	c.listOf(e).Remove(e.element)
	c.count(e, -1)
	delete(c.entries, e.key)
}

// evict drops what was not used for longest: trees, whose files keep their
// filters, and filters when those are too many. Where only trees of the
// current search are left, its newest goes.
func (c *Cache) evict(search uint64) {
	for c.bytes > c.maxBytes {
		last := c.recent.Back()
		if last != nil && last.Value.(*entry).search == search {
			last = c.recent.Front()
		}
		if oldest := c.filters.Back(); oldest != nil && (last == nil || c.small > c.maxBytes/4) {
			c.remove(oldest.Value.(*entry))
			continue
		}
		if last == nil {
			return
		}
		e := last.Value.(*entry)
		c.recent.Remove(last)
		c.count(e, -1)
		e.tree = nil
		c.insert(e)
	}
}

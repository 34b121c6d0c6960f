package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/toolsd/toolsd/internal/astq/syntax"
)

// clock is a settable clock.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func parse(t testing.TB, source string) *syntax.Tree {
	t.Helper()
	ls, err := syntax.NewLanguages(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := ls.ByName("go")
	tree, err := l.Parse(t.Context(), []byte(source), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestCache(t *testing.T) {
	now := &clock{t: time.Unix(1000, 0)}
	tree := parse(t, "package p\n")
	key := Key{Root: "/r", Path: "a.go"}
	stamp := Stamp{Size: 10, ModTime: time.Unix(900, 1), Inode: 7}
	c := New(1<<20, now.now)

	if k := c.Begin().Get(key, stamp); k.Filter != nil {
		t.Error("an empty cache knows a file")
	}
	c.Begin().Put(key, stamp, tree.Source(), tree)
	if k := c.Begin().Get(key, stamp); k.Tree != tree || k.Filter == nil || k.Unsure {
		t.Errorf("got %+v", k)
	}
	for name, other := range map[string]Stamp{
		"size":  {Size: 11, ModTime: stamp.ModTime, Inode: 7},
		"time":  {Size: 10, ModTime: time.Unix(900, 2), Inode: 7},
		"inode": {Size: 10, ModTime: stamp.ModTime, Inode: 8},
	} {
		if k := c.Begin().Get(key, other); k.Filter != nil {
			t.Errorf("a file of another %s is known", name)
		}
	}
	if k := c.Begin().Get(Key{Root: "/other", Path: "a.go"}, stamp); k.Filter != nil {
		t.Error("the file of another root is known")
	}
	c.Forget("/r", []string{"b.go"})
	if k := c.Begin().Get(key, stamp); k.Tree == nil {
		t.Error("forgot a file that was not written")
	}
	c.Forget("/r", []string{"a.go"})
	if k := c.Begin().Get(key, stamp); k.Filter != nil || c.Bytes() != 0 {
		t.Errorf("a written file is known: %+v, %d bytes", k, c.Bytes())
	}
}

func TestCacheComparesYoungFiles(t *testing.T) {
	now := &clock{t: time.Unix(1000, 0)}
	key := Key{Path: "a.go"}
	stamp := Stamp{Size: 3, ModTime: now.t.Add(-time.Second)}
	c := New(1<<20, now.now)
	c.Begin().Put(key, stamp, []byte("abc"), nil)
	if k := c.Begin().Get(key, stamp); !k.Unsure {
		t.Fatal("a file that was modified a second ago is taken as it is")
	}
	if c.Begin().Confirm(key, stamp, []byte("abd")) {
		t.Error("another content was confirmed")
	}
	if !c.Begin().Confirm(key, stamp, []byte("abc")) {
		t.Error("the same content was not confirmed")
	}
	if k := c.Begin().Get(key, stamp); !k.Unsure {
		t.Error("confirmed once, and taken as it is while still young")
	}
	now.t = now.t.Add(young)
	if !c.Begin().Confirm(key, stamp, []byte("abc")) {
		t.Error("the same content was not confirmed")
	}
	if k := c.Begin().Get(key, stamp); k.Unsure {
		t.Error("an aged file is still compared")
	}
}

func TestCacheIsBounded(t *testing.T) {
	now := &clock{t: time.Unix(1000, 0)}
	tree := parse(t, "package p\n\nfunc f() { g(1, 2, 3) }\n")
	c := New(8<<10, now.now)
	for i := range 100 {
		c.Begin().Put(Key{Path: strconv.Itoa(i)}, Stamp{}, tree.Source(), tree)
		c.Begin().Get(Key{Path: "0"}, Stamp{}) // keeps the first in use
		if c.Bytes() > 8<<10 {
			t.Fatalf("holds %d bytes", c.Bytes())
		}
	}
	if k := c.Begin().Get(Key{Path: "0"}, Stamp{}); k.Tree == nil {
		t.Error("the file in use fell out")
	}
	if k := c.Begin().Get(Key{Path: "98"}, Stamp{}); k.Tree == nil && k.Filter == nil {
		t.Error("the newest file fell out whole")
	}
	if k := c.Begin().Get(Key{Path: "1"}, Stamp{}); k.Tree != nil {
		t.Error("the oldest file did not fall out")
	}
}

// A search of more than fits keeps its first files, so that they are there
// when it is repeated.
func TestSearchKeepsWhatItCameToFirst(t *testing.T) {
	tree := parse(t, "package p\n\nfunc f() { g(1, 2, 3) }\n")
	c := New(8<<10, (&clock{t: time.Unix(1000, 0)}).now)
	for range 3 {
		s := c.Begin()
		hits := 0
		for i := range 100 {
			key := Key{Path: strconv.Itoa(i)}
			if s.Get(key, Stamp{}).Tree != nil {
				hits++
				continue
			}
			s.Put(key, Stamp{}, tree.Source(), tree)
		}
		if k := s.Get(Key{Path: "0"}, Stamp{}); k.Tree == nil {
			t.Fatal("the first file of the search fell out")
		}
		if s.id > 1 && hits < 3 {
			t.Errorf("a repeated search found %d files", hits)
		}
		if c.Bytes() > 8<<10 {
			t.Fatalf("holds %d bytes", c.Bytes())
		}
	}
}

func TestFilterNeverDeniesWhatIsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var counter gramCounter
	for range 200 {
		source := make([]byte, rng.IntN(5000))
		for i := range source {
			source[i] = byte('a' + rng.IntN(6))
		}
		f := counter.newFilter(source)
		for range 50 {
			if len(source) < 4 {
				break
			}
			at := rng.IntN(len(source) - 3)
			word := source[at : at+min(3+rng.IntN(10), len(source)-at)]
			if !f.MayHold([][]byte{word}) {
				t.Fatalf("the filter denies %q", word)
			}
		}
	}
}

func TestFilterDeniesMostStrangers(t *testing.T) {
	var counter gramCounter
	source := bytes.Repeat([]byte("func handle(w http.ResponseWriter, r *http.Request) error { return nil }\n"), 20)
	f := counter.newFilter(source)
	passed := 0
	for i := range 1000 {
		if f.MayHold([][]byte{fmt.Appendf(nil, "zq%dxv", i)}) {
			passed++
		}
	}
	if passed > 50 {
		t.Errorf("%d of 1000 strangers passed", passed)
	}
	if !f.MayHold([][]byte{[]byte("ab"), nil}) {
		t.Error("words below three bytes are denied")
	}
}

func FuzzFilter(f *testing.F) {
	f.Add([]byte("package p"), uint(3), uint(7))
	f.Fuzz(func(t *testing.T, source []byte, from, to uint) {
		n := uint(len(source)) + 1
		from, to = from%n, to%n
		if from > to {
			return
		}
		var counter gramCounter
		if !counter.newFilter(source).MayHold([][]byte{source[from:to]}) {
			t.Fatalf("the filter of %q denies %q", source, source[from:to])
		}
	})
}

package cache

import "math/bits"

// Filter tells whether a source may hold a word, without the source: a Bloom
// filter of its three-byte substrings. Substrings and not words, since a
// pattern's word is any text between two node boundaries, which a lexer's idea
// of a word would miss (10px, f"…", $name). It is immutable.
type Filter struct {
	set  []uint64
	mask uint32 // of bit numbers; the size is a power of two
}

// bitsPerGram makes a stranger pass one three-byte test in eight, so a word of
// five bytes in five hundred.
const bitsPerGram = 8

// gramBuckets is how finely the substrings of one source are told apart while
// they are counted.
const gramBuckets = 1 << 18

// gramCounter finds the distinct three-byte substrings of sources. It is kept
// between sources to spare its memory; not safe for concurrent use.
type gramCounter struct {
	seen  []uint64
	grams []uint32 // hashes, each bucket once
}

// newFilter makes the filter of a source.
func (g *gramCounter) newFilter(source []byte) *Filter {
	if g.seen == nil {
		g.seen = make([]uint64, gramBuckets/64)
	}
	g.grams = g.grams[:0]
	for i := 2; i < len(source); i++ {
		h := hashGram(source[i-2], source[i-1], source[i])
		bucket := h % gramBuckets
		if g.seen[bucket/64]&(1<<(bucket%64)) != 0 {
			continue
		}
		g.seen[bucket/64] |= 1 << (bucket % 64)
		g.grams = append(g.grams, h)
	}
	// The filter takes bits of the bucket only: two substrings in one bucket
	// set the same bit, though the second was not kept.
	size := min(max(64, uint32(1)<<bits.Len32(uint32(len(g.grams)*bitsPerGram-1))), gramBuckets)
	f := &Filter{set: make([]uint64, size/64), mask: size - 1}
	for _, h := range g.grams {
		bit := h % gramBuckets & f.mask
		f.set[bit/64] |= 1 << (bit % 64)
		g.seen[h%gramBuckets/64] = 0
	}
	return f
}

// MayHold tells whether the source may hold the words: true for every source
// that does. Words below three bytes are taken for held.
func (f *Filter) MayHold(words [][]byte) bool {
	for _, w := range words {
		for i := 2; i < len(w); i++ {
			bit := hashGram(w[i-2], w[i-1], w[i]) % gramBuckets & f.mask
			if f.set[bit/64]&(1<<(bit%64)) == 0 {
				return false
			}
		}
	}
	return true
}

// bytes is the memory that the filter takes.
func (f *Filter) bytes() int64 { return int64(len(f.set)) * 8 }

func hashGram(a, b, c byte) uint32 {
	h := (uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 0x9E3779B1
	return h >> 10
}

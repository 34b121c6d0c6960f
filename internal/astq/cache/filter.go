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

// Substrings are told apart by a hash of gramBits bits.
const (
	gramBits    = 18
	gramBuckets = 1 << gramBits
)

// gramCounter finds the distinct three-byte substrings of sources. It is kept
// between sources to spare its memory; not safe for concurrent use.
type gramCounter struct {
	seen  [gramBuckets / 64]uint64
	grams []uint32 // hashes, each once
}

// newFilter makes the filter of a source.
func (g *gramCounter) newFilter(source []byte) *Filter {
	g.grams = g.grams[:0]
	gram := uint32(0)
	for i, c := range source {
		gram = gram<<8 | uint32(c)
		if i < 2 {
			continue
		}
		h := hashGram(gram)
		if word, bit := &g.seen[h/64%uint32(len(g.seen))], uint64(1)<<(h%64); *word&bit == 0 {
			*word |= bit
			g.grams = append(g.grams, h)
		}
	}
	size := min(max(64, uint32(1)<<bits.Len32(uint32(len(g.grams)*bitsPerGram-1))), gramBuckets)
	f := &Filter{set: make([]uint64, size/64), mask: size - 1}
	for _, h := range g.grams {
		g.seen[h/64] = 0
		h &= f.mask
		f.set[h/64] |= 1 << (h % 64)
	}
	return f
}

// MayHold tells whether the source may hold the words: true for every source
// that does. Words below three bytes are taken for held.
func (f *Filter) MayHold(words [][]byte) bool {
	for _, w := range words {
		gram := uint32(0)
		for i, c := range w {
			gram = gram<<8 | uint32(c)
			if i < 2 {
				continue
			}
			if h := hashGram(gram) & f.mask; f.set[h/64]&(1<<(h%64)) == 0 {
				return false
			}
		}
	}
	return true
}

// bytes is the memory that the filter takes.
func (f *Filter) bytes() int64 { return int64(len(f.set)) * 8 }

// hashGram hashes the low three bytes.
func hashGram(gram uint32) uint32 { return gram << 8 * 0x9E3779B1 >> (32 - gramBits) }

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkApply writes files of 4 KiB in one folder, there and back.
func BenchmarkApply(b *testing.B) {
	for _, files := range []int{1, 100} {
		b.Run(strconv.Itoa(files), func(b *testing.B) {
			root := b.TempDir()
			p, err := NewPool(filepath.Join(b.TempDir(), "state"))
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			w, err := p.Open(root)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			texts := [2]string{fmt.Sprintf("%4096d", 0), fmt.Sprintf("%4096d", 1)}
			for i := range files {
				if err := os.WriteFile(filepath.Join(root, strconv.Itoa(i)), []byte(texts[0]), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			for n := 0; b.Loop(); n++ {
				changes := make([]Change, files)
				for i := range changes {
					changes[i] = Change{Path: strconv.Itoa(i), Before: content(texts[n%2]), After: []byte(texts[(n+1)%2])}
				}
				if _, err := w.Apply(b.Context(), changes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

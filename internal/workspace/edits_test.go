package workspace

import (
	"bytes"
	"testing"

	"github.com/toolsd/toolsd/internal/toolerr"
)

func TestApplyEdits(t *testing.T) {
	tests := []struct {
		name  string
		src   string
		edits []Edit
		want  string
	}{
		{"none", "abc", nil, "abc"},
		{"any order", "abcdef", []Edit{{4, 5, []byte("E")}, {0, 1, []byte("A")}}, "AbcdEf"},
		{"adjacent", "abcd", []Edit{{0, 2, []byte("1")}, {2, 4, []byte("2")}}, "12"},
		{"equal replacements once", "abc", []Edit{{1, 2, []byte("X")}, {1, 2, []byte("X")}}, "aXc"},
		{"equal deletions once", "abc", []Edit{{1, 2, nil}, {1, 2, []byte{}}}, "ac"},
		{"insertions in their order", "ab", []Edit{{1, 1, []byte("x")}, {1, 1, []byte("y")}, {1, 1, []byte("x")}}, "axyxb"},
		{"insertion before a replacement", "ab", []Edit{{1, 2, []byte("B")}, {1, 1, []byte("+")}}, "a+B"},
		{"insertion behind a replacement", "ab", []Edit{{1, 1, []byte("+")}, {0, 1, []byte("A")}}, "A+b"},
		{"at the end", "ab", []Edit{{2, 2, []byte("c")}}, "abc"},
		{"whole text", "ab", []Edit{{0, 2, nil}}, ""},
		{"bytes stay bytes", "\xff\r\n\ufeff", []Edit{{0, 0, []byte("a")}}, "a\xff\r\n\ufeff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ApplyEdits([]byte(tt.src), tt.edits)
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestApplyEditsRefuses(t *testing.T) {
	tests := []struct {
		name   string
		edits  []Edit
		reason toolerr.Reason
	}{
		{"overlap", []Edit{{0, 3, nil}, {2, 4, nil}}, toolerr.ReasonOverlappingEdits},
		{"nested", []Edit{{0, 5, nil}, {2, 3, nil}}, toolerr.ReasonOverlappingEdits},
		{"same range, other text", []Edit{{1, 2, []byte("x")}, {1, 2, []byte("y")}}, toolerr.ReasonOverlappingEdits},
		{"insertion inside", []Edit{{0, 3, nil}, {1, 1, []byte("x")}}, toolerr.ReasonOverlappingEdits},
		{"behind the end", []Edit{{4, 7, nil}}, toolerr.ReasonBadArgument},
		{"negative", []Edit{{-1, 0, nil}}, toolerr.ReasonBadArgument},
		{"backwards", []Edit{{3, 2, nil}}, toolerr.ReasonBadArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := ApplyEdits([]byte("abcdef"), tt.edits); !toolerr.Is(err, tt.reason) {
				t.Fatalf("got %q, %v; want %s", got, err, tt.reason)
			}
		})
	}
}

func FuzzApplyEdits(f *testing.F) {
	f.Add([]byte("abcdef"), 0, 1, []byte("x"), 3, 5, []byte("yy"))
	f.Add([]byte("abcdef"), 2, 2, []byte("x"), 2, 2, []byte("x"))
	f.Add([]byte(""), -1, 9, []byte(nil), 0, 0, []byte("z"))
	f.Fuzz(func(t *testing.T, src []byte, s1, e1 int, n1 []byte, s2, e2 int, n2 []byte) {
		edits := []Edit{{s1, e1, n1}, {s2, e2, n2}}
		got, err := ApplyEdits(src, edits)
		if err != nil {
			return
		}
		// The edit that lies further back, made first, must give the same.
		if s1 > s2 || s1 == s2 && e1 > e2 {
			s1, e1, n1, s2, e2, n2 = s2, e2, n2, s1, e1, n1
		}
		want := bytes.Clone(src)
		if s1 != s2 || e1 != e2 || s1 == e1 {
			want = append(bytes.Clone(want[:s2]), append(bytes.Clone(n2), want[e2:]...)...)
		}
		want = append(bytes.Clone(want[:s1]), append(bytes.Clone(n1), want[e1:]...)...)
		if !bytes.Equal(got, want) {
			t.Fatalf("edits %v of %q: got %q, want %q", edits, src, got, want)
		}
	})
}

package pattern

// Piece is a part of a text with metavariables: plain text, or one of them.
type Piece struct {
	// Text is the plain text, or the metavariable as it is written.
	Text string
	// Var is the metavariable, or nil.
	Var *Var
}

// Var is a metavariable as it stands in a text.
type Var struct {
	Name  string // without dollars; "" for $$$ alone
	Multi bool   // $$$NAME
}

// Binds tells whether the metavariable keeps what it takes: $_, all that begin
// so, and $$$ alone do not.
func (v *Var) Binds() bool { return v.Name != "" && v.Name[0] != '_' }

// Pieces splits a rewrite by the rules that patterns are split by, except that
// metavariables may touch.
func Pieces(text string) []Piece {
	split, _ := split(text, true)
	out := make([]Piece, len(split))
	for i, p := range split {
		if p.meta == nil {
			out[i] = Piece{Text: p.text}
			continue
		}
		out[i] = Piece{Text: p.meta.text, Var: &Var{Name: p.meta.name, Multi: p.meta.multi}}
	}
	return out
}

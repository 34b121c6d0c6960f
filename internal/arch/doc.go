// Package arch holds the tests of the architecture and no other code: which room
// may import which, what only one room may use, that each package says what it
// is for, and that files stay small enough to read.
package arch

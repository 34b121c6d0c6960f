#!/usr/bin/env bash
# Runs every fuzz test of the module, one after the other.
#
#   scripts/fuzz.sh [DURATION]     30s each by default

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

readonly duration=${1:-30s}

# Prints "PACKAGE NAME" for each fuzz test. `go test -list` would tell the same,
# but builds and links every test first.
list_fuzz_tests() {
  local dir
  go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | while read -r dir; do
    sed -nE "s|^func (Fuzz[A-Za-z0-9_]*)\(.*|${dir/#$root/.} \1|p" "$dir"/*_test.go
  done
}

tests=$(list_fuzz_tests)
[[ -n $tests ]] || fail 'the module has no fuzz test'
while read -r package name; do
  echo "fuzz: $name in $package for $duration" >&2
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$duration" "$package"
done <<<"$tests"

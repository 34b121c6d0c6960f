#!/usr/bin/env bash
# Compiles the Dart grammar, which is loaded at run time and not linked, because
# no Go module carries one that copes with Dart 3.
#
#   scripts/build-dart-grammar.sh OUTDIR
#
# leaves dart.so, dart.json (which grammar and version it is) and dart.LICENSE
# in OUTDIR. Nothing of the package is kept in this tree.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

readonly package=@sengac/tree-sitter-dart version=1.1.6
# Of the two files that are compiled: what npm serves must be what was reviewed.
readonly parser_sha256=5a42b47abb4d494f125dbdee9138979248041689b1aa36355550fa3e28dcb8b8
readonly scanner_sha256=07a7b7818b175e9460523e705dd88d20f7b5141bac95c593d4426e6d52284996

main() {
  [[ $# == 1 ]] || fail 'usage: scripts/build-dart-grammar.sh OUTDIR'
  mkdir -p "$1"
  local out work
  out=$(cd "$1" && pwd)
  work=$(mktemp -d)
  # Expanded now: the variable is gone when the trap runs.
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT

  cd "$work"
  npm pack --silent "$package@$version" >&2 || fail "npm could not fetch $package@$version; check the network and npm's registry setting"
  tar xzf ./*.tgz
  cd package
  sha256sum --check --quiet - <<SUMS || fail "$package@$version is not what it was when it was reviewed"
$parser_sha256  src/parser.c
$scanner_sha256  src/scanner.c
SUMS

  gcc -std=c11 -O2 -fPIC -shared -Isrc src/parser.c src/scanner.c -o "$work/dart.so"
  cp LICENSE "$out/dart.LICENSE"
  printf '{"source": "%s", "version": "%s"}\n' "$package" "$version" >"$out/dart.json"
  # Last, and by a rename: whoever sees dart.so sees it whole.
  mv "$work/dart.so" "$out/dart.so"
}

main "$@"

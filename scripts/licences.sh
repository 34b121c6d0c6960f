#!/usr/bin/env bash
# Collects the licence of each module that the daemon links, of Go itself, and
# of the grammars compiled beside it.
#
#   scripts/licences.sh FOLDER
#
# FOLDER gets MODULES.txt ("path version", one a line) and the licence and notice
# files of each, below its path. A module without a licence file is an error.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

(($# == 1)) || fail 'usage: scripts/licences.sh FOLDER'
readonly out=$1

# copy_licence NAME SOURCE copies the licence files of one source folder.
copy_licence() {
  local name=$1 source=$2 files
  files=$(find "$source" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)[^/]*')
  [[ -n $files ]] || fail "$name has no licence file in $source"
  mkdir -p "$out/$name"
  while read -r file; do
    # The module cache is read-only; the copies are not to be.
    install -m 0644 "$file" "$out/$name/"
  done <<<"$files"
}

mkdir -p "$out"
modules=$(go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/toolsd | sort -u)
[[ -n $modules ]] || fail 'cmd/toolsd links no module: the list would be empty'
while read -r path version dir; do
  copy_licence "$path" "$dir"
  printf '%s %s\n' "$path" "$version"
done <<<"$modules" >"$out/MODULES.txt"

copy_licence go "$(go env GOROOT)"
mkdir -p "$out/grammars"
for grammar in "$tools"/grammars/*.so; do
  licence=${grammar%.so}.LICENSE
  [[ -f $licence ]] || fail "$grammar is released without its licence: $licence is missing"
  install -m 0644 "$licence" "$out/grammars/"
done

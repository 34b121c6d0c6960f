#!/usr/bin/env bash
# Compares proto/ with the API that callers have already: proto/baseline.binpb,
# a descriptor set that is committed, so that no other branch or tag is needed.
#
#   scripts/breaking.sh              fails where proto/ breaks the baseline
#   scripts/breaking.sh --update     makes the baseline from proto/
#
# An update only ever adds: it is refused where proto/ breaks the baseline. To
# break the API on purpose, remove the baseline first and say why in the commit.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

readonly baseline=proto/baseline.binpb
read -ra buf <<<"${BUF:-go tool -modfile=tools.mod buf}"

check() {
  [[ -f $baseline ]] || fail "$baseline is missing; it is committed and made by 'make baseline'"
  "${buf[@]}" breaking --against "$baseline"
}

update() {
  [[ ! -f $baseline ]] || check
  # Comments break nobody; without them the file changes only with the API.
  "${buf[@]}" build --exclude-source-info --output "$baseline"
}

case ${1:-} in
  '') check ;;
  --update) update ;;
  *) fail "unknown argument \"$1\"; the only one is --update" ;;
esac

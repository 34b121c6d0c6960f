#!/usr/bin/env bash
# Generates what is derived from proto/ and committed in gen/.
#
#   scripts/generate.sh            writes gen/
#   scripts/generate.sh --check    writes nothing, and fails where gen/ differs
#
# The check compares with a fresh copy and not with git, so that it holds in a
# shallow clone and in a tree with uncommitted work.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

read -ra buf <<<"${BUF:-go tool -modfile=tools.mod buf}"

# generate_into FOLDER writes the generated code, and the descriptor set with
# its comments that `toolsd protoset` prints, below FOLDER.
generate_into() {
  "${buf[@]}" generate --output "$1"
  mkdir -p "$1/gen/protoset"
  "${buf[@]}" build --as-file-descriptor-set --output "$1/gen/protoset/toolsd.binpb"
}

check() {
  local fresh
  fresh=$(mktemp -d)
  # shellcheck disable=SC2064 # expanded now: the variable is gone when the trap runs
  trap "rm -rf '$fresh'" EXIT
  generate_into "$fresh"
  if ! diff -r gen/toolsd "$fresh/gen/toolsd" ||
    ! cmp gen/protoset/toolsd.binpb "$fresh/gen/protoset/toolsd.binpb"; then
    fail "gen/ is not what proto/ generates; run 'make generate' and commit the result"
  fi
}

case ${1:-} in
  '') generate_into . ;;
  --check) check ;;
  *) fail "unknown argument \"$1\"; the only one is --check" ;;
esac

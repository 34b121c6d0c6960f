# shellcheck shell=bash
# Sourced by the other scripts: strict mode, the folder of the repository as
# $root and as working folder, and the few settings that a bare machine lacks.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # read by the scripts that source this
tools=$root/.tools
cd "$root"

# The go command and npm keep their caches below HOME; some machines give none.
if [[ -z ${HOME:-} ]]; then
  export HOME=$root/.tools/home
  mkdir -p "$HOME"
fi

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

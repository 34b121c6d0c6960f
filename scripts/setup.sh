#!/usr/bin/env bash
# Installs what building, testing and linting toolsd needs, below .tools/ only
# (and, for root, Debian packages that are missing). What is there already, at
# the right version, is left alone, so that a second run takes no time.
#
#   scripts/setup.sh [PART ...]
#
# Parts, all of them when none is named: system, grammars, grpcurl, peers,
# golangci-lint, shellcheck.
#
# No part needs a program that `go install` or `npm install -g` put on PATH.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

readonly all_parts=(system grammars grpcurl peers golangci-lint shellcheck)
readonly grpcurl_version=v1.9.4
readonly golangci_lint_version=v2.15.0

# Finds a compiler and the clients that the other parts call, and installs the
# Debian packages of those that are missing.
setup_system() {
  local missing=()
  command -v gcc >/dev/null || missing+=(gcc libc6-dev)
  command -v make >/dev/null || missing+=(make)
  command -v git >/dev/null || missing+=(git)
  command -v npm >/dev/null || missing+=(npm)
  command -v go >/dev/null || fail 'go is not on PATH; install Go 1.26 or newer'
  ((${#missing[@]} == 0)) || install_debian "${missing[@]}"
}

# Compiles the grammars that are loaded at run time into .tools/grammars.
setup_grammars() {
  local script=scripts/build-dart-grammar.sh
  local out=$tools/grammars stamp=$tools/stamps/dart-grammar want
  # The version and the flags stand in the script, so its checksum tells whether
  # the compiled grammar is still the one it makes.
  want=$(sha256sum <"$script")
  if [[ -f $out/dart.so && -f $stamp && $(<"$stamp") == "$want" ]]; then
    return 0
  fi
  mkdir -p "$out" "$tools/stamps"
  "$script" "$out"
  [[ -f $out/dart.so ]] || fail "$script left no $out/dart.so"
  printf '%s\n' "$want" >"$stamp"
}

setup_grpcurl() {
  install_go_tool grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl "$grpcurl_version"
}

# Installs ast-grep, and the JavaScript and TypeScript sources that it and toolsd
# are compared over, at the versions of a lock file.
setup_peers() {
  local stamp=$tools/stamps/peers want
  want=$(sha256sum <bench/peers/package-lock.json)
  if [[ -d $tools/peers/node_modules && -f $stamp && $(<"$stamp") == "$want" ]]; then
    return 0
  fi
  echo 'setup: installing ast-grep and the sources to compare over' >&2
  mkdir -p "$tools/peers" "$tools/stamps"
  cp bench/peers/package.json bench/peers/package-lock.json "$tools/peers/"
  # No package's own script runs: what is needed is prebuilt in the packages.
  (cd "$tools/peers" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) ||
    fail "npm could not install what bench/peers/package.json lists; check the network and npm's registry setting"
  # The wrapper of @ast-grep/cli starts node; the program itself is beside it.
  local program=("$tools"/peers/node_modules/@ast-grep/cli-linux-*/ast-grep)
  [[ -x ${program[0]} ]] || fail "npm left no ast-grep for this machine ($(uname -m)) in $tools/peers/node_modules"
  mkdir -p "$tools/bin"
  ln -sf "${program[0]}" "$tools/bin/ast-grep"
  printf '%s\n' "$want" >"$stamp"
}

# The linter is installed by path and version and not through tools.mod: its
# dependencies would then be chosen together with buf's.
setup_golangci-lint() {
  install_go_tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$golangci_lint_version"
}

setup_shellcheck() {
  command -v shellcheck >/dev/null || install_debian shellcheck
}

# install_debian PACKAGE... installs Debian packages, which takes root.
install_debian() {
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    fail "these Debian packages are missing, and only root can install them: $*"
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# install_go_tool NAME PACKAGE VERSION builds a Go program into .tools/bin. The
# installed program itself says which version it is, so no stamp can lie.
install_go_tool() {
  local name=$1 package=$2 version=$3 have
  have=$(go version -m "$tools/bin/$name" 2>/dev/null | awk '$1 == "mod" { print $3 }') || true
  [[ $have != "$version" ]] || return 0
  echo "setup: building $name $version" >&2
  mkdir -p "$tools/bin"
  # The caller's flags are meant for this module, not for the tool's.
  GOFLAGS='' GOBIN=$tools/bin go install "$package@$version"
}

main() {
  local parts=("$@") part
  ((${#parts[@]})) || parts=("${all_parts[@]}")
  for part in "${parts[@]}"; do
    declare -F "setup_$part" >/dev/null || fail "unknown part \"$part\"; there are: ${all_parts[*]}"
  done

  # Two runs at once, as `make -j` may start them, wait for each other.
  mkdir -p "$tools"
  exec {lock}>"$tools/setup.lock"
  flock "$lock"
  for part in "${parts[@]}"; do
    "setup_$part"
  done
}

main "$@"

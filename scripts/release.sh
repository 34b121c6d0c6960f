#!/usr/bin/env bash
# Makes dist/toolsd-VERSION-OS-ARCH.tar.gz: the daemon, the compiled grammars, the
# descriptor set for grpcurl, and the licences of everything in it.
#
#   scripts/release.sh VERSION
#
# The same commit and compiler give the same bytes: the archive has no user, and
# the commit's own time. The grammars must have been set up.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

(($# == 1)) || fail 'usage: scripts/release.sh VERSION'
name=toolsd-$1-$(go env GOOS)-$(go env GOARCH)
readonly name stage=$root/dist/$name

rm -rf "$stage" "$stage.tar.gz"
mkdir -p "$stage/grammars"
go build -trimpath -ldflags "-s -w -X main.version=$1" -o "$stage/toolsd" ./cmd/toolsd
install -m 0755 "$tools"/grammars/*.so "$stage/grammars/"
install -m 0644 gen/protoset/toolsd.binpb LICENSE "$stage/"
scripts/licences.sh "$stage/licences"

tar --create --gzip --file "$stage.tar.gz" --directory dist \
  --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" "$name"
rm -rf "$stage"
echo "dist/$name.tar.gz"

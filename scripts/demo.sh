#!/usr/bin/env bash
# The main job, on real code, with a real daemon: search by shape, stage a
# rewrite, look at it, accept it, and see a stale one refused. `make demo` calls
# this once everything is built. It leaves nothing behind.

source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

readonly grpcurl=$tools/bin/grpcurl
work=$(mktemp -d)
readonly work socket=$work/run/toolsd.sock code=$work/code
daemon=

stop_daemon() {
  [[ -n $daemon ]] || return 0
  kill -TERM "$daemon" 2>/dev/null || true
  wait "$daemon" || true
  daemon=
}
cleanup() {
  stop_daemon
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap cleanup EXIT

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

# rpc METHOD JSON calls the daemon as any grpcurl user would.
rpc() { "$grpcurl" -plaintext -unix -d "$2" "$socket" "toolsd.v1.$1"; }

# text prints the "text" of a response, which is what a model reads.
text() {
  local line
  line=$(sed -n 's/^  "text": "\(.*\)",\{0,1\}$/\1/p' | sed 's/\\"/"/g')
  printf '%b' "$line"
}

# expect_error WORD METHOD JSON calls and wants a refusal that names WORD.
expect_error() {
  local output
  if output=$(rpc "$2" "$3" 2>&1); then
    fail "$2 should have been refused"
  fi
  [[ $output == *"$1"* ]] || fail "$2 was refused, but not for $1: $output"
  sed -n 's/^ *\(Code\|Message\): /  \1: /p' <<<"$output"
}

say 'Real code: a copy of github.com/spf13/cobra, and a Dart file with two guards'
module=$(go list -m -f '{{.Dir}}' github.com/spf13/cobra)
mkdir -p "$code/lib"
cp "$module"/*.go "$module"/go.mod "$module"/go.sum "$code/"
chmod -R u+w "$code"
cat >"$code/lib/guards.dart" <<'DART'
void tearDown(Controller? a, Controller? b) {
  if (a != null) a.dispose();
  if (a != null) b.dispose(); // disposes something else
  if (widget.ctl /* ours */ !=
      null) widget.ctl.dispose();
  print('if (a != null) a.dispose()');
}
DART
find "$code" -name '*.go' -exec cat {} + | wc -lc | awk '{ print "  " $1 " lines, " $2 " bytes of Go" }'

say 'Start toolsd on a unix socket'
bin/toolsd serve --listen "unix://$socket" --state-dir "$work/state" --grammar-dir "$tools/grammars" \
  --log-level warn 2>"$work/log" &
daemon=$!
until bin/toolsd healthcheck --listen "unix://$socket" >/dev/null 2>&1; do
  kill -0 "$daemon" 2>/dev/null || { cat "$work/log" >&2; fail 'toolsd did not start'; }
done
printf '  pid %s, %s\n' "$daemon" "$(bin/toolsd version)"

say 'Create a run that may write, with structural search attached'
rpc RunService/CreateRun "{\"run_id\": \"demo\", \"workspace_root\": \"$code\", \"max_tier\": \"TIER_WRITE\", \"resources\": {\"ast\": {}}}" |
  grep -E '"(runId|workspaceRoot|maxTier)"'
run='"run_id": "local.demo"'

say 'Its tools'
rpc RunService/ListTools "{$run}" | sed -n 's/^ *"name": "\(.*\)",$/  \1/p'

say "Search: \$X = append(\$X, \$\$\$MORE) - the same text twice, so never the append to something else"
rpc AstService/Grep "{$run, \"pattern\": \"\$X = append(\$X, \$\$\$MORE)\", \"language\": \"go\", \"max_results\": 8}" | text

say "Search Dart: if (\$X != null) \$X.dispose() - finds the guard that disposes what it checked"
rpc AstService/Grep "{$run, \"pattern\": \"if (\$X != null) \$X.dispose()\", \"language\": \"dart\"}" | text

say "Stage a rewrite: if len(\$X) > 0 { \$\$\$BODY }  ->  if len(\$X) != 0 { \$\$\$BODY }"
edit="\"pattern\": \"if len(\$X) > 0 { \$\$\$BODY }\", \"rewrite\": \"if len(\$X) != 0 {\\n\\t\$\$\$BODY\\n}\", \"path\": \"*.go\", \"language\": \"go\""
rpc AstService/Edit "{$run, $edit}" | text | sed -n '1,40p'
echo '  ...'
sum_before=$(cat "$code"/*.go | sha256sum)

say 'Stage another one over the same file, then accept the first'
rpc AstService/Edit "{$run, \"pattern\": \"len(\$X) > 0\", \"rewrite\": \"0 < len(\$X)\", \"path\": \"command.go\"}" | text | sed -n '1p'
[[ $(cat "$code"/*.go | sha256sum) == "$sum_before" ]] || fail 'staging wrote to the files'
rpc AstService/Resolve "{$run, \"edit_id\": \"edit_1\", \"action\": \"RESOLVE_ACTION_ACCEPT\"}" | text
(cd "$code" && GOFLAGS=-mod=mod go build . && echo '  and it still builds')

say 'The second is stale now: refused whole, nothing written'
expect_error EDIT_STALE AstService/Resolve "{$run, \"edit_id\": \"edit_2\", \"action\": \"RESOLVE_ACTION_ACCEPT\"}"

say 'Plan mode: with the ceiling at read, the writing tools do not exist'
rpc RunService/UpdateRun "{$run, \"max_tier\": \"TIER_READ\"}" >/dev/null
rpc RunService/ListTools "{$run}" | sed -n 's/^ *"name": "\(.*\)",$/  \1/p'
expect_error TOOL_NOT_REGISTERED AstService/Edit "{$run, $edit}"

say 'Close the run, stop the daemon, look for what is left'
rpc RunService/CloseRun "{$run}" >/dev/null
pid=$daemon
stop_daemon
! kill -0 "$pid" 2>/dev/null || fail "toolsd ($pid) is still there"
[[ ! -e $socket ]] || fail "the socket $socket is still there"
[[ -z $(find "$work/state" -type f ! -name '*lock*') ]] || fail 'a journal is left in the state folder'
[[ -z $(find "$code" -name '*toolsd*') ]] || fail 'temporary files are left in the workspace'
echo '  no process, no socket, no journal, no temporary file'

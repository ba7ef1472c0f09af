#!/usr/bin/env bash
# Three replicas on one Postgres, behind a front that shares connections out: sends work, kills the replica that does it,
# and reads on where the stream was cut, through the same front.
#
# Needs cargo, curl, and the programs of Postgres (on the path, or where Debian's package puts them). Everything it starts
# lies in a folder of its own, and goes with it.
#
#   PROGRAM=path/to/replicas    the example, if it is built already
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$(mktemp -d /tmp/a2a-layers-replicas.XXXXXX)
started=()

finish() {
  local code=$? pid
  trap - EXIT
  for pid in ${started[@]+"${started[@]}"}; do kill "$pid" 2>/dev/null || true; done
  if [ -f "$folder/data/postmaster.pid" ]; then
    database_program pg_ctl stop -D "$folder/data" -m immediate >/dev/null || true
  fi
  wait
  rm -rf "$folder"
  exit "$code"
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

fail() {
  echo "$*" >&2
  exit 1
}

# The folder of Postgres's programs: the one on the path, or the newest of Debian's.
database_programs() {
  local installed
  installed=$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)
  [ -n "$installed" ] || fail "Postgres is not installed"
  dirname "$installed"
}

# The database refuses to be root, so there it is the user that came with its package.
database_program() { # PROGRAM ARGUMENT...
  local program=$programs/$1
  shift
  if [ "$(id -u)" = 0 ]; then
    (cd / && setpriv --reuid=postgres --regid=postgres --init-groups "$program" "$@")
  else
    "$program" "$@"
  fi
}

# Starts the example in the background, and waits for the address that it prints.
start() { # NAME ARGUMENT...
  local log=$folder/$1.out
  touch "$log"
  "$PROGRAM" "${@:2}" >"$log" 2>"$folder/$1.err" &
  started+=($!)
  for _ in $(seq 100); do
    address=$(sed -n 's|.* http://\(.*\)/$|\1|p' "$log")
    [ -z "$address" ] || return 0
    kill -0 "${started[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$folder/$1.err" >&2
  fail "$1 does not start"
}

call() { # METHOD PARAMETERS [CURL OPTION...]
  curl -sS "http://$front/" -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' "${@:3}" \
    -d '{"jsonrpc":"2.0","id":1,"method":"'"$1"'","params":'"$2"'}'
}

message() { # TEXT
  echo '{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"'"$1"'"}]}}'
}

# All that a stream said, without the words around it.
text() { # FILE
  grep -o '"text":"[^"]*"' "$1" | sed 's/"text":"\(.*\)"/\1/' | tr -d '\n'
}

programs=$(database_programs)
if [ -z "${PROGRAM:-}" ]; then
  cargo build --locked --features postgres --example replicas
  PROGRAM=${CARGO_TARGET_DIR:-target}/debug/examples/replicas
fi

echo "== A database"
if [ "$(id -u)" = 0 ]; then chown postgres "$folder"; fi
chmod 755 "$folder"
database_program initdb -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$folder/initdb.log"
database_program pg_ctl start -w -D "$folder/data" -l "$folder/postgres.log" \
  -o "-c listen_addresses= -c unix_socket_directories=$folder" >"$folder/pg_ctl.log"
database="postgres://postgres@localhost/postgres?host=$folder"

echo "== Three replicas, and the front"
replicas=()
for name in first second third; do
  start "$name" serve 127.0.0.1:0 "$database"
  replicas+=("$address")
  echo "$name: process ${started[-1]} on http://$address/"
done
start front front 127.0.0.1:0 "${replicas[@]}"
front=$address
echo "in front: http://$front/"

echo "== Whatever one replica does, the others know"
call SendMessage "$(message 3)" >"$folder/sent"
id=$(sed 's/.*"task":{"id":"\([^"]*\)".*/\1/' "$folder/sent")
for _ in 1 2 3; do
  call GetTask '{"id":"'"$id"'","historyLength":0}' >"$folder/got"
  grep -q TASK_STATE_COMPLETED "$folder/got" || fail "a replica does not have the task: $(cat "$folder/got")"
  echo "$(text "$folder/got")"
done

echo "== A stream, whose replica is killed in the middle"
touch "$folder/stream"
call SendStreamingMessage "$(message 30)" -N >"$folder/stream" 2>"$folder/curl.err" &
streaming=$!
until grep -q '"text":" 9"' "$folder/stream"; do
  kill -0 "$streaming" 2>/dev/null || fail "the stream ended: $(cat "$folder/stream")"
  sleep 0.1
done
process=$(text "$folder/stream" | sed 's/^[^:]*process \([0-9]*\):.*/\1/')
kill -9 "$process"
# The shell would speak of it.
wait "$process" "$streaming" 2>/dev/null || true
id=$(grep -o '"task":{"id":"[^"]*"' "$folder/stream" | head -n 1 | sed 's/.*:"\(.*\)"/\1/')
last=$(sed -n 's/^id: *//p' "$folder/stream" | tail -n 1)
echo "killed $process; the stream broke off after event $last: $(text "$folder/stream" | sed 's/^.*process/process/')"

echo "== The rest, through the same front, with Last-Event-ID: $last"
call SubscribeToTask '{"id":"'"$id"'"}' -N -H "Last-Event-ID: $last" >"$folder/rest"
grep -q TASK_STATE_COMPLETED "$folder/rest" || fail "the stream did not end well: $(cat "$folder/rest")"
echo "events up to $(sed -n 's/^id: *//p' "$folder/rest" | tail -n 1): $(text "$folder/rest" | sed 's/^.*process/process/')"
call GetTask '{"id":"'"$id"'","historyLength":0}' >"$folder/got"
answer=$(text "$folder/got")
case $answer in
  *"$process"*) fail "the work was not done again: $answer" ;;
  *' 29 30') echo "the task, whole, by another replica: $answer" ;;
  *) fail "the task is not whole: $answer" ;;
esac

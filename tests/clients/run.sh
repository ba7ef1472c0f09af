#!/usr/bin/env bash
# The published Python and JavaScript SDKs, of the 0.3 and the 1.0 line, over each binding, against a running server.
#
#   tests/clients/run.sh BASE_URL [LINE...]      LINE: python-1.0 python-0.3 js-1.0 js-0.3; default: all
#
# The server must be the scripted agent (examples/scripted). What is installed stays in CLIENTS_CACHE (default:
# target/clients), so that a second run is quick.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { echo "usage: $0 BASE_URL [LINE...]" >&2; exit 2; }
base=$1
shift
[ $# -ge 1 ] || set -- python-1.0 python-0.3 js-1.0 js-0.3
cache=${CLIENTS_CACHE:-${CARGO_TARGET_DIR:-$here/../../target}/clients}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# Installs a Python line if its requirements changed. Without the venv module, packages go to a folder of their own.
install_python() { # LINE
  local home=$cache/$1 wanted=$here/$1/requirements.txt
  cmp -s "$wanted" "$home/installed" && return
  rm -rf "$home" && mkdir -p "$home"
  if python3 -m venv "$home/venv" >/dev/null 2>&1; then
    timeout 300 "$home/venv/bin/python" -m pip install -q -r "$wanted"
  else
    rm -rf "$home/venv"
    timeout 300 python3 -m pip install -q --target "$home/packages" -r "$wanted"
  fi
  cp "$wanted" "$home/installed"
}

run_python() { # LINE
  local home=$cache/$1 python=python3
  [ -x "$home/venv/bin/python" ] && python=$home/venv/bin/python
  PYTHONPATH=$here:$home/packages timeout 120 "$python" "$here/$1/client.py" "$base"
}

# Packages are found from where a module lies, so the driver is copied beside what it needs.
install_js() { # LINE
  local home=$cache/$1
  mkdir -p "$home"
  cp "$here/checks.mjs" "$cache/"
  cp "$here/$1/client.mjs" "$here/$1/package.json" "$here/$1/.npmrc" "$home/"
  cmp -s "$home/package.json" "$home/installed" && return
  (cd "$home" && timeout 300 npm install --no-package-lock --no-audit --no-fund --loglevel=error >&2)
  cp "$home/package.json" "$home/installed"
}

run_js() { # LINE
  timeout 120 node "$cache/$1/client.mjs" "$base"
}

failed=()
for line in "$@"; do
  echo "== $line"
  case $line in
    python-*) kind=python ;;
    js-*) kind=js ;;
    *) echo "there is no line $line" >&2; exit 2 ;;
  esac
  "install_$kind" "$line"
  "run_$kind" "$line" || failed+=("$line")
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all lines passed: $*"

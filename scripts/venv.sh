# Sourced by scripts/demo and scripts/test: where Python is, and a fresh .venv in the repository.

# Prints the first Python that is new enough, `python3` before the versioned names; with an argument
# the one of that version.
find_python() {
  local name
  for name in python3 python3.13 python3.12 python3.14 python3.11; do
    if "$name" -c 'import sys; now = "%d.%d" % sys.version_info[:2]
sys.exit(now != sys.argv[1] if sys.argv[1:] else sys.version_info < (3, 11))' "$@" 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "Python ${1:-3.11 or later} is needed, and none was found as python3 or python3.1x" >&2
  return 1
}

# Creates .venv unless a working one is there.
ensure_venv() {
  if ! .venv/bin/python -c '' 2>/dev/null; then
    local python
    python=$(find_python)
    "$python" -m venv --clear .venv
  fi
}

# Tools that are no part of refless's own environment, each installed once into .venv-tools.
ensure_tools() {
  if ! .venv-tools/bin/python -c '' 2>/dev/null; then
    "$(find_python)" -m venv --clear .venv-tools
  fi
  .venv-tools/bin/python -m pip install -qq --disable-pip-version-check "$@"
}

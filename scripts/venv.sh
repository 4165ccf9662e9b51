# Sourced by scripts/demo and scripts/test: where Python is, and a fresh .venv in the repository.

# Prints the first Python that is new enough, `python3` before the versioned names.
find_python() {
  local name
  for name in python3 python3.13 python3.12 python3.14 python3.11; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "refless needs Python 3.11 or later, and none was found as python3 or python3.1x" >&2
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

"""A workflow of GitHub Actions that asks a gate on every pull request."""

from pathlib import Path

from refless.files.writing import make_folder, write_atomic
from refless.registry.errors import UsageError
from refless.registry.version import __version__

PLACE = Path(".github/workflows/refless-gate.yml")
WORKFLOW = """\
name: refless gate
on: pull_request
permissions:
  contents: read
env:
  REFLESS: wheels/refless-{version}-py3-none-any.whl
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install "$REFLESS"
      - name: Gate
        run: |
          set +e
          {line} -o gate.html -o junit:gate.xml --format md > gate.md
          status=$?
          cat gate.md >> "$GITHUB_STEP_SUMMARY"
          if [ "$status" -eq 4 ]; then
            echo "::warning title=refless::$(head -n 1 gate.md)"
            exit 0
          fi
          exit "$status"
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: gate
          path: gate.*
"""


def write_workflow(line: str) -> str:
    """Writes the workflow that runs a command line; the sentence that says so.

    Raises:
        UsageError: there is one already.
    """
    if PLACE.exists():
        raise UsageError(f"{PLACE} is there already: delete it, or change it by hand")
    make_folder(PLACE.parent)
    write_atomic(str(PLACE), WORKFLOW.format(line=line, version=__version__))
    return f"wrote {PLACE}: it needs the wheel of refless that REFLESS names in it"

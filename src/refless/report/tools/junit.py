"""A gate as test cases, in the XML that builds read (JUnit)."""

import re
from collections.abc import Mapping

from refless.report.result import GateRecord

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = {"failed": "failure", "undecided": "skipped"}


def junit(command: str, gates: Mapping[str, GateRecord]) -> str:
    """A case a gate, by name: one that failed is a failure, an undecided one is skipped."""
    cases = [_case(f"refless.{command}", name, gate) for name, gate in gates.items()]
    failed, skipped = (sum(gate.verdict == verdict for gate in gates.values()) for verdict in KINDS)
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="{skipped}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f'  <testsuite name="refless {command}" {counts}>\n'
        + "".join(cases)
        + "  </testsuite>\n</testsuites>\n"
    )


def _case(group: str, name: str, gate: GateRecord) -> str:
    kind = KINDS.get(gate.verdict)
    head = f"    <testcase classname={_quoted(group)} name={_quoted(name)}"
    return (
        f"{head}/>\n"
        if kind is None
        else (f"{head}>\n      <{kind} message={_quoted(gate.reason)}/>\n    </testcase>\n")
    )


def _quoted(text: str) -> str:
    """A value of an attribute, with its quotes; what XML cannot hold is a replacement character."""
    from xml.sax.saxutils import quoteattr  # loads a web client

    return quoteattr(_FORBIDDEN.sub("\ufffd", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})

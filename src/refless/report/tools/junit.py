"""A gate as test cases, in the XML that builds read (JUnit)."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from refless.report.result import GateRecord

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = {"failed": "failure", "undecided": "skipped"}


def junit(command: str, gates: Mapping[str, GateRecord]) -> str:
    """A case a gate, by name: one that failed is a failure, an undecided one is skipped."""
    verdicts = [gate.verdict for gate in gates.values()]
    counts = {"tests": str(len(gates)), "failures": str(verdicts.count("failed")), "errors": "0"}
    counts["skipped"] = str(verdicts.count("undecided"))
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": f"refless {command}", **counts})
    for name, gate in gates.items():
        case = ET.SubElement(suite, "testcase", classname=f"refless.{command}", name=_valid(name))
        if gate.verdict in KINDS:
            ET.SubElement(case, KINDS[gate.verdict], message=_valid(gate.reason))
    ET.indent(root)
    content = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{content}\n'


def _valid(text: str) -> str:
    """The text with a replacement character for each that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)

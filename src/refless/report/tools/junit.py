"""A gate as a test case, in the XML that builds read (JUnit)."""

import re
from xml.etree import ElementTree as ET

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = {"failed": "failure", "undecided": "skipped"}


def junit(command: str, verdict: str, reason: str) -> str:
    """One case: a gate that failed is a failure, an undecided one is skipped."""
    counts = {
        "tests": "1",
        "failures": str(int(verdict == "failed")),
        "errors": "0",
        "skipped": str(int(verdict == "undecided")),
    }
    root = ET.Element("testsuites", counts)
    suite = ET.SubElement(root, "testsuite", {"name": f"refless {command}", **counts})
    case = ET.SubElement(suite, "testcase", classname=f"refless.{command}", name="gate")
    if verdict in KINDS:
        message = _FORBIDDEN.sub("\ufffd", reason)  # what XML cannot hold
        ET.SubElement(case, KINDS[verdict], message=message)
    ET.indent(root)
    content = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{content}\n'

"""The six functions, and the JSON documents, that other tools may pin.

Within a major version their parameters keep name, kind and default, and their documents keep every
key with its type; more may come.

>>> from refless.stable import DOCUMENTS
>>> DOCUMENTS["gate"].schema()["title"]
'GatedRecord'
"""

from refless.commands.compare.result import CompareResult
from refless.commands.compare.run import compare
from refless.commands.gate.result import GateResult
from refless.commands.gate.run import gate
from refless.commands.judge.result import JudgeResult
from refless.commands.judge.run import judge
from refless.commands.next.plan import PlanResult
from refless.commands.next.result import NextResult
from refless.commands.next.run import next  # noqa: A004 - the command's name
from refless.commands.next.study import plan
from refless.commands.validate.result import ValidateResult
from refless.commands.validate.run import validate
from refless.report.result import Result

__all__ = ["DOCUMENTS", "compare", "gate", "judge", "next", "plan", "validate"]

DOCUMENTS: dict[str, type[Result]] = {  # what to_dict() of each function's result holds
    "compare": CompareResult,
    "gate": GateResult,
    "judge": JudgeResult,
    "next": NextResult,
    "plan": PlanResult,
    "validate": ValidateResult,
}

"""estimators, metrics: what there is, with every parameter."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from refless.application.parameters import command
from refless.application.result import Result
from refless.signature import Signature
from refless.version import __version__

if TYPE_CHECKING:
    from refless.report.document import Document
    from refless.report.export import Rows as Records
    from refless.report.lists import Listed
    from refless.report.record import Record


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ListResult(Result):
    """Things that a specification can name.

    Attributes:
        command_name: the command that shows them.
        listed: their names, a line on each, and their parameters.
        example: a specification.
    """

    record = "refless.report.lists:ListRecord"
    command_name: Literal["estimators", "metrics"]
    listed: tuple[Listed, ...]
    example: str

    @property
    def signature(self) -> Signature:
        """The version."""
        return Signature(self.command_name).plus(v=__version__)

    def document(self) -> Document:
        """What the terminal shows."""
        from refless.report.lists import list_document

        return list_document(self.listed, self.example)

    def json(self) -> Record:
        """What `--format json` prints."""
        return self._record(command=self.command_name)

    def rows(self) -> Records:
        """One mapping a parameter, as in CSV and JSONL."""
        return [
            {**asdict(parameter), "name": one.name, "parameter": parameter.name}
            for one in self.listed
            for parameter in one.parameters
        ]


@command
def estimators() -> ListResult:
    """List the estimators and kernels, with every parameter."""
    from refless.estimators import ESTIMATORS
    from refless.kernels import KERNELS

    kinds: dict[str, Any] = {**ESTIMATORS, **{f"kernel {k}": v for k, v in KERNELS.items()}}
    return ListResult(
        command_name="estimators",
        listed=tuple(_listed(name, kind) for name, kind in kinds.items()),
        example="gp:max_sd=0.2, bleu-neighbors:kernel=rouge-l,tau=0.1",
    )


@command
def metrics() -> ListResult:
    """List the metrics, what each needs, and every parameter."""
    from refless.metrics import METRICS

    found = []
    for name, kind in METRICS.items():
        needs = f" Needs {', '.join(kind.needs) or 'nothing else'}."
        found.append(_listed(name, kind, f"{needs} {kind.missing()}".rstrip()))
    example = "bleu:order=2,smooth=exp"
    return ListResult(command_name="metrics", listed=tuple(found), example=example)


def _listed(name: str, kind: type, more: str = "") -> Listed:
    from refless.report.lists import Listed
    from refless.spec import parameters

    about = (kind.__doc__ or "").splitlines()[0] + more
    return Listed(name=name, about=about, parameters=parameters(kind))

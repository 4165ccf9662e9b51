"""The certificate of a study: its plan, its looks, its claim, and whether it still holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

import msgspec

from refless.commands.calls import Call
from refless.commands.compare.claims import Claim
from refless.files.untrusted import json_of
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.report.document import Document, Section
from refless.report.record import Record, Signed
from refless.report.result import GateRecord, Result

ROUNDING = 1e-6  # of a number: less is the arithmetic of another machine
METHODS = {
    "any": "intervals that hold together and however often one looks: asymptotic confidence "
    "sequences (Robbins 1970), Bonferroni",
    "planned": "planned looks: error is spent by functions of Lan and DeMets (1983)",
}
Compare = Callable[..., Any]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `compare`, by which a claim is computed; files lie beside the certificate.

    Attributes:
        outputs, rated: names of files; all others are those of `compare`.
    """

    outputs: tuple[str, ...]
    rated: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    dimension: str | None = None
    estimator: str = "gp"
    selection: Literal["random"] | None = None
    seed: int = 0
    looks: str = "any"
    of: int | None = None

    def compared(self, folder: Path, compare: Compare) -> Any:
        """The result of `compare` on these files of a folder."""
        options = msgspec.structs.asdict(self)
        options["outputs"] = [str(folder / name) for name in self.outputs]
        options["rated"] = [str(folder / name) for name in self.rated] or None
        return compare(**options)


class TakenLook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A planned look that was taken.

    Attributes:
        items: with ratings of all systems that were left; spent: share of the error by then.
        at: when; dropped: each system that was dropped, by the one that it is behind.
    """

    items: int
    spent: float
    at: str
    dropped: dict[str, str] = {}


class CertifiedStudy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The claim about one dimension, with all that it takes to compute it again.

    Attributes:
        arguments: of `compare`; looks: planned ones that were taken.
        claim, known, raters: see `Claim`; signature: of the numbers.
        kept: systems that were dropped, and put back by whoever owns the study.
    """

    arguments: Arguments
    claim: str
    known: list[dict[str, Any]]
    raters: dict[str, int]
    signature: str
    looks: tuple[TakenLook, ...] = ()
    kept: tuple[str, ...] = ()


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a certificate.

    Attributes:
        until: the goal that ended the study; at: when; method: what its intervals hold for.
        dimensions: the study of each.
    """

    until: str
    at: str
    method: str
    dimensions: dict[str, CertifiedStudy]
    confidence: float = 0.95
    format: Literal[1] = 1


def study_of(
    arguments: Arguments, claim: Claim, signature: Signature
) -> CertifiedStudy:
    """The study as a certificate has it."""
    return CertifiedStudy(
        arguments=arguments,
        claim=claim.said,
        known=msgspec.json.decode(msgspec.json.encode(claim.known)),
        raters=dict(claim.raters),
        signature=str(signature),
    )


@dataclass(frozen=True, kw_only=True)
class VerifiedRecord(Record):
    """A certificate that was computed again.

    Attributes:
        until: the goal that ended the study.
        holds: whether all is as the certificate says; differences: what is not.
        claims: what the ratings say now, by dimension.
    """

    command: Literal["compare"] = "compare"
    of: Literal["certificate"] = "certificate"
    signature: Signed
    until: str
    holds: bool
    differences: tuple[str, ...]
    claims: dict[str, str]
    gate: GateRecord


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VerifiedResult(Result):
    """A certificate that was computed again from the ratings beside it."""

    record = VerifiedRecord
    certificate: Certificate
    differences: tuple[str, ...]
    claims: Mapping[str, str]

    def _shown(self) -> Document:
        verdict = "The certificate holds: the ratings beside it give the same claim."
        if self.differences:
            number = counted(len(self.differences), "difference")
            verdict = f"The certificate does not hold: {number}."
        lines = [*self.differences]
        for name, claim in self.claims.items():
            lines.append(f"{name}: {claim}" if len(self.claims) > 1 else claim)
        notes = (f"The study ended by: {self.certificate.until}.",)
        return Document(
            title="Certificate",
            verdict=verdict,
            notes=notes,
            sections=(Section(lines=tuple(lines)),),
        )

    def _json(self) -> Record:
        return self._record(until=self.certificate.until, holds=not self.differences)


def verified(call: Call, compare: Compare, compare_choices: Compare) -> VerifiedResult:
    """The certificate that a call names, computed again from the files beside it.

    Args:
        call: of `compare`, with the certificate in the place of outputs.
        compare, compare_choices: the functions for ratings, and for choices.

    Raises:
        UsageError: another parameter, or not one file; InputError: no certificate.
    """
    path = _path(call)
    certificate = _read(path)
    differences: list[str] = []
    claims: dict[str, str] = {}
    signatures: list[Signature] = []
    for name, study in certificate.dimensions.items():
        function = compare if study.arguments.rated else compare_choices
        result = study.arguments.compared(path.parent, function)
        claim = result.claim(certificate.until)
        again = study_of(study.arguments, claim, result.signature)
        prefix = f"{name}: " if len(certificate.dimensions) > 1 else ""
        lines = differing(study, again, claim.spent)
        differences += [prefix + line for line in lines]
        claims[name] = claim.said
        signatures.append(result.signature)
    if differences:
        gate = GateRecord.of("failed", "the certificate does not hold")
    else:
        gate = GateRecord.of("passed", "the certificate holds")
    return VerifiedResult(
        certificate=certificate,
        differences=tuple(differences),
        claims=claims,
        gate=gate,
        signature=signatures[0],
    )


def _path(call: Call) -> Path:
    """The only file of the call; raises UsageError for more than that."""
    flag = called("verify")
    for parameter in call.parameters:
        given = call.values[parameter.name]
        mine = parameter.name in {"outputs", "verify"}
        if not mine and given != parameter.default:
            raise UsageError(
                f"{flag} takes a certificate alone, which says the rest: leave out "
                f"{called(parameter.name)}"
            )
    outputs = call.values["outputs"]
    names = [outputs] if isinstance(outputs, str | PurePath) else outputs
    if not isinstance(names, Sequence) or len(names) != 1:
        raise UsageError(f"{flag} takes one file, a certificate")
    return Path(names[0])


def _read(path: Path) -> Certificate:
    """The certificate in a file; raises InputError if it is none."""
    content = json_of(path)
    remedy = "give the certificate.json that 'refless rate' wrote at the end of a study"
    try:
        certificate = msgspec.convert(content, Certificate)
    except msgspec.ValidationError as fault:
        problem = f"this is no certificate: {fault}"
        raise InputError(problem, path=str(path), remedy=remedy) from None
    if not certificate.dimensions:
        raise InputError("this certificate has no study", path=str(path), remedy=remedy)
    for study in certificate.dimensions.values():
        for name in (*study.arguments.outputs, *study.arguments.rated):
            if PurePath(name).name != name or not name:
                raise InputError(
                    f"the certificate names the file '{name}', which is not beside it",
                    path=str(path),
                    remedy="put all its files into one folder",
                )
    return certificate


def differing(
    study: CertifiedStudy, again: CertifiedStudy, spent: float
) -> Iterator[str]:
    """Sentences on what a certificate says, and what its ratings say.

    Args:
        study: of the certificate; again: by its ratings; spent: share of the error, likewise.
    """
    for field in ("claim", "raters", "signature"):
        said = getattr(study, field)
        now = getattr(again, field)
        if said != now:
            yield f"The {field} is '{_text(now)}'; the certificate says '{_text(said)}'."
    looks = ",".join(str(look.items) for look in study.looks) or "any"
    if not f"{study.arguments.looks},".startswith(f"{looks},"):
        yield f"The looks are {study.arguments.looks}; the certificate lists {looks}."
    if study.looks and not _alike(study.looks[-1].spent, spent):
        said = study.looks[-1].spent
        yield f"The last look has spent {spent:g}; the certificate says {said:g}."
    if len(study.known) != len(again.known):
        yield f"There are {len(again.known)} numbers; the certificate has {len(study.known)}."
    for said_row, row in zip(study.known, again.known, strict=False):
        for name in sorted({*said_row, *row}):
            said = said_row.get(name)
            now = row.get(name)
            if not _alike(said, now):
                about = " and ".join(_names(row))
                yield f"{about}: {name} is {now}; the certificate says {said}."


def _names(row: Mapping[str, Any]) -> list[str]:
    """The systems that a row is about."""
    return [row[name] for name in ("system", "first", "second") if name in row]


def _text(value: Any) -> str:
    """A text, or names with their counts."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {count}" for name, count in sorted(value.items()))
    return str(value)


def _alike(said: Any, now: Any) -> bool:
    """True for the same text, or the same numbers but for rounding; NaN is null in JSON."""
    if isinstance(said, list | tuple) and isinstance(now, list | tuple):
        return len(said) == len(now) and all(map(_alike, said, now))
    if isinstance(said, int | float) and isinstance(now, int | float):
        return math.isclose(said, now, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(said == now)

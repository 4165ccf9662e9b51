"""Names of people, systems and items: pseudonyms, and spellings that differ in form alone."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from refless.data.tables.columns import Roles, listed
from refless.registry.arrays import Names, Strings
from refless.registry.dialect import called
from refless.registry.plural import counted

_MAIL = re.compile(r"\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_ENDS = re.compile(r" \n ?|\n ")
_WHOLE = re.compile(r"^0*(\d+)(?:\.0+)?$", re.MULTILINE)  # 1, 1.0 and 001
_MODEL = re.compile(
    r"gpt-?[345o]|chatgpt|\bllm|_llm|alpaca_?eval|\bmistral[-_ ](large|small)"
    r"|\b(claude|gemini|llama|mistral|mixtral|qwen|deepseek|prometheus|palm|gemma)"
    r"[-_ ]?(v?\d|pro|flash|opus|sonnet|haiku|instruct|chat|eval|bison|it\b)"
    r"|\bcommand[-_ ]?(r\b|\d|a\b|light|nightly)",
    re.IGNORECASE,
)
_CHECK = re.compile("(?i)attention[-_ ]?check|catch[-_ ]?trial|attention[-_ ]?test")
_ODD = {
    "annotator": (_MODEL, "a model by its name counts as a person"),
    "item": (_CHECK, "is that an output, or a check of the raters"),
}


def pseudonyms(names: list[str]) -> tuple[list[str], Strings]:
    """Annotators with a digest in place of each e-mail address, and a note that says so."""
    mails = {
        name: name.strip().casefold() for name in {*names} if _MAIL.fullmatch(name)
    }
    if not mails:
        return names, ()
    digests = {
        name: f"rater-{hashlib.sha256(mail.encode()).hexdigest()[:8]}"
        for name, mail in mails.items()
    }
    note = f"{counted(len(mails), 'annotator')} named by an e-mail address: pseudonyms are used"
    return [digests.get(name, name) for name in names], (note,)


def are_models(names: Collection[str]) -> bool:
    """Whether all names are those of language models."""
    return bool(names) and all(map(_MODEL.search, names))


def notes_on(
    names: Mapping[str, Names], people: Names, files: Sequence[int], roles: Roles
) -> Iterator[str]:
    """Notes on names that differ in form alone, or are called as no other would be.

    Args:
        names: role -> [n] names; people: all annotators; files: [n] the file of each row.
        roles: the columns.
    """
    yield from _spelled_alike(people, "annotator")
    yield from _spelled_alike(names.get("system", ()), "system")
    for role in ("id", "item", "source"):
        if role in names:
            yield from keys_alike(role, names[role], names.get("system") or files)
    for role, (pattern, why) in _ODD.items():
        values = {*names.get(role, ())}
        odd = sorted(filter(pattern.search, values))
        if 0 < len(odd) < len(values):
            without = called("where", f"{roles.column(role)}!={odd[0]}")
            yield f"{role}s {listed(odd, 3)}: {why}; {without} leaves one out"


def _alike(names: Iterable[str]) -> list[list[str]]:
    """Names that differ in form alone: capitals, blanks, quotes, - and _, 1 and 1.0 and 001."""
    distinct = [*dict.fromkeys(names)]
    forms = _forms(distinct) if distinct else []
    if len({*forms}) == len(distinct):
        return []
    alike: dict[str, list[str]] = {}
    for name, form in zip(distinct, forms, strict=True):
        alike.setdefault(form, []).append(name)
    return sorted(
        sorted(spellings) for spellings in alike.values() if len(spellings) > 1
    )


def _forms(names: Names) -> list[str]:
    """[n] the names without what is form alone, all in one text, which is quick."""
    text = "\n".join(name.replace("\n", " ") for name in names).casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    text = text.replace("_", "-")
    text = _ENDS.sub("\n", _BLANKS.sub(" ", f"\n{text}\n"))
    return _WHOLE.sub(r"\1", text).split("\n")[1:-1]


def _spelled_alike(names: Names, role: str) -> Iterator[str]:
    """Notes on names that differ in form alone."""
    for spellings in _alike(names):
        differ = f"differ in form alone and count as {len(spellings)}"
        yield f"{role}s {listed(spellings)} {differ}; if they are one, spell them alike"


def keys_alike(role: str, keys: Names, owners: Sequence[Hashable]) -> Iterator[str]:
    """A note on keys that would match across owners if their form did not count.

    Spellings that one owner, a system or a file, has side by side are two keys: nothing is said.
    """
    groups = _alike(keys)
    owned: dict[str, set[Hashable]] = {key: set() for key in chain(*groups)}
    for key, owner in zip(keys, owners, strict=True) if groups else ():
        if key in owned:
            owned[key].add(owner)
    apart = []
    for spellings in groups:
        of_each = [owned[key] for key in spellings]
        if sum(map(len, of_each)) == len(set().union(*of_each)):
            apart.append(spellings)
    if apart:
        first = [listed([key]) for key in apart[0][:2]]
        more = f" ({counted(len(apart), role)} like these)" if len(apart) > 1 else ""
        yield (
            f"{role}s {' and '.join(first)} differ in form alone and do not match{more}; "
            "keys count as they are written: if they are one, write them alike"
        )

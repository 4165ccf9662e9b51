"""Nasty input by grammar, and mutation that knows what it mutates; all of it drawn from a seed."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import math
import random
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

WORDS = (
    "", "a", "the ferry opens", "café", "日本語 テキスト", "👍🏽", "e\u0301", "\u202eabc", "\x1b[31mred",
    "=1+1", "@x", "-1", "a\tb", 'say "no"', "a,b", "a;b", "two\nlines", "\r", "\r\n", "\ufeff", "\0",
    "\ud800", "\u2028", "\x85", "N/A", "nan", "null", "-", "?", "up", "down", "yes", "No", "True",
    "1,5", "4,125", "1e999", "-inf", "0x10", "1_000", "٣", "²", "½", " 3 ", "+4", "1e-320", "x" * 300,
    "inform(name='x',food=thai)&request(near)", "name[x], food[y]", '?confirm(a="b")', "sep=;",
)  # fmt: skip
NAMES = (
    "text", "rating", "id", "item", "source", "system", "task", "annotator", "reference", "weight",
    "score", "Text", "RATING", "rater1", "rater2", "group", "label", "", " ", "sep=", "\x1b[2J", "é",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    -1,
    5,
    2.5,
    1e308,
    -1e308,
    5e-324,
    2**53,
    2**63,
    10**400,
    math.nan,
    math.inf,
    -0.0,
)
TOKENS = (
    *(word.encode("utf-8", "surrogatepass") for word in WORDS),
    b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xc3", b"\x80", b"\x1f\x8b", b"PAR1", b"{", b"}", b"[", b"]",
    b'"', b'""', b"\\", b"\\u0000", b"\\ud800", b",", b";", b"\t", b"\n", b"\r", b"|", b":", b"%", b"(",
    b")", b"=", b"&", b"[" * 3000, b"(" * 3000, b'{"a":' * 2000, b"9" * 5000, b"1e999999999", b"NaN",
    b"%ff", b"%u", b"gp:", b"max_sd=", b"kernel=", b"bleu*", b"orders=1-4", b"none", b"yes",
)  # fmt: skip
Maker = Callable[[random.Random], bytes]


def value(rng: random.Random, depth: int = 0) -> Any:
    """A value that JSON can hold, most often a text or a number."""
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(WORDS)
    if kind < 0.75:
        return rng.choice((rng.randint(1, 5), rng.choice(NUMBERS)))
    if kind < 0.85 or depth > 3:
        return rng.choice((None, True, False))
    if kind < 0.93:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(NAMES): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def columns(rng: random.Random) -> list[str]:
    """Names of columns, most often with a text and a rating among them."""
    names = [*dict.fromkeys(rng.choices(NAMES, k=rng.randint(0, 4)))]
    return [
        *dict.fromkeys([*(["text", "rating"] if rng.random() < 0.85 else []), *names])
    ] or ["x"]


def rows(rng: random.Random) -> list[dict[str, Any]]:
    """Rows, most of them sound, so that one nasty cell is met by all that comes after it."""
    names = columns(rng)
    nasty = rng.choice((0.0, 0.05, 0.5))
    sound: dict[str, Callable[[], Any]] = {
        "rating": lambda: rng.randint(1, 5),
        "text": lambda: f"text {rng.randint(0, 9)}",
    }
    found = []
    for number in range(rng.randint(0, 6)):
        row: dict[str, Any] = {}
        for name in names:
            plain = sound[name]() if name in sound else f"n{number}"
            row[name] = value(rng) if rng.random() < nasty else plain
        found.append(row)
    return found


def jsonl(rng: random.Random) -> bytes:
    """Lines of JSON."""
    end = rng.choice(("\n", "\r\n", "\r"))
    lines = (
        json.dumps(row, ensure_ascii=rng.random() < 0.5) + end for row in rows(rng)
    )
    return "".join(lines).encode("utf-8", "surrogatepass")


def json_array(rng: random.Random) -> bytes:
    """One array of rows, or one object."""
    found: Any = rows(rng)
    found = found[0] if found and rng.random() < 0.1 else found
    text = json.dumps(
        found, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))
    )
    return text.encode("utf-8", "surrogatepass")


def excel(rng: random.Random) -> bytes:
    """A workbook, in a third of the cases with a part that is mutated before it is packed."""
    import openpyxl
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = openpyxl.Workbook()
    table = rows(rng)
    for row in [[*one] for one in table[:1]] + [[*one.values()] for one in table]:
        told = (
            one if one is None or isinstance(one, float) else _told(one) for one in row
        )
        # what no cell can hold
        with contextlib.suppress(ValueError, OverflowError, IllegalCharacterError):
            book.active.append([*told])
    packed = io.BytesIO()
    book.save(packed)
    return repacked(packed.getvalue(), rng) if rng.random() < 0.6 else packed.getvalue()


def _told(one: Any) -> str:
    return repr(one).encode("utf-8", "replace").decode()[:99].strip("'")


def repacked(data: bytes, rng: random.Random, reader: Any = zipfile) -> bytes:
    """A zip file with one of its members mutated: most faults of its bytes stop at the checksum."""
    with reader.ZipFile(io.BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    name = rng.choice([*members])
    members[name] = mutated(members[name], rng, plain_json)
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as new:
        for one, content in members.items():
            new.writestr(one, content)
    return found.getvalue()


def tool(example: Any) -> Maker:
    """What a tool writes, with values of it exchanged for nasty ones: an array, lines or one."""

    def made(rng: random.Random) -> bytes:
        share = rng.choice((0.0, 0.02, 0.2))
        found = [exchanged(example, rng, share) for _ in range(rng.randint(0, 3))]
        way = rng.random()
        if way < 0.4:
            text = json.dumps(found)
        elif way < 0.8:
            text = "\n".join(map(json.dumps, found))
        else:
            text = json.dumps(exchanged(example, rng, share), indent=1)
        return text.encode("utf-8", "surrogatepass")

    return made


def exchanged(given: Any, rng: random.Random, share: float) -> Any:
    """The same value with a share of what it holds exchanged."""
    if rng.random() < share:
        return value(rng)
    if isinstance(given, dict):
        return {name: exchanged(one, rng, share) for name, one in given.items()}
    if isinstance(given, list):
        return [exchanged(one, rng, share) for one in given]
    return rng.randint(0, 5) if isinstance(given, int) and rng.random() < 0.5 else given


def cells(delimiter: str) -> Maker:
    """A maker of rows of cells, quoted or not."""

    def make(rng: random.Random) -> bytes:
        names = columns(rng)
        end = rng.choice(("\n", "\n", "\r\n", "\r"))
        table = [names, *([row.get(name, "") for name in names] for row in rows(rng))]
        lines = [
            delimiter.join(_quoted(str(cell), rng) for cell in row) + end
            for row in table
        ]
        mark = rng.choice(("", "", "", "\ufeff", "sep=;\n"))
        return (mark + "".join(lines)).encode("utf-8", "surrogatepass")

    return make


def _quoted(cell: str, rng: random.Random) -> str:
    if rng.random() < 0.6 and not set(cell) & set(',;\t"\r\n'):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def packed(make: Maker) -> Maker:
    """What another maker makes, as gzip, in one or more members."""

    def pack(rng: random.Random) -> bytes:
        return b"".join(
            gzip.compress(make(rng), mtime=0) for _ in range(rng.choice((1, 1, 2)))
        )

    return pack


def spec(rng: random.Random) -> bytes:
    """A specification, sound or nearly so."""
    name = rng.choice(
        ("gp", "bleu-neighbors", "ratpred", "bleu", "bleu*", "rouge-l", "x")
    )
    keys = (
        "max_sd", "encoder", "kernel", "tau", "orders", "order", "smooth", "weights", "power", "seed",
        "threads", "model", "tokenize", "min_neighbors", "layer",
    )  # fmt: skip
    values = (
        "0.1", "none", "(none)", "yes", "1-4", "4-1", "(bleu*:orders=1-4)", "nan", "inf", "1e999",
        "-1", "9" * 5000, "²", "٣", "", "(", ")", "a+b", "\0", "\ud800", "kernel", "char", "exp",
    )  # fmt: skip
    pairs = [
        f"{rng.choice(keys)}={rng.choice(values)}" for _ in range(rng.randint(0, 3))
    ]
    return f"{name}{rng.choice((':', ':', ''))}{','.join(pairs)}".encode(
        "utf-8", "surrogatepass"
    )


def signature(rng: random.Random) -> bytes:
    """A signature, sound or nearly so."""
    parts = (
        "a:b",
        "seed:0",
        "v:0.2.0",
        "k:%41",
        "k:%ff",
        "k:%ed%a0%80",
        "k",
        ":",
        "%:%",
        "k:%zz",
    )
    return "|".join(rng.choices(("gp", "x%20y", *parts), k=rng.randint(1, 5))).encode()


def act(rng: random.Random) -> bytes:
    """Dialogue acts and slots, sound or nearly so."""
    parts = (
        "inform(", "?request(", "name", "=", "'x'", '"y"', "'o'reilly's'", "thai", ",", ";", ")", "&",
        "name[x]", ", ", "food[", "]", " ", "ünï", "(", "'", '"', "_", "citycentre", "²",
    )  # fmt: skip
    return "".join(rng.choices(parts, k=rng.randint(1, 14))).encode()


def text(rng: random.Random) -> bytes:
    """Words of all kinds."""
    joined = rng.choice((" ", "", "\n")).join(rng.choices(WORDS, k=rng.randint(0, 6)))
    return joined.encode("utf-8", "surrogatepass")


def plain_json(rng: random.Random) -> bytes:
    """One JSON value."""
    return json.dumps(value(rng)).encode()


def tokenizer(rng: random.Random) -> bytes:
    """A tokenizer of Hugging Face's, sound or nearly so."""
    kind = rng.choice(("WordLevel", "WordPiece", "BPE", "Unigram"))
    words = {
        word: i
        for i, word in enumerate(rng.sample(("[UNK]", "a", "b", "the", "fox"), 4))
    }
    model: dict[str, Any] = {
        "type": kind,
        "vocab": words,
        "unk_token": "[UNK]",
        "merges": [],
    }
    if kind == "WordPiece":
        model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
    if kind == "Unigram":
        model |= {
            "vocab": [[word, -1.0] for word in words],
            "unk_id": rng.choice((0, 1, 9, None)),
        }
    said = {
        "version": "1.0",
        "model": model,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    }
    if rng.random() < 0.3:
        rng.choice((said, model))[rng.choice((*model, *said, "added_tokens"))] = value(
            rng
        )
    return json.dumps(said).encode()


def mutated(data: bytes, rng: random.Random, make: Maker, most: int = 1 << 14) -> bytes:
    """A little changed: made anew, cut, doubled, spliced, flipped, or with a nasty token in it."""
    if not data or rng.random() < 0.2:
        data = make(rng)
    out = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        a, b = sorted((rng.randrange(len(out) + 1), rng.randrange(len(out) + 1)))
        b = min(b, a + rng.choice((1, 2, 8, 64, len(out))))
        way = rng.randrange(7)
        if way == 0:
            out[a:b] = b""
        elif way == 1:
            out[a:a] = out[a:b]
        elif way == 2:
            out[a:a] = rng.choice(TOKENS)
        elif way == 3:
            out[a:b] = rng.choice(TOKENS)
        elif way == 4 and a < len(out):
            out[a] ^= 1 << rng.randrange(8)
        elif way == 5 and a < len(out):
            out[a] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
        elif way == 6:
            out[a:b] = make(rng)[:2000]
    return bytes(out[:most])


def arrow_table(rng: random.Random) -> Any:
    """A table of Arrow with a column of any type, its values at the edges of what that holds."""
    import pyarrow as pa

    n = rng.randint(1, 4)
    found: dict[str, Any] = {}
    for name in columns(rng):
        plain = {
            "text": pa.array([f"text {i}" for i in range(n)]),
            "rating": pa.array(range(n)),
        }
        odd = name not in plain or rng.random() < 0.5
        found[name] = arrow_column(rng, n) if odd else plain[name]
    return pa.table(found)


def arrow_column(rng: random.Random, n: int) -> Any:
    """A column of n values of some type."""
    import pyarrow as pa

    kind = rng.choice(arrow_types())
    if kind == "broken":
        return _broken_text(rng, n)
    try:
        return pa.array([_edge(kind, rng) for _ in range(n)], type=kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return pa.nulls(n, kind)


def arrow_types() -> Sequence[Any]:
    """Types of columns that Parquet can hold; `broken` is text that is no UTF-8."""
    import pyarrow as pa

    units = ("s", "ms", "us", "ns")
    plain = [
        pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(4), pa.bool_(),
        pa.null(), pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(),
        pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
        pa.decimal128(38, 2), pa.decimal256(76, 3),
        *(pa.timestamp(u) for u in units), pa.timestamp("ns", "UTC"), pa.timestamp("us", "Europe/Oslo"),
        pa.timestamp("s", "No/Where"), *(pa.duration(u) for u in units),
    ]  # fmt: skip
    inner = [pa.string(), pa.timestamp("ns"), pa.time64("ns"), pa.int64(), pa.binary()]
    nested = [made(one) for one in inner for made in (
        pa.list_, pa.large_list, lambda t: pa.map_(pa.string(), t), lambda t: pa.struct([("a", t)]),
    )]  # fmt: skip
    return [*plain, *nested, pa.dictionary(pa.int8(), pa.string()), "broken", "broken"]


def _edge(kind: Any, rng: random.Random) -> Any:
    import pyarrow as pa

    if rng.random() < 0.15:
        return None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_edge(kind.value_type, rng) for _ in range(rng.randint(0, 2))]
    if pa.types.is_map(kind):
        return [(rng.choice("ab"), _edge(kind.item_type, rng))]
    if pa.types.is_struct(kind):
        return {"a": _edge(kind[0].type, rng)}
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_fixed_size_binary(kind):
        return b"\xff\0ab"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return rng.choice((b"", b"text", b"\xff", "é".encode()))
    if pa.types.is_decimal(kind):
        return rng.choice((0, 1, 3, -(10**30)))
    if pa.types.is_temporal(kind):
        edges = (
            0,
            1,
            -1,
            999,
            10**9 + 1,
            2**31 - 1,
            -(2**31),
            2**62 + 1,
            -(2**62) - 1,
            2**63 - 1,
        )
        return rng.choice((*edges, datetime(2020, 1, 1, tzinfo=UTC), date(2020, 1, 1)))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return rng.choice((1, 2, 3, 5, 127, *NUMBERS))
    return rng.choice(WORDS)


def _broken_text(rng: random.Random, n: int) -> Any:
    import pyarrow as pa

    kinds = (b"fine", b"\xff\xfe", b"\xc3", b"caf\xe9", b"\0", b"\xed\xa0\x80")
    raw = [rng.choice(kinds) for _ in range(n)]
    return pa.array(raw, pa.binary()).view(pa.string())


def parquet(rng: random.Random) -> bytes:
    """A file of Parquet."""
    from pyarrow import ArrowException
    from pyarrow import parquet as format_

    out = io.BytesIO()
    try:
        format_.write_table(
            arrow_table(rng),
            out,
            compression=rng.choice(("none", "snappy", "gzip")),
            use_dictionary=rng.random() < 0.5,
            store_schema=rng.random() < 0.7,
        )
    except ArrowException:
        return b"PAR1"
    return out.getvalue()

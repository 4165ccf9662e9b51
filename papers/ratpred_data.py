"""The rated outputs of Dusek et al. 2017, their folds, and the data of its setups."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from refless.extensions.ratpred.batches import Encoded, TrainingData
from refless.extensions.ratpred.reading import SLOTS, Dictionary, Reader, SourceAndText
from refless.extensions.ratpred.synthesis import dictionary_of, synthetic
from refless.registry.arrays import FloatArray, IntArray

FOLDS, DRAW = 5, 1206  # the seed that deals out the folds
FewMore = Literal["C1", "C2", "C3"]
SPELLING = (("child -s", "children"), (" -s", "s"), (" -ly", "ly"))
QUESTIONS = frozenset({"confirm", "request", "reqmore", "select"})
RENAMED = {
    name.replace("_", ""): name
    for name in (
        "price_range", "good_for_meal", "kids_allowed", "dogs_allowed", "has_internet",
        "accepts_credit_cards",
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """A human text for a meaning representation."""

    mr: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rated:
    """The 2,460 rated outputs, in the order of the file.

    Attributes:
        dataset, system, mr, text: [n] columns; rating: [n] median quality.
        metrics: [n] the file's own metric columns.
        references: [n] human texts for each output's meaning representation.
        training, other: human texts of the sources' training parts; of all their other parts.
    """

    dataset: tuple[str, ...]
    system: tuple[str, ...]
    mr: tuple[str, ...]
    text: tuple[str, ...]
    rating: FloatArray
    metrics: dict[str, FloatArray]
    references: tuple[tuple[Reference, ...], ...]
    training: tuple[Reference, ...]
    other: tuple[Reference, ...]

    def __len__(self) -> int:
        return len(self.text)


@cache
def rated_of(folder: Path) -> Rated:
    """The data of a folder `nlg-ratings`.

    Raises:
        FileNotFoundError: a file is missing.
    """
    with (folder / "emnlp_data_medians.csv").open(
        encoding="utf-8", newline=""
    ) as stream:
        rows = list(csv.DictReader(stream))
    metrics = {
        "BLEU": "Bleu_4",
        "METEOR": "METEOR",
        "ROUGE-L": "ROUGE_L",
        "CIDEr": "CIDEr",
    }
    training = [
        r for name in ("hotel", "restaurant") for r in _rnnlg(folder, name, "train")
    ]
    other = [
        r
        for name in ("hotel", "restaurant")
        for part in ("valid", "test")
        for r in _rnnlg(folder, name, part)
    ]
    return Rated(
        dataset=tuple(row["dataset"] for row in rows),
        system=tuple(row["system"] for row in rows),
        mr=tuple(row["mr"] for row in rows),
        text=tuple(row["sys_ref"] for row in rows),
        rating=np.array([float(row["quality"]) for row in rows]),
        metrics={
            k: np.array([float(row[v]) for row in rows]) for k, v in metrics.items()
        },
        references=_references(folder, rows),
        training=tuple(training),
        other=tuple(other),
    )


def spelled(mr: str, text: str) -> str:
    """A reference as the outputs are written: `restaurant -s` is restaurants, a mark at its end.

    Every output ends in a full stop or a question mark, most references in neither: without one,
    a network would tell people's texts by their ends.
    """
    for old, new in SPELLING:
        text = text.replace(old, new)
    text = text.lower().rstrip()
    end = "?" if mr.split("(", maxsplit=1)[0].lstrip("?") in QUESTIONS else "."
    return text if text[-1:] in {".", "?", "!"} else f"{text} {end}"


def _rnnlg(folder: Path, name: str, part: str) -> list[Reference]:
    """References of a source data set, its acts and slots named as in the rated outputs."""
    text = (folder / f"rnnlg_{name}_{part}.json").read_text(encoding="utf-8")
    rows = json.loads(text[text.index("[") :])
    return [
        Reference(_renamed(mr), spelled(mr, reference)) for mr, reference, _ in rows
    ]


def _renamed(mr: str) -> str:
    mr = re.sub(r"^\?", "", mr).replace("inform_count(", "inform(")
    return re.sub(r"\w+(?=[=)])", lambda m: RENAMED.get(m[0], m[0]), mr)


def _references(
    folder: Path, rows: Sequence[dict[str, str]]
) -> tuple[tuple[Reference, ...], ...]:
    """Each output's references: its row's in the SF sets, the same abstract acts' in BAGEL."""
    found: list[tuple[Reference, ...]] = [()] * len(rows)
    for name in ("sfres", "sfhot"):
        path = folder / f"{name}_references.json"
        texts = json.loads(path.read_text(encoding="utf-8"))
        places = [i for i, row in enumerate(rows) if row["dataset"] == name.upper()]
        for i, row in zip(places, texts, strict=True):
            found[i] = (
                Reference(rows[i]["mr"], spelled(rows[i]["mr"], row["reference"])),
            )
    bagel = (folder / "bagel_ACL10-inform-training.txt").read_text(encoding="utf-8")
    by_content: dict[tuple[str, ...], dict[str, None]] = {}
    for mr, text in re.findall(r'ABSTRACT_DA = (.*?)\s*\n-> "(.*?)";', bagel):
        plain = spelled(mr, re.sub(r"\[[^\]]*\]", "", text))
        by_content.setdefault(_content(mr), {})[plain] = None
    for i, row in enumerate(rows):
        if row["dataset"] == "BAGEL":
            texts = by_content.get(_content(row["mr"]), {})
            found[i] = tuple(Reference(row["mr"], text) for text in texts)
    return tuple(found)


def _content(mr: str) -> tuple[str, ...]:
    """A BAGEL act without order, quotes and numbers of placeholders."""
    plain = re.sub(r"x\d+", "x", re.sub(r"[\"' ]", "", mr.lower()))
    return tuple(sorted(plain[plain.index("(") + 1 : plain.rindex(")")].split(",")))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split:
    """Rows of the rated outputs that one network trains on, is chosen by, and is tested on."""

    train: IntArray
    validation: IntArray
    test: IntArray


def folds(rated: Rated, *, plain: bool, draw: int = DRAW) -> tuple[Split, ...]:
    """Five splits 3:1:1. Equal pairs of acts and output stay in one part unless `plain`."""
    pairs = list(zip(rated.mr, rated.text, strict=True))
    rng = np.random.default_rng(draw)
    if plain:
        order = rng.permutation(len(rated))
    else:
        names = {pair: i for i, pair in enumerate(dict.fromkeys(sorted(pairs)))}
        codes = np.array([names[pair] for pair in pairs])
        order = np.argsort(rng.permutation(len(names))[codes], kind="stable")
    parts = _parts(order, pairs, plain=plain)
    return tuple(
        Split(
            train=np.sort(np.concatenate([parts[(i + k) % FOLDS] for k in range(3)])),
            validation=np.sort(parts[(i + 3) % FOLDS]),
            test=np.sort(parts[(i + 4) % FOLDS]),
        )
        for i in range(FOLDS)
    )


def _parts(
    order: IntArray, pairs: Sequence[tuple[str, str]], *, plain: bool
) -> list[IntArray]:
    """Five parts of about one size that do not cut through equal pairs."""
    ends = [round(len(order) * (i + 1) / FOLDS) for i in range(FOLDS)]
    begin = 0
    parts = []
    for end in ends:
        while (
            not plain
            and end < len(order)
            and pairs[order[end]] == pairs[order[end - 1]]
        ):
            end += 1
        parts.append(order[begin:end])
        begin = end
    return parts


def crossed(rated: Rated, kind: str, config: str, draw: int = DRAW) -> Split:
    """Tables 4 and 5: SFHot as domain or LOLS as system, against the rest (section 4.2).

    200 in-set rows, 100 of them for validation, are set apart; the others are the test rows of
    all three configurations. C2 takes a quarter of the rest for validation, as in the folds.
    """
    column, wanted = (
        (rated.dataset, "SFHOT") if kind == "domain" else (rated.system, "LOLS")
    )
    inside = np.flatnonzero(np.array(column) == wanted)
    outside = np.flatnonzero(np.array(column) != wanted)
    rng = np.random.default_rng(draw)
    inside = rng.permutation(inside)
    outside = rng.permutation(outside)
    small = inside[:100]
    chosen = inside[100:200]
    test = np.sort(inside[200:])
    if config == "C1":
        return Split(train=np.sort(small), validation=np.sort(chosen), test=test)
    if config == "C2":
        cut = len(outside) // 4
        return Split(
            train=np.sort(outside[cut:]), validation=np.sort(outside[:cut]), test=test
        )
    train = np.sort(np.concatenate([small, outside]))
    return Split(train=train, validation=np.sort(chosen), test=test)


def synthetic_sources(rated: Rated, split: Split, setup: int) -> list[Reference]:
    """The human texts that a setup adds (footnotes 12 and 13), each pair once."""
    own = (
        [r for row in split.train for r in rated.references[row]] if setup >= 3 else []
    )
    more = list(rated.training) if setup >= 4 else []
    tested = (
        [r for row in (*split.validation, *split.test) for r in rated.references[row]]
        if setup >= 5
        else []
    )
    last = list(rated.other) if setup >= 6 else []
    return [*dict.fromkeys([*own, *tested]), *more, *last]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What a network learns from, with what its predictions are judged by; sizes as in Table 2."""

    learned: TrainingData
    test: Encoded
    offset: float
    unit: float
    instances: int


def prepared(
    rated: Rated, split: Split, setup: int, seed: int, *, lexicalised: bool = False
) -> Prepared:
    """What one network of a setup learns from."""
    reader = Reader(acts=True, slots=frozenset() if lexicalised else SLOTS)

    def read(rows: IntArray) -> list[SourceAndText]:
        return reader.pairs([rated.mr[i] for i in rows], [rated.text[i] for i in rows])

    pairs = read(split.train)
    ratings = rated.rating[split.train]
    made, lowered = made_of(rated, split, setup, pairs, reader, seed)
    names = Dictionary.of([*pairs, *made])
    offset = float(ratings.mean())
    unit = float(ratings.std())

    def encoded(some: Sequence[SourceAndText], values: FloatArray) -> Encoded:
        return names.encoded(some, (values - offset) / unit)

    learned = TrainingData(
        seed=seed,
        rated=encoded(pairs, ratings),
        validation=encoded(read(split.validation), rated.rating[split.validation]),
        synthetic=encoded([*pairs, *made], np.concatenate([ratings, lowered]))
        if made
        else None,
        sizes=names.sizes,
    )
    test = encoded(read(split.test), rated.rating[split.test])
    return Prepared(learned, test, offset, unit, len(pairs) + len(made))


def made_of(
    rated: Rated,
    split: Split,
    setup: int,
    pairs: list[SourceAndText],
    reader: Reader,
    seed: int,
) -> tuple[list[SourceAndText], FloatArray]:
    """Synthetic pairs and their ratings: from system outputs, then from human texts."""
    if setup == 1:
        return [], np.zeros(0)
    words = dictionary_of([pair.text for pair in pairs])
    scale = (1.0, 6.0)
    made, lowered = synthetic(
        pairs, rated.rating[split.train].tolist(), words, scale, seed
    )
    sources = synthetic_sources(rated, split, setup)
    human = reader.pairs([r.mr for r in sources], [r.text for r in sources])
    best = [scale[1]] * len(human)
    more, more_lowered = synthetic(human, best, words, scale, seed)
    ratings = np.array([*lowered, *best, *more_lowered])
    return [*made, *human, *more], ratings


def reseeded(prepared: Prepared, seed: int) -> Prepared:
    """The same data for another seed of the network."""
    return replace(prepared, learned=replace(prepared.learned, seed=seed))

"""Metrics: ours beside their peers, in one run, on the same outputs and references.

    python benchmarks/metrics.py [--data ../shared/data] [--quick]

6,740 outputs with 5 references each (DailyDialog), or simulated ones of the same size where the
data is absent. ROUGE-L, as the kernel of ROUGE Neighbors needs it, is timed over all pairs of
outputs and first references, rouge-score over a sample of them. A peer that is not installed is
skipped aloud. Each method is timed three times with empty caches and the best counts. Exit status
1 if ours and its peer disagree.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from refless.data.records import Outputs, numbered
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.cider import CIDErD
from refless.extensions.metrics.delta import DeltaBLEU
from refless.metrics.kernels.rouge import RougeL

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROUNDS = 3
SEED = 0
SAMPLE = 40  # outputs and references of all whose pairs rouge-score is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """One metric: ours and a peer, which must agree within `tolerance`."""

    name: str
    ours: Callable[[Outputs], float]
    peer_name: str
    peer: Callable[[Outputs], float]
    same: bool = True  # whether the peer computes the same number
    tolerance: float = 1e-9


def dailydialog(data: Path) -> Outputs:
    """HRED's outputs for 6,740 contexts, five references each, in lower case."""
    folder = data / "dailydialog-multiref"
    lines = (folder / "multireftest.json").read_text(encoding="utf-8").splitlines()
    place = json.loads((folder / "test_duid_mapping.json").read_text(encoding="utf-8"))
    hred = (folder / "hredf.txt").read_text(encoding="utf-8").splitlines()
    turns = {
        f"{i}_{j}": turn.get("responses", ())
        for i, line in enumerate(lines)
        for j, turn in enumerate(json.loads(line)["dialogue"])
    }
    return Outputs(
        ids=tuple(place),
        texts=tuple(hred[place[name] - 1].lower() for name in place),
        references=tuple(tuple(text.lower() for text in turns[name]) for name in place),
    )


def simulated(n: int) -> Outputs:
    """n outputs with 5 references, words drawn by Zipf's law."""
    rng = np.random.default_rng(SEED)

    def text() -> str:
        return " ".join(
            f"w{word}" for word in rng.zipf(1.3, size=rng.integers(4, 20)) % 5000
        )

    return Outputs(
        ids=numbered(n),
        texts=tuple(text() for _ in range(n)),
        references=tuple(tuple(text() for _ in range(5)) for _ in range(n)),
    )


def weighted(outputs: Outputs) -> Outputs:
    """The outputs with drawn weights, one of each output's being 1."""
    rng = np.random.default_rng(SEED)
    rows = tuple(
        (1.0, *rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=len(row) - 1).tolist())
        for row in outputs.references
    )
    return replace(outputs, weights=rows)


def sacrebleu(outputs: Outputs) -> float:
    """sacrebleu's corpus BLEU with its own defaults."""
    from sacrebleu import corpus_bleu

    streams = list(zip(*outputs.references, strict=True))
    return float(
        corpus_bleu(list(outputs.texts), [list(s) for s in streams], force=True).score
    )


def coco_caption(outputs: Outputs) -> float:
    """coco-caption's CIDEr-D, on words with single spaces between them."""
    from pycocoevalcap.cider.cider import Cider

    known = {i: list(row) for i, row in enumerate(outputs.references)}
    texts = {i: [text] for i, text in enumerate(outputs.texts)}
    return float(Cider().compute_score(known, texts)[0])


def forget() -> None:
    """Empties the tokenizers' caches, which ours and sacrebleu's runs share."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    for kind in (Tokenizer13a, TokenizerRegexp):
        with contextlib.suppress(AttributeError):
            kind.__call__.cache_clear()


CONTESTS = (
    Contest(
        name="BLEU",
        ours=lambda outputs: BLEU().score(outputs).corpus,
        peer_name="sacrebleu",
        peer=sacrebleu,
    ),
    Contest(
        name="delta-BLEU",
        ours=lambda outputs: DeltaBLEU().score(outputs).corpus,
        peer_name="sacrebleu's BLEU",
        peer=sacrebleu,
        same=False,
    ),
    Contest(
        name="CIDEr-D",
        ours=lambda outputs: CIDErD().score(outputs).corpus,
        peer_name="coco-caption",
        peer=coco_caption,
    ),
)


def timed(method: Callable[[Outputs], float], outputs: Outputs) -> tuple[float, float]:
    """Seconds and score of one run with empty caches."""
    forget()
    begin = time.perf_counter()
    score = method(outputs)
    return time.perf_counter() - begin, score


def contest(one: Contest, outputs: Outputs) -> bool:
    """Prints a contest's line; whether ours and the peer agree."""
    one.ours(outputs)  # compiles, or loads what is compiled
    try:
        one.peer(some(outputs, 2))
    except ImportError as absent:
        print(f"{one.name:12} skipped: {absent}")
        return True
    runs = [(timed(one.ours, outputs), timed(one.peer, outputs)) for _ in range(ROUNDS)]
    ours = min(seconds for (seconds, _), _ in runs)
    peer = min(seconds for _, (seconds, _) in runs)
    score = runs[0][0][1]
    other = runs[0][1][1]
    agrees = not one.same or abs(score - other) <= one.tolerance
    print(
        f"{one.name:12} {ours:8.2f} s   {one.peer_name:18} {peer:8.2f} s   "
        f"{peer / ours:6.1f} times as fast   {score:8.4f} {other:8.4f}"
        f"{'' if agrees else '   FAULT: they differ'}"
    )
    return agrees


def some(outputs: Outputs, n: int) -> Outputs:
    """The first n of them."""
    return replace(
        outputs,
        ids=outputs.ids[:n],
        texts=outputs.texts[:n],
        references=outputs.references[:n],
        weights=outputs.weights[:n],
    )


def all_pairs(outputs: Outputs) -> bool:
    """Prints ROUGE-L's line, microseconds a pair; whether ours and rouge-score agree.

    Both see words of letters and digits in lower case, as rouge-score makes them of any text.
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as absent:
        print(f"{'ROUGE-L':12} skipped: {absent}")
        return True
    texts = words_of(outputs.texts)
    rated = words_of([row[0] for row in outputs.references])
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    # compiles, or loads what is compiled
    RougeL().prepare(rated[:9]).similarities(texts[:9])
    ours = []
    peer = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        found = RougeL().prepare(rated).similarities(texts)
        ours.append((time.perf_counter() - begin) / found.size)
        begin = time.perf_counter()
        other = [
            [scorer.score(s, x)["rougeL"].fmeasure for s in rated[:SAMPLE]]
            for x in texts[:SAMPLE]
        ]
        peer.append((time.perf_counter() - begin) / SAMPLE**2)
    agrees = float(np.abs(found[:SAMPLE, :SAMPLE] - np.array(other)).max()) <= 1e-9
    print(
        f"{'ROUGE-L':12} {1e6 * min(ours):8.3f} us a pair ({found.size:,} pairs)   rouge-score "
        f"{1e6 * min(peer):8.1f} us a pair   {min(peer) / min(ours):,.0f} times as fast"
        f"{'' if agrees else '   FAULT: they differ'}"
    )
    return agrees


def words_of(texts: Sequence[str]) -> list[str]:
    """Texts as rouge-score reads them."""
    return [" ".join(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="Metrics: ours beside their peers.", allow_abbrev=False
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument(
        "--quick", action="store_true", help="300 simulated outputs: does it run?"
    )
    options = parser.parse_args(arguments)
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    real = (options.data / "dailydialog-multiref").exists() and not options.quick
    outputs = (
        dailydialog(options.data) if real else simulated(300 if options.quick else 6740)
    )
    what = "DailyDialog" if real else "SIMULATED texts"
    print(
        f"{what}: {len(outputs)} outputs, 5 references each; best of {ROUNDS}, empty caches"
    )
    with contextlib.redirect_stderr(io.StringIO()):
        agree = [contest(one, weighted(outputs)) for one in CONTESTS]
        agree.append(all_pairs(outputs))
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())

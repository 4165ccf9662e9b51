"""How much faster a graphics card is than the processor beside it, in one run.

    python benchmarks/devices.py [--quick]

A network of the size of BERT-base with random weights (sentence vectors, from text to vector),
BERTScore's kernel (32 outputs of 40 tokens with 2,000 rated texts), and RatPred (one epoch over
1,500 texts in batches of 50 and of 256, then 3,000 estimates). Each is warmed up, then the best of
two counts. Without a card the processor's row alone is tried with `--quick`; else nothing runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from refless.data.human import pool_of
from refless.extensions.ratpred.estimator import RatPred
from refless.metrics.bertscore import DeviceScores, Matched, f_scores
from refless.registry.arrays import FloatArray
from refless.text.embed import Embedded, Encoder

CARD = torch.cuda.is_available()
DEVICES = ("cpu", "cuda") if CARD else ("cpu",)
WORDS = [f"w{i}" for i in range(20_000)]
QUICK = {"layers": 2, "hidden": 32, "texts": 8, "rated": 20, "ratings": 60}
WHOLE = {"layers": 12, "hidden": 768, "texts": 256, "rated": 2_000, "ratings": 1_500}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, prints; 0 without a card too."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="tiny, to see that it runs"
    )
    quick = parser.parse_args(arguments).quick
    if not CARD:
        print("Skipped: torch finds no graphics card.")
    if not (CARD or quick):
        return 0
    card = torch.cuda.get_device_name(0) if CARD else "no card"
    print(f"{card} beside {os.cpu_count()} cores; torch {torch.__version__}, ", end="")
    print(f"{torch.get_num_threads()} threads; Python {platform.python_version()}\n")
    print(f"{'':34}{'where':>15}{'a second':>12}{'ratio':>8}{'differs by':>12}")
    sizes = QUICK if quick else WHOLE
    with tempfile.TemporaryDirectory() as folder:
        model = random_bert(Path(folder), sizes)
        for length in (32, 256):
            encoding(model, length, sizes["texts"])
    matching(sizes["rated"])
    for batch in (50, 256):
        training(sizes["ratings"], batch)
    return 0


def seconds(job: Callable[[], object]) -> float:
    """Of the quicker of two runs."""
    taken = []
    for _ in range(2):
        begin = time.perf_counter()
        job()
        if CARD:
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - begin)
    return min(taken)


class Table:
    """Rows of one job; ratios are to its first row."""

    def __init__(self, job: str) -> None:
        self.job = job
        self.first = 0.0

    def row(self, where: str, rate: float, differs: float | None = None) -> None:
        """Prints how many a second there are, and how far results are from the first row's."""
        self.first = self.first or rate
        off = "" if differs is None else f"{differs:.1e}"
        ratio = rate / self.first
        print(
            f"{self.job:34}{where:>15}{rate:>12,.0f}{ratio:>8.1f}{off:>12}", flush=True
        )
        self.job = ""


def random_bert(folder: Path, sizes: dict[str, int]) -> str:
    """The folder of a BERT that has learned nothing, with one token a word."""
    from transformers import (  # type: ignore[attr-defined]
        BertConfig,
        BertModel,
        BertTokenizerFast,
        logging,
    )

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokens),
        hidden_size=sizes["hidden"],
        num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["hidden"] // 16 if sizes["hidden"] < 64 else 12,
        intermediate_size=4 * sizes["hidden"],
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    (folder / "sentence_bert_config.json").write_text(
        json.dumps({"max_seq_length": 512})
    )
    return str(folder)


def texts_of(n: int, length: int, seed: int) -> list[str]:
    """Random texts of so many words."""
    rng = np.random.default_rng(seed)
    return [" ".join(words) for words in rng.choice(WORDS, (n, length))]


def encoding(model: str, length: int, n: int) -> None:
    """Sentence vectors: texts a second, 32 times as many on a card."""
    table = Table(f"encoder, texts of {length} tokens")
    n = max(8, n * 32 // length)
    same = texts_of(8, length - 2, 0)
    wanted = Encoder(model=model, device="cpu").sentences(same)
    seed = 0
    for device in DEVICES:
        for precision in ("float32", "bfloat16") if device == "cuda" else ("float32",):
            encoder = Encoder(model=model, device=device, precision=precision)
            many = n if device == "cpu" else 32 * n
            off = float(np.abs(encoder.sentences(same) - wanted).max())
            fresh = []  # vectors are remembered
            for _ in range(3):
                seed += 1
                fresh.append(texts_of(many, length - 2, seed))
            encoder.sentences(fresh.pop())
            taken = seconds(lambda: encoder.sentences(fresh.pop()))  # noqa: B023
            table.row(f"{device} {precision}", many / taken, off)


def random_tokens(texts: int, length: int, seed: int) -> Matched:
    """Texts of so many tokens with random vectors of 768 numbers."""
    rng = np.random.default_rng(seed)
    tokens = texts * length
    vectors = rng.standard_normal((tokens, 768), dtype=np.float32)
    embedded = Embedded(
        rows=np.arange(texts),
        starts=np.arange(texts + 1) * length,
        vectors=vectors,
        ids=np.zeros(tokens, dtype=np.int64),
        special=np.zeros(tokens, dtype=np.bool_),
    )
    return Matched(embedded)


def matching(rated: int) -> None:
    """BERTScore's kernel: pairs of texts a second."""
    table = Table("BERTScore, pairs of 40 tokens")
    mine = random_tokens(32, 40, 0)
    theirs = random_tokens(rated, 40, 1)
    known = theirs.every()
    rows = np.arange(32)

    def processor() -> FloatArray:
        parts = [mine.texts(rows[i : i + 1]) for i in rows]
        return np.array([f_scores(part[0], part[1], *known) for part in parts])

    wanted = processor()
    table.row("cpu", 32 * rated / seconds(processor))
    if CARD:
        scores = DeviceScores(mine, theirs, "cuda")
        off = float(np.abs(scores.between(rows) - wanted).max())
        taken = seconds(lambda: scores.between(rows))
        table.row("cuda", 32 * rated / taken, off)


def training(n: int, batch: int) -> None:
    """RatPred: texts that are learned from a second, and estimates a second."""
    table = Table(f"RatPred learns, batches of {batch}")
    estimating = Table("RatPred estimates")
    texts = texts_of(n, 20, 0)
    pool = pool_of(
        texts, np.random.default_rng(0).integers(1, 6, n).astype(float).tolist()
    )
    asked = texts_of(2 * n, 20, 1)
    rates = []
    for device in DEVICES:
        network = RatPred(
            device=device, epochs=1, synthetic_errors=False, batch_size=batch
        )
        network.fit(pool)
        table.row(device, 0.75 * n / seconds(lambda: network.fit(pool)))  # noqa: B023
        network.predict(asked)
        rates.append(2 * n / seconds(lambda: network.predict(asked)))  # noqa: B023
    for device, rate in zip(DEVICES, rates, strict=True):
        estimating.row(device, rate)


if __name__ == "__main__":
    raise SystemExit(main())

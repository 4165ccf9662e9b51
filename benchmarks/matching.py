"""BLEU* of every text against every rated text: ours and its peers, in one run on the same texts.

    python benchmarks/matching.py [--texts FILE] [--limit N] [--length CHARACTERS] [--quick]

Ours and the sparse product sum the ratings of all neighbours at tau 0.08; the others score a random
sample of the same pairs. Exit status 1 where results differ, 2 where a file cannot be used.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import platform
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from texts import simulated_texts

from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.dense import Dense
from refless.metrics.matching import Work, cores
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.text.ngrams import Features, Shape, learn

TAU = 0.08
SAME = 1e-9  # how far our similarities may be from NLTK's
WEIGHTS = (0.0, 1 / 3, 1 / 3, 1 / 3)
ORDERS = (2, 3, 4)
MIB = 2**20
RUNS = 3  # times that each method is timed; the best one counts
ROWS = 100  # outputs whose products with all rated texts are dense at a time

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much each method is given: ours everything, a peer what it can do in seconds.

    Attributes:
        texts: number of texts.
        loop: outputs and rated texts whose pairs NLTK and sacrebleu score.
        fast_bleu: the same for fast-bleu.
        sparse: outputs for the sparse product, against all rated texts.
    """

    texts: int = 20_000
    loop: tuple[int, int] = (100, 50)
    fast_bleu: tuple[int, int] = (200, 100)
    sparse: int = 2_000


QUICK = Sizes(texts=500, loop=(10, 10), fast_bleu=(10, 10), sparse=100)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Job:
    """What every peer is given: texts that are outputs and rated texts alike, and our answers."""

    texts: tuple[str, ...]
    ratings: IntArray
    sizes: Sizes
    prepared: Dense


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One row of the table.

    Attributes:
        note: what has to be known to read it.
        fault: how its results differ from ours although they should not.
    """

    method: str
    pairs: int
    seconds: float
    note: str = ""
    fault: str = ""


def ratings_of(n: int) -> IntArray:
    """[n] ratings 1..5; no method's speed depends on them."""
    return np.random.default_rng(0).integers(1, 6, n)


def ours(texts: tuple[str, ...], threads: int) -> dict[str, Any]:
    """Our whole job in this process: warmed, timed and weighed.

    Returns:
        Seconds to compile (or load what numba has kept), to index the rated texts, and to match
        all pairs; peak memory in MiB; number of neighbours and sum of their ratings.
    """
    ratings = ratings_of(len(texts))

    def match(some: tuple[str, ...]) -> tuple[float, float, int, int]:
        began = time.perf_counter()
        prepared = BleuStar().prepare(some)
        index = time.perf_counter() - began
        work = Work(threads=threads)
        job = partial(prepared.neighbor_sums, some, ratings[: len(some)], TAU, work)
        seconds, (counts, sums) = timed(job)
        return index, seconds, int(counts.sum()), int(sums.sum())

    compiled, _ = timed(lambda: match(texts[:20]), runs=1)
    index, seconds, neighbors, total = match(texts)
    return {
        "compile": compiled,
        "index": index,
        "match": seconds,
        "peak": peak_mib(),
        "answer": [neighbors, total],
    }


def peak_mib() -> float:
    """Peak memory of this process in MiB, NaN where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if platform.system() == "Darwin" else peak * 1024 / MIB


def ours_alone(texts: tuple[str, ...], threads: int) -> dict[str, Any]:
    """`ours` in a fresh process that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        command = [
            sys.executable,
            __file__,
            "--alone",
            str(path),
            "--threads",
            str(threads),
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ours_rows(texts: tuple[str, ...]) -> list[Timed]:
    """Ours on all cores and on one."""
    rows: list[Timed] = []
    answers: list[object] = []
    for threads in sorted({cores(), 1}, reverse=True):
        run = ours_alone(texts, threads)
        answers.append(run["answer"])
        rows.append(
            Timed(
                method=f"refless, {threads} thread{'s' * (threads > 1)}",
                pairs=len(texts) ** 2,
                seconds=run["match"],
                note=ours_note(run, len(texts) ** 2),
                fault="" if answers[-1] == answers[0] else "threads change the result",
            )
        )
    return rows


def ours_note(run: dict[str, Any], pairs: int) -> str:
    """What the seconds of our row leave out, and what they cost in memory."""
    return (
        f"{run['answer'][0] / pairs:.0%} of pairs reach tau. Before that {run['compile']:.2f} s to "
        f"compile, or to load what is compiled; {run['index']:.2f} s to index the rated texts. "
        f"Peak memory of the process: {run['peak']:.0f} MiB"
    )


def nltk_loop(job: Job) -> Timed:
    """NLTK's sentence_bleu on the raw strings, whose characters it takes for tokens."""
    from nltk.translate.bleu_score import sentence_bleu

    outputs, rated = drawn(job, job.sizes.loop, seed=1)
    pairs = pairs_of(job, outputs, rated)
    with warnings.catch_warnings():
        # NLTK warns of every pair without a common n-gram
        warnings.simplefilter("ignore")
        seconds, found = timed(
            lambda: [sentence_bleu([s], x, weights=WEIGHTS) for x, s in pairs]
        )
    away = distance(job, outputs, rated, np.array(found))
    return Timed(
        method="NLTK, loop",
        pairs=len(pairs),
        seconds=seconds,
        note=f"its similarities are at most {away:.0e} from ours",
        fault=""
        if away <= SAME
        else f"our similarities are up to {away:.1e} from NLTK's",
    )


def sacrebleu_loop(job: Job) -> Timed:
    """sacrebleu's sentence BLEU on characters."""
    from sacrebleu.metrics.bleu import BLEU

    pairs = pairs_of(job, *drawn(job, job.sizes.loop, seed=2))
    metric = BLEU(tokenize="char", max_ngram_order=4, effective_order=True)
    seconds, _ = timed(lambda: [metric.sentence_score(x, [s]).score for x, s in pairs])
    return Timed(
        method="sacrebleu, loop",
        pairs=len(pairs),
        seconds=seconds,
        note="not BLEU* but orders 1 to 4, smoothed: it has no other lowest order",
    )


def fast_bleu(job: Job) -> Timed:
    """fast-bleu, each rated text once as the one reference of all outputs."""
    import fast_bleu as peer

    outputs, rated = drawn(job, job.sizes.fast_bleu, seed=3)
    hypotheses = [list(job.texts[i]) for i in outputs]

    def scores(j: np.int64) -> list[float]:
        judge = peer.BLEU([list(job.texts[j])], {"bleu*": WEIGHTS}, smoothing_func=0)
        found: list[float] = judge.get_score(hypotheses)["bleu*"]
        return found

    scores(rated[0])  # loads its library
    seconds, found = timed(lambda: [scores(j) for j in rated])
    away = distance(job, outputs, rated, np.array(found).T)
    return Timed(
        method="fast-bleu, C++",
        pairs=len(outputs) * len(rated),
        seconds=seconds,
        note=f"starts threads itself; its similarities are at most {away:.0e} from ours",
    )


def sparse_product(job: Job) -> Timed:
    """A scipy sparse product for each order; the k-th occurrence of an n-gram is a feature."""
    vocabulary, features = learn(job.texts, Shape())
    matrices = [matrix_of(features, k, vocabulary.features) for k in range(len(ORDERS))]
    outputs, _ = drawn(job, (job.sizes.sparse, 0), seed=4)
    rows = [matrix[outputs] for matrix in matrices]
    columns = [matrix.T.tocsr() for matrix in matrices]  # as scipy's product wants them
    lengths = features.lengths.astype(np.float64)

    def block(begin: int) -> tuple[IntArray, IntArray]:
        end = begin + ROWS
        product = np.ones((len(outputs[begin:end]), len(job.texts)))
        for mine, theirs in zip(rows, columns, strict=True):
            product *= (mine[begin:end] @ theirs).toarray()
        inside = neighbors(product, lengths[outputs[begin:end], None], lengths[None, :])
        return inside.sum(axis=1), inside @ job.ratings

    seconds, parts = timed(
        lambda: [block(begin) for begin in range(0, len(outputs), ROWS)]
    )
    counts, sums = (np.concatenate(column) for column in zip(*parts, strict=True))
    texts = [job.texts[i] for i in outputs]
    mine = job.prepared.neighbor_sums(texts, job.ratings, TAU)
    same = np.array_equal(mine, (counts, sums))
    return Timed(
        method="scipy, sparse",
        pairs=len(outputs) * len(job.texts),
        seconds=seconds,
        note="one core; preparing the matrices is left out; its neighbours are ours",
        fault="" if same else "its neighbours are not ours",
    )


def matrix_of(features: Features, order: int, width: int) -> Any:
    """[texts, features] sparse matrix of ones, for one order."""
    from scipy.sparse import csr_matrix

    starts = features.starts[order]
    ids = features.ids[starts[0] : starts[-1]]
    ones = np.ones(len(ids), dtype=np.float32)
    return csr_matrix((ones, ids, starts - starts[0]), shape=(len(starts) - 1, width))


def neighbors(product: FloatArray, x: FloatArray, s: FloatArray) -> BoolArray:
    """Where BLEU* reaches tau, from the product of the matches of all orders and the lengths."""
    grams = math.prod(np.maximum(x - n + 1, 0.0) for n in ORDERS)
    power = len(ORDERS)
    least = (TAU - 1e-12) ** power * grams
    inside: BoolArray = product * np.exp(power * np.minimum(0.0, 1 - s / x)) >= least
    return inside


PEERS: tuple[Callable[[Job], Timed], ...] = (
    sparse_product,
    fast_bleu,
    sacrebleu_loop,
    nltk_loop,
)


def drawn(job: Job, size: tuple[int, int], seed: int) -> tuple[IntArray, IntArray]:
    """Outputs and rated texts drawn at random: their pairs are the sample."""
    rng = np.random.default_rng(seed)
    outputs, rated = (rng.permutation(len(job.texts))[:n] for n in size)
    return outputs, rated


def pairs_of(job: Job, outputs: IntArray, rated: IntArray) -> list[tuple[str, str]]:
    """Every output with every rated text, output by output."""
    return [(job.texts[i], job.texts[j]) for i in outputs for j in rated]


def distance(job: Job, outputs: IntArray, rated: IntArray, theirs: FloatArray) -> float:
    """The largest distance of similarities from ours."""
    mine = job.prepared.similarities([job.texts[i] for i in outputs])[:, rated]
    return float(np.abs(mine - theirs.reshape(mine.shape)).max(initial=0.0))


def timed(job: Callable[[], T], runs: int = RUNS) -> tuple[float, T]:
    """Seconds that a job takes at best, since other processes only ever add to them; its result."""
    best = math.inf
    for _ in range(runs):
        began = time.perf_counter()
        result = job()
        best = min(best, time.perf_counter() - began)
    return best, result


def peers(job: Job) -> tuple[list[Timed], list[str]]:
    """The rows of the peers that are installed, and who is not."""
    rows: list[Timed] = []
    skipped: list[str] = []
    for peer in PEERS:
        try:
            rows.append(peer(job))
        except ImportError as error:
            skipped.append(f"{peer.__name__}: skipped, {error}")
    return rows, skipped


def table(rows: Sequence[Timed]) -> str:
    """The rows for a terminal of 80 columns; the first one is what the others are measured by."""
    head = ("method", "pairs", "seconds", "us/pair", "pairs/s", "x ours")
    form = "{:<19} {:>13} {:>8} {:>10} {:>13} {:>10}".format
    lines = [form(*head)]
    best = rows[0].seconds / rows[0].pairs
    for row in rows:
        each = row.seconds / row.pairs
        cells = (
            f"{row.pairs:,}",
            f"{row.seconds:.2f}",
            f"{each * 1e6:.4f}",
            f"{1 / each:,.0f}",
        )
        lines.append(form(row.method, *cells, f"{each / best:,.1f}"))
    return "\n".join(lines)


def machine() -> str:
    """Processor, cores and versions, for whoever reads the table later."""
    import numba
    import scipy

    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [
        line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
    ]
    name = names[0] if names else platform.processor() or platform.machine()
    python = f"Python {platform.python_version()}, numba {numba.__version__}"
    return f"{name}, {cores()} cores; {python}, scipy {scipy.__version__}"


def texts_of(path: str | None, limit: int, length: int) -> tuple[str, ...]:
    """The user's texts, one a line, or simulated ones of so many characters; at most `limit`."""
    if path is None:
        return simulated_texts(limit, length=length)
    raw = Path(path).read_bytes()
    text = (gzip.decompress(raw) if path.endswith(".gz") else raw).decode("utf-8")
    return tuple(
        [line.rstrip("\r") for line in text.split("\n") if line.strip()][:limit]
    )


def report(texts: tuple[str, ...], sizes: Sizes) -> int:
    """Runs everything, prints the table; returns the exit status."""
    # first: a process started by a big one would inherit its peak memory
    rows = ours_rows(texts)
    job = Job(
        texts=texts,
        ratings=ratings_of(len(texts)),
        sizes=sizes,
        prepared=BleuStar().prepare(texts),
    )
    others, skipped = peers(job)
    rows += others
    length = sum(map(len, texts)) / len(texts)
    title = (
        f"{len(texts):,} texts of {length:.0f} characters on average, each against all"
    )
    print(title, machine(), "", table(rows), "", sep="\n")
    faults = [f"FAULT: {row.method}: {row.fault}" for row in rows if row.fault]
    for line in (*(f"{row.method}: {row.note}" for row in rows), *skipped, *faults):
        print(textwrap.fill(line, 80, subsequent_indent="  "))
    return 1 if faults else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--texts", help="your own texts, one a line; may be gzipped (.gz)"
    )
    parser.add_argument("--limit", type=int, help="use so many texts (20,000)")
    parser.add_argument(
        "--length", type=int, default=50, help="characters of a simulated text"
    )
    parser.add_argument(
        "--quick", action="store_true", help="500 texts and small samples"
    )
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        texts = tuple(json.loads(Path(options.alone).read_text(encoding="utf-8")))
        print(json.dumps(ours(texts, options.threads)))
        return 0
    sizes = QUICK if options.quick else Sizes()
    try:
        limit = sizes.texts if options.limit is None else options.limit
        texts = texts_of(options.texts, limit, options.length)
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        print(f"error: {options.texts}: {error}", file=sys.stderr)
        return 2
    if len(texts) < 2:
        print(f"error: {len(texts)} texts; two or more are needed", file=sys.stderr)
        return 2
    return report(texts, sizes)


if __name__ == "__main__":
    sys.exit(main())

"""The HTTP API for programs: estimates of texts, comparisons of systems, health and counts."""

import hmac
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from refless.commands.compare.run import compare
from refless.data.tables import Columns, Reading, read_batches
from refless.estimators import Estimator
from refless.extensions.serve.access import Pace, caller
from refless.registry.errors import RefLessError
from refless.registry.version import __version__
from refless.report.export import as_jsonl

MOST_TEXTS = 20_000  # of one request that is no stream
PIECE = 500  # lines of a stream that are estimated together
LONGEST = 1 << 20  # bytes of such a line
STREAM = "application/x-ndjson"
PATHS = {"/estimate", "/compare", "/metrics", "/healthz"}  # which answer programs, never people
NO_ESTIMATOR = "there is no estimator yet: it takes 20 ratings"
Rows = list[dict[str, Any]]
Line = tuple[int, bytes]  # its number, from 1


@dataclass(slots=True)
class Api:
    """The handlers; `estimator` gives what is served now, or None; `counts` more of /metrics."""

    token: str
    estimator: Callable[[], Estimator | None]
    counts: Callable[[], dict[str, float]] = dict
    pace: Pace = field(default_factory=lambda: Pace(200, 50.0))
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    texts: int = 0
    turn: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    def routes(self) -> list[Route]:
        """Where each one is."""
        return [
            Route("/estimate", self._counted(self.estimate), methods=["POST"]),
            Route("/compare", self._counted(self.compare), methods=["POST"]),
            Route("/metrics", self._counted(self.metrics)),
            Route("/healthz", healthy),
            Route("/openapi.json", openapi),
        ]

    def _counted(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """With the token, within the pace, and counted."""

        async def run(request: Request) -> Response:
            began, status = time.perf_counter(), 500
            path = request.url.path
            try:
                self._let_in(request)
                answer = await handler(request)
                status = answer.status_code
            except HTTPException as refused:
                status = refused.status_code
                raise
            except RefLessError:
                status = 422
                raise
            finally:
                self.requests[path, status] += 1
                self.seconds[path] += time.perf_counter() - began
            return answer

        return run

    def _let_in(self, request: Request) -> None:
        header = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(header, f"Bearer {self.token}".encode()):
            if not self.pace.takes(caller(request)):
                raise HTTPException(429, "too many requests")
            raise HTTPException(401, "send the header Authorization: Bearer TOKEN")
        if not self.pace.takes(f"token {caller(request)}"):
            raise HTTPException(429, "too many requests", {"retry-after": "1"})

    async def estimate(self, request: Request) -> Response:
        """An estimate for each text: of a JSON object or array, or line by line."""
        estimator = await run_in_threadpool(self.estimator)
        if estimator is None:
            raise HTTPException(503, NO_ESTIMATOR)
        if is_stream(request.scope):
            return Both(self._streamed(request, estimator), media_type=STREAM)
        rows = rows_in(await request.body())
        if len(rows) > MOST_TEXTS:
            raise HTTPException(
                413, f"at most {MOST_TEXTS} texts; send a stream of lines ({STREAM})"
            )
        estimates = await self._ran(estimates_of, estimator, rows)
        answer = {**about(estimator), "estimates": estimates}
        return Response(msgspec.json.encode(answer), media_type="application/json")

    async def _streamed(self, request: Request, estimator: Estimator) -> AsyncIterator[str]:
        """An answer for each line, in order, as they are ready: an estimate, or an error."""
        lines: list[Line] = []
        number = 0
        try:
            async for line in _lines(request):
                number += 1
                if line.strip():
                    lines.append((number, line))
                if len(lines) == PIECE:
                    yield as_jsonl(await self._ran(answers_of, estimator, lines))
                    lines = []
        except HTTPException as fault:  # a line without an end, after which there are no others
            answers = await self._ran(answers_of, estimator, lines)
            yield as_jsonl([*answers, {"error": fault.detail, "line": number + 1}])
        except ClientDisconnect:
            return
        else:
            yield as_jsonl(await self._ran(answers_of, estimator, lines))

    async def compare(self, request: Request) -> Response:
        """Which system is better, as `refless compare --format json` says it."""
        content = _decoded(await request.body())
        if not isinstance(content, dict) or not isinstance(content.get("outputs"), list):
            raise HTTPException(400, 'send {"outputs": [...]}, a row for each output')
        rows = [row_of(entry) for entry in content["outputs"]]
        if len(rows) > MOST_TEXTS:
            raise HTTPException(413, f"at most {MOST_TEXTS} outputs")
        options = {name: content[name] for name in OPTIONS if name in content}
        if "baseline" in options and options["baseline"] not in [row.get("system") for row in rows]:
            raise HTTPException(400, "baseline names none of the systems")  # and never a file
        estimator = await run_in_threadpool(self.estimator)
        if estimator is not None and not any(row.get("rating") is not None for row in rows):
            options["rated"] = estimator.rated

        def run() -> dict[str, Any]:
            try:
                return compare(rows, **options).to_dict()
            except RefLessError:
                raise
            except (TypeError, ValueError) as fault:
                raise HTTPException(400, "an option has a value of the wrong kind") from fault

        return JSONResponse(await self._ran(run))

    async def _ran(self, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401
        """Runs in a thread, one at a time; counts texts."""
        self.texts += len(args[1]) if len(args) > 1 else 0
        return await anyio.to_thread.run_sync(function, *args, limiter=self.turn)

    async def metrics(self, request: Request) -> Response:  # noqa: ARG002
        """Counts as Prometheus reads them."""
        lines = ["# TYPE refless_requests_total counter"]
        for (path, status), n in sorted(self.requests.items()):
            lines.append(f'refless_requests_total{{path="{path}",status="{status}"}} {n}')
        lines.append("# TYPE refless_request_seconds_total counter")
        for path, seconds in sorted(self.seconds.items()):
            lines.append(f'refless_request_seconds_total{{path="{path}"}} {seconds:.6f}')
        lines += ["# TYPE refless_texts_total counter", f"refless_texts_total {self.texts}"]
        for name, value in (await run_in_threadpool(self.counts)).items():
            lines += [f"# TYPE refless_{name} gauge", f"refless_{name} {value:g}"]
        text = "\n".join([*lines, ""])
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def is_stream(scope: Scope) -> bool:
    """Whether a request sends texts line by line, of any number."""
    kind = Headers(scope=scope).get("content-type", "")
    return bool(scope["path"] == "/estimate" and kind.startswith(STREAM))


class Both(StreamingResponse):
    """Answers while the request is still coming: its base would take what comes for itself."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """As ASGI has it."""
        with suppress(OSError):
            await self.stream_response(send)


OPTIONS = ("system", "scale", "selection", "seed", "baseline")


def about(estimator: Estimator) -> dict[str, Any]:
    """What made the estimates, and their units."""
    return {"signature": str(estimator.signature()), "scale": estimator.rated.scale}


def estimates_of(estimator: Estimator, rows: Rows) -> list[dict[str, Any]]:
    """An estimate a row, as `score` has them: in the raters' units.

    Each row has its own, also where ids come twice.
    """
    if not rows:
        return []
    scores = estimator.rated.score_names if estimator.without_scores() is not None else ()
    reading = Reading(columns=Columns(score=tuple(scores)))
    (read,) = read_batches(rows, reading, len(rows))
    estimates = estimator.estimate(read.outputs).on(estimator.rated.scale)
    columns = (
        estimates.ids,
        estimates.values.tolist(),
        estimates.low.tolist(),
        estimates.high.tolist(),
        estimates.reasons,
        estimates.support.tolist(),
    )
    names = ("id", "estimate", "low", "high", "reason", "support")
    return [dict(zip(names, map(_plain, row), strict=True)) for row in zip(*columns, strict=True)]


def answers_of(estimator: Estimator, lines: Sequence[Line]) -> Rows:
    """An estimate for each line of a stream; for one that cannot be read an error in its place."""
    rows: dict[int, dict[str, Any]] = {}
    bad: dict[int, dict[str, Any]] = {}
    for number, line in lines:
        try:
            row = {"id": str(number), **row_of(_decoded(line))}
            rows[number] = row
        except HTTPException as fault:
            bad[number] = {"error": fault.detail, "line": number}
    answers = dict(zip(rows, _halved(estimator, [*rows.items()]), strict=True))
    return [bad.get(number) or answers[number] for number, _ in lines]


def _halved(estimator: Estimator, rows: Sequence[tuple[int, dict[str, Any]]]) -> Rows:
    """Estimates; where a row cannot be used, of each half, until it is alone with its error."""
    try:
        return estimates_of(estimator, [row for _, row in rows])
    except RefLessError as fault:
        if len(rows) == 1:
            return [{"error": str(fault), "line": rows[0][0]}]
    half = len(rows) // 2
    return [*_halved(estimator, rows[:half]), *_halved(estimator, rows[half:])]


def _plain(value: Any) -> Any:  # noqa: ANN401 - a cell
    return None if isinstance(value, float) and math.isnan(value) else value


def rows_in(body: bytes) -> Rows:
    """The rows of a request: `{"texts": [...]}`, `{"outputs": [...]}` or an array of either."""
    content = _decoded(body)
    if isinstance(content, dict):
        content = content.get("outputs", content.get("texts"))
    if not isinstance(content, list):
        raise HTTPException(400, 'send {"texts": [...]} or {"outputs": [{"text": ...}, ...]}')
    return [row_of(entry) for entry in content]


def row_of(entry: object) -> dict[str, Any]:
    """A text, or an object with a text, as a row."""
    if isinstance(entry, str):
        return {"text": entry}
    if not isinstance(entry, dict):
        raise HTTPException(400, "each output is a text, or an object with a text")
    return entry


def _decoded(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON in UTF-8") from None


async def _lines(request: Request) -> AsyncIterator[bytes]:
    """The lines of a body of any size, as they come."""
    tail = b""
    async for piece in request.stream():
        *lines, tail = (tail + piece).split(b"\n")
        for line in lines:
            yield line
        if len(tail) > LONGEST:
            raise HTTPException(413, f"a line may hold {LONGEST} bytes")
    yield tail


async def healthy(_: Request) -> Response:
    """That the service answers."""
    return JSONResponse({"status": "ok", "version": __version__})


async def openapi(_: Request) -> Response:
    """The OpenAPI description of this API."""
    text = files("refless.extensions.serve").joinpath("static", "openapi.json").read_bytes()
    description = json.loads(text)
    description["info"]["version"] = __version__
    return JSONResponse(description)

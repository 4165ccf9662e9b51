"""The HTTP API for programs: estimates of texts, comparisons of systems, health."""

import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from refless.commands.calls import of_any_rows
from refless.commands.compare.run import compare
from refless.data.tables import Columns, Reading, read_outputs
from refless.estimators import Estimator
from refless.extensions.serve.access import Pace, caller
from refless.registry.errors import RefLessError
from refless.registry.version import __version__

MOST_TEXTS = 20_000  # of one request that is no stream
PATHS = {"/estimate", "/compare", "/healthz"}  # which answer programs, never people
NO_ESTIMATOR = "there is no estimator yet: it takes 20 ratings"
Row = dict[str, Any]
Rows = list[Row]
Handler = Callable[[Request], Awaitable[Response]]
OPTIONS = ("system", "scale", "selection", "seed")  # of /compare


@dataclass(frozen=True, slots=True)
class Api:
    """The handlers; `estimator` gives what is served now, or None."""

    token: str
    estimator: Callable[[], Estimator | None]
    pace: Pace = field(default_factory=lambda: Pace(200, 50.0))
    turn: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(1)
    )

    def routes(self) -> list[Route]:
        """The routes of the API."""
        return [
            Route("/estimate", self._guarded(self.estimate), methods=["POST"]),
            Route("/compare", self._guarded(self.compare), methods=["POST"]),
            Route("/healthz", healthy),
            Route("/openapi.json", openapi),
        ]

    def _guarded(self, handler: Handler) -> Handler:
        """With the token, and within the pace."""

        async def run(request: Request) -> Response:
            header = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(header, f"Bearer {self.token}".encode()):
                if not self.pace.takes(caller(request)):
                    raise HTTPException(429, "too many requests")
                raise HTTPException(401, "send the header Authorization: Bearer TOKEN")
            return await handler(request)

        return run

    async def estimate(self, request: Request) -> Response:
        """An estimate for each text of a JSON object or array."""
        estimator = await run_in_threadpool(self.estimator)
        if estimator is None:
            raise HTTPException(503, NO_ESTIMATOR)
        rows = rows_in(_decoded(await request.body()))
        answer = {
            "signature": str(estimator.signature()),
            "scale": estimator.rated.scale,
            "estimates": await self._ran(estimates_of, estimator, rows),
        }
        return Response(msgspec.json.encode(answer), media_type="application/json")

    async def compare(self, request: Request) -> Response:
        """The better system, as `refless compare --format json` reports it."""
        content = _decoded(await request.body())
        if not isinstance(content, dict) or "outputs" not in content:
            raise HTTPException(400, 'send {"outputs": [...]}, a row for each output')
        rows = rows_in(content)
        options = {name: content[name] for name in OPTIONS if name in content}
        estimator = await run_in_threadpool(self.estimator)
        if estimator is not None and not any(
            row.get("rating") is not None for row in rows
        ):
            options["rated"] = estimator.rated

        def run() -> Row:
            try:
                return of_any_rows(compare)(rows, **options).to_dict()
            except RefLessError:
                raise
            except (TypeError, ValueError) as fault:
                raise HTTPException(
                    400, "an option has a value of the wrong kind"
                ) from fault

        return JSONResponse(await self._ran(run))

    async def _ran(self, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401
        """Runs in a thread, one at a time."""
        return await anyio.to_thread.run_sync(function, *args, limiter=self.turn)


def estimates_of(estimator: Estimator, rows: Rows) -> list[Row]:
    """An estimate a row in the raters' units, also if ids come twice; NaN becomes null in JSON."""
    if not rows:
        return []
    scores = (
        estimator.rated.score_names if estimator.without_scores() is not None else ()
    )
    reading = Reading(columns=Columns(score=tuple(scores)))
    read = read_outputs(rows, reading, apart=True)
    estimates = estimator.estimate(read.outputs).on(estimator.rated.scale)
    columns = (
        estimates.ids,
        *(getattr(estimates, name).tolist() for name in ("values", "low", "high")),
        estimates.reasons,
        estimates.support.tolist(),
    )
    names = ("id", "estimate", "low", "high", "reason", "support")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def rows_in(content: Any) -> Rows:  # noqa: ANN401 - any JSON
    """The rows of a request: `{"texts": [...]}`, `{"outputs": [...]}` or an array of either."""
    if isinstance(content, dict):
        content = content.get("outputs", content.get("texts"))
    if not isinstance(content, list):
        raise HTTPException(
            400, 'send {"texts": [...]} or {"outputs": [{"text": ...}, ...]}'
        )
    if len(content) > MOST_TEXTS:
        raise HTTPException(413, f"at most {MOST_TEXTS} texts; send several requests")
    return [row_of(entry) for entry in content]


def row_of(entry: object) -> Row:
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


async def healthy(_: Request) -> Response:
    """That the service answers."""
    return JSONResponse({"status": "ok", "version": __version__})


async def openapi(_: Request) -> Response:
    """The OpenAPI description of this API."""
    text = (
        files("refless.extensions.serve")
        .joinpath("static", "openapi.json")
        .read_bytes()
    )
    description = json.loads(text)
    description["info"]["version"] = __version__
    return JSONResponse(description)

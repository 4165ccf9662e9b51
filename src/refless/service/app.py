"""The service as an ASGI application, and how it runs."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from refless.errors import RefLessError
from refless.report.rate import RateResult
from refless.report.result import Result
from refless.service.access import Access, Guarded, Pace
from refless.service.database import back_up
from refless.service.live import Live
from refless.service.pages import Pages, told_of
from refless.service.store import OWNER, Refused, Store

MOST_BYTES = 1 << 25  # of a request's body: 32 MiB
LOGINS = (30, 0.5)  # tries at once, and a second


def rating_app(store: Store) -> Starlette:
    """The pages of raters and owner."""
    live = Live(store)
    pages = Pages(store, Access(store), live, Pace(*LOGINS))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            live.end()

    app = application([*pages.routes()], lifespan)
    app.state.live = live
    return app


def application(routes: list[Route], lifespan: Any = None) -> Starlette:  # noqa: ANN401
    """Routes with limits, headers, and errors that say what is wrong."""
    handlers: dict[Any, Any] = {
        HTTPException: _refused,
        RefLessError: _fault,
        Refused: _fault,
    }
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guarded, most=MOST_BYTES)],
        exception_handlers=handlers,
    )


async def _refused(request: Request, error: HTTPException) -> Response:
    """A page for people, plain text for scripts."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(told_of(error), error.status_code)
    return Response(error.detail, error.status_code, media_type="text/plain")


async def _fault(_: Request, error: RefLessError) -> Response:
    return JSONResponse({"error": str(error)}, 422)


def say(line: str) -> None:
    """One line for whoever started the service."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(result: Result) -> None:
    """Serves what was prepared until it is interrupted."""
    if isinstance(result, RateResult):
        run_rating(result)


def run_rating(result: RateResult) -> None:
    """Serves until it is interrupted; with `backup`, copies the database instead."""
    if result.backup:
        back_up(result.where.database, Path(result.backup))
        say(f"wrote {result.backup}")
        return
    store = Store(result.where.database, result.outputs, result.items, result.asked)
    try:
        serve(rating_app(store), result.where.host, result.where.port, links(store, result))
    finally:
        store.close()


def links(store: Store, result: RateResult) -> list[str]:
    """The owner's link, which is new each time, and those of raters."""
    access, there = Access(store), store.raters()
    owner = next((one for one in there if one.role == OWNER), None)
    owner = store.add_rater("", OWNER) if owner is None else store.renew(owner)
    others = [one for one in there if one.role != OWNER and one.link > 0]
    while len(others) < result.raters:
        others.append(store.add_rater(""))
    shown = [("owner", owner), *((f"rater {one.name}", one) for one in others)]
    base = f"http://{_host(result.where.host)}:{result.where.port}"
    return [f"{name}: {base}/join/{access.link(one)}" for name, one in shown]


def _host(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104


def serve(app: Starlette, host: str, port: int, lines: list[str]) -> None:
    """Runs until it is interrupted; requests that are under way are finished."""
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=10, timeout_keep_alive=30, limit_concurrency=2_000,
    )  # fmt: skip
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # once uvicorn has ended by it
    for line in lines:
        say(line)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[socket])

"""The service as an ASGI application, and how it runs."""

import asyncio
import gc
import os
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from refless.estimators import Estimator
from refless.estimators.saved import load
from refless.extensions.serve.access import Access, Guarded, Pace
from refless.extensions.serve.acts import DECIDER, OWNER, Conflict
from refless.extensions.serve.api import PATHS, Api
from refless.extensions.serve.dashboard import Live, readers_of
from refless.extensions.serve.database import AWAY, back_up, restore
from refless.extensions.serve.pages import Pages, error_page
from refless.extensions.serve.result import RateResult, ServeResult, Where
from refless.extensions.serve.store import Store
from refless.files.arrays import ENDING
from refless.registry.dialect import called
from refless.registry.errors import RefLessError, UsageError
from refless.report.result import Result

MOST_BYTES = 1 << 25  # of a request's body: 32 MiB
LOGINS = (30, 0.5)  # tries at once, and a second
RATED = (200, 20.0)  # requests of a rater, likewise
PATIENCE = 10.0  # seconds in which a request's head arrives
MOST_WAITING = 500  # connections that have sent no whole head


def rating_app(
    store: Store,
    *,
    estimator: str = "gp",
    rated: Sequence[Mapping[str, Any]] = (),
    token: str = "",
    model: Path | None = None,
) -> Starlette:
    """The pages of raters and owner, and the API.

    Args:
        store: the ratings.
        estimator: its specification; rated: rows of texts that were rated before.
        token: of the API; without one nobody gets in there.
        model: a file for the fitted estimator; without one there is no watching, and no estimate.
    """
    live = Live(store, estimator, rated, model)
    pages = Pages(store, Access(store), live, Pace(*LOGINS), Pace(*RATED))
    api = Api(token or secrets.token_urlsafe(24), lambda: latest(model))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(live.watch()) if model is not None else None
        try:
            yield
        finally:
            live.end()
            if watching is not None:
                watching.cancel()
                await asyncio.wait([watching])

    app = application([*pages.routes(), *api.routes()], lifespan, ended=live.end)
    app.state.live = live
    return app


def serving_app(estimator: Estimator, token: str) -> Starlette:
    """The API alone."""
    return application(Api(token, lambda: estimator).routes())


def latest(path: Path | None) -> Estimator | None:
    """The fitted estimator in a file that is replaced now and then; None before the first."""
    return _loaded(path, path.stat().st_mtime) if path and path.exists() else None


@lru_cache(maxsize=1)
def _loaded(path: Path, _: float) -> Estimator:
    return load(path)


def application(
    routes: list[Route],
    lifespan: Any = None,  # noqa: ANN401 - a context manager
    ended: Callable[[], None] = lambda: None,
) -> Starlette:
    """Routes with limits, headers, and errors that say what is wrong; `ended` is for the server."""
    failed = _saying(500, "this failed here; the log says by what")
    handlers: dict[Any, Any] = {HTTPException: _refused, RefLessError: _saying(422)}
    handlers[Conflict] = _saying(409)
    handlers |= dict.fromkeys(AWAY, _saying(503, "the database is away; try again"))
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guarded, limit=MOST_BYTES)],
        exception_handlers={**handlers, Exception: failed},
    )
    app.state.ended = ended
    return app


async def _refused(request: Request, error: HTTPException) -> Response:
    """A page for people; JSON for programs, and for the scripts of pages."""
    people = "text/html" in request.headers.get("accept", "")
    if people and request.url.path not in PATHS:
        return HTMLResponse(error_page(error), error.status_code)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _saying(
    status: int, text: str = ""
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Answers an error with a text, or with what the error says."""

    async def answer(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": text or str(error)}, status)

    return answer


def say(line: str) -> None:
    """One line for whoever started the service."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(result: Result) -> None:
    """Serves what was prepared until it is interrupted."""
    if isinstance(result, RateResult):
        run_rating(result)
    elif isinstance(result, ServeResult):
        token, lines = api_token()
        where = result.where
        serve(serving_app(result.estimator, token), where, [_address(where), *lines])


def api_token() -> tuple[str, list[str]]:
    """The token of the API, and a line that tells it, unless it is the environment's."""
    token = os.environ.get("REFLESS_TOKEN", "")
    if token:
        return token, []
    token = secrets.token_urlsafe(24)
    return token, [f"API token: {token}"]


def run_rating(result: RateResult) -> None:
    """Serves until it is interrupted; or copies the database, or puts a copy in its place."""
    if result.backup:
        back_up(result.where.database, Path(result.backup))
        say(f"wrote {result.backup}")
        return
    if result.restore:
        before = restore(result.where.database, Path(result.restore))
        say(f"{result.where.place} is now {result.restore}; what was there is {before}")
        return
    store = Store(result.where.database, result.outputs, result.items, result.task)
    token, lines = api_token()
    try:
        with tempfile.TemporaryDirectory(prefix="refless-") as folder:
            model = Path(folder) / f"model{ENDING}"
            app = rating_app(
                store,
                estimator=result.estimator,
                rated=result.rated,
                token=token,
                model=model,
            )
            serve(
                app,
                result.where,
                [*links(store, result), *lines],
                lambda: _kept(result, app.state.live.commands),
            )
    finally:
        store.close()


def _kept(result: RateResult, commands: list[str]) -> str:
    """The place of the ratings, and the command that reads them, for the end."""
    reader = f"ratings.jsonl is read by: {readers_of(result.task)[0]}"
    if result.task.project.looks:
        planned = "the line that comes with the first planned look"
        reader = (
            f"everything.zip has the files of: {commands[0] if commands else planned}"
        )
    return (
        f"Ratings are kept in {result.where.place}; the same command serves them again. "
        f"Your page's {reader}"
    )


def links(store: Store, result: RateResult) -> list[str]:
    """The owner's link, which is new each time, and those of raters."""
    access = Access(store)
    raters = store.raters()
    owner = next((rater for rater in raters if rater.role == OWNER), None)
    owner = store.add_rater("", OWNER) if owner is None else store.renew(owner)
    invited = [rater for rater in raters if rater.role != OWNER and rater.link > 0]
    while sum(rater.name != DECIDER for rater in invited) < result.raters:
        invited.append(store.add_rater(""))
    people = [("owner", owner), *((f"rater {rater.name}", rater) for rater in invited)]
    base = _address(result.where)
    lines = [f"{name}: {base}/join/{access.link(rater)}" for name, rater in people]
    if result.task.project.join:
        lines.append(f"everybody: {base}/begin/{access.everybody()}")
    return lines


def _address(where: Where) -> str:
    """The address for a browser: in this machine's network if it listens there."""
    host = {"0.0.0.0": _own_address(), "::": "::1"}.get(where.host, where.host)  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host else host}:{where.port}"


def _own_address() -> str:
    """This machine's address in its network; 127.0.0.1 without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # sends nothing: it only chooses a way
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


class Server(uvicorn.Server):
    """Lets pages that wait for news go before it waits for requests to end."""

    async def shutdown(self, sockets: Any = None) -> None:  # noqa: ANN401 - as its base has it
        """Ends the pages that wait, then shuts down."""
        self.config.app.state.ended()  # type: ignore[union-attr]
        await super().shutdown(sockets)


class Impatient(H11Protocol):
    """Closes connections whose request does not begin in time, and the oldest of too many.

    uvicorn waits for the head of a request for ever, and refuses everybody once 2,000 wait.
    """

    # in the order of their coming
    _waiting: ClassVar[dict["Impatient", asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Limits the wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Limits the wait, unless the head of a request is complete."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Limits the wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the wait for a request."""
        self._arrived()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Closes the connection, though it may be half-way through a request's head."""
        self._arrived()
        self.transport.abort()

    def _wait(self) -> None:
        """Waits for a head, unless a request is under way; too many waiting make the oldest go."""
        busy = self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr]
        if busy or self.transport.is_closing():
            self._arrived()
        elif self not in self._waiting:
            self._waiting[self] = self.loop.call_later(PATIENCE, self.give_up)
            if len(self._waiting) > MOST_WAITING:
                next(iter(self._waiting)).give_up()

    def _arrived(self) -> None:
        timer = self._waiting.pop(self, None)
        if timer is not None:
            timer.cancel()


def _bound(where: Where) -> socket.socket:
    """A socket that listens there; raises UsageError where it cannot."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((where.host, where.port))
    except OSError as fault:
        bound.close()
        why = fault.strerror or str(fault)
        problem = (
            f"cannot listen on {where.host}, port {where.port} ({why}); name others with "
            f"{called('host')} "
        )
        raise UsageError(f"{problem}and {called('port')}") from fault
    return bound


def configured(app: Starlette, where: Where) -> uvicorn.Config:
    """The settings with which uvicorn runs an application."""
    return uvicorn.Config(
        app, host=where.host, port=where.port, log_level="warning", access_log=False,
        server_header=False, timeout_graceful_shutdown=10, limit_concurrency=2_000,
        http=Impatient, proxy_headers=bool(where.proxy), forwarded_allow_ips=where.proxy,
    )  # fmt: skip


def serve(
    app: Starlette, where: Where, lines: list[str], last: Callable[[], str] = str
) -> None:
    """Runs until it is interrupted; requests that are under way are finished, then says `last`."""
    bound = _bound(where)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # once uvicorn has ended by it
    bound.listen(2_048)  # a link that is printed is answered, if not yet
    for line in lines:
        say(line)
    gc.freeze()  # what is there now stays, so that no search for garbage goes through it
    with suppress(KeyboardInterrupt):
        Server(configured(app, where)).run(sockets=[bound])
    line = last()
    if line:
        say(line)

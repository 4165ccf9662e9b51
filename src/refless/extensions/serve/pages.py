"""The pages: a personal link, what a rater sees, what the owner sees."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import chain
from statistics import median

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from refless.extensions.serve.access import MONTH, Access, Pace, caller
from refless.extensions.serve.acts import OWNER, RATER, Event, Rater
from refless.extensions.serve.dashboard import BREATH, Live, Look, until
from refless.extensions.serve.database import AWAY
from refless.extensions.serve.exports import EVERYTHING, EXPORTS, everything, items_of
from refless.extensions.serve.project import dressed, html_of
from refless.extensions.serve.store import Store
from refless.report.templates import rendered

HOME = "refless.extensions.serve"
PARTS = ("state", "results", "people")  # of the owner's page
STATIC = dict.fromkeys(
    ("rate.js", "owner.js", "items.js", "worker.js"), "text/javascript"
)
STATIC["service.css"] = "text/css"
NO_LINK = "Open the personal link that you were given."
NO_CONSENT = "Read what this is about, and agree first."
BAD_LINK = (
    "This link is not valid, or no longer. Ask for a new one; the owner's newest is where refless "
    "rate was started."
)
SHARE = 10  # times as long as looking took, nothing is looked at
MANY_TRIES = "Too many tries; wait a minute."
TOO_FAST = "This is faster than anybody rates; wait a moment."
MOST_ITEMS = 2_000  # on the page of items; the file has all
PULSE = 15.0  # seconds between signs of life
Page = Callable[..., Awaitable[Response]]  # of somebody who is known
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Pages:
    """The handlers of people's pages."""

    store: Store
    access: Access
    live: Live
    logins: Pace
    paces: Pace  # of raters

    def routes(self) -> list[Route]:
        """The routes of the pages."""
        rater = self._for(RATER)
        owner = self._for(OWNER)
        post = partial(Route, methods=["POST"])
        return [
            Route("/", self.home),
            Route("/owner", owner(self.home)),
            Route("/join/{token}", self.join),
            Route("/begin/{token}", self.begin, methods=["GET", "POST"]),
            Route("/static/{name}", static),
            Route("/rate/next", rater(self.next)),
            Route("/rate/at/{position:int}", rater(self.at)),
            post("/rate/consent", rater(self.agree)),
            post("/rate/events", rater(self.events)),
            Route("/owner/items", owner(self.items)),
            Route("/owner/live", owner(self.lived)),
            post("/owner/raters", owner(self.invite)),
            post("/owner/raters/{key:int}/{act}", owner(self.relink)),
            post("/owner/systems", owner(self.put_back)),
            Route("/owner/export/{name}", owner(self.export)),
        ]

    def _for(self, role: str) -> Callable[[Page], Handler]:
        """Handlers for one role; what changes something needs the page's token too."""

        def wrap(handler: Page) -> Handler:
            async def run(request: Request) -> Response:
                who = self.access.by_session(request, role)
                if who is None and self._anybody(request) is not None:
                    raise HTTPException(403, "This is not for you.")
                if who is None:
                    raise HTTPException(401, NO_LINK)
                sent = request.headers.get("x-csrf", "")
                if request.method == "POST" and sent != self.access.csrf(request, role):
                    raise HTTPException(403, "Reload the page.")
                if role == RATER and not self.paces.takes(str(who.id)):
                    raise HTTPException(429, TOO_FAST, {"retry-after": "1"})
                agrees = request.url.path == "/rate/consent"
                if role == RATER and not agrees and self._asks(who):
                    raise HTTPException(403, NO_CONSENT)
                return await handler(request, who)

            return run

        return wrap

    async def join(self, request: Request) -> Response:
        """A personal link begins a session, and leaves the address bar."""
        who = await run_in_threadpool(self.access.by_link, request.path_params["token"])
        if who is None:  # good links do not count: a whole office may share an address
            raise self._stranger(request)
        return self._entered(request, who)

    def _stranger(self, request: Request) -> HTTPException:
        """The error for a caller without a valid link; after many tries, the one for too many."""
        tries = self.logins.takes(caller(request))
        return HTTPException(403, BAD_LINK) if tries else HTTPException(429, MANY_TRIES)

    async def begin(self, request: Request) -> Response:
        """The link for everybody makes a rater: one a browser, and one a person of Prolific."""
        token = request.path_params["token"]
        project = self.store.task.project
        if not project.join or token != self.access.everybody():
            raise self._stranger(request)
        person = self.access.person(request.query_params)
        who = None if person else self.access.by_session(request, RATER)
        if who is None and request.method != "POST":  # a preview presses no button
            return HTMLResponse(rendered(HOME, "begin.html", **self._outlook()))
        if who is None:
            make = self.store.joined if person else self.store.add_rater
            who = await run_in_threadpool(make, person)
            self.live.touch()
        if who.link <= 0:
            raise HTTPException(403, BAD_LINK)
        return self._entered(request, who)

    def _outlook(self) -> Look:
        """The facts for raters before they begin: the task, its items and the minutes it takes."""
        n = self.store.task.project.most_items or len(self.store.items)
        seconds = [*chain(*self.store.seconds.values())]
        minutes = math.ceil(n * median(seconds) / 60) if seconds else None
        return {"task": self.store.task, "n": n, "minutes": minutes}

    def _entered(self, request: Request, who: Rater) -> Response:
        """The page of a rater or the owner, whose session begins."""
        answer = RedirectResponse("/owner" if who.role == OWNER else "/", 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(
            self.access.cookie(who.role), self.access.session(who), max_age=MONTH, httponly=True,
            samesite="lax", secure=secure,
        )  # fmt: skip
        return answer

    def _anybody(self, request: Request) -> Rater | None:
        """The rater or owner who asks."""
        of = self.access.by_session
        return of(request, RATER) or of(request, OWNER)

    async def home(self, request: Request, who: Rater | None = None) -> Response:
        """The page of whoever asks; a browser may know a rater and the owner."""
        who = who or self._anybody(request)
        if who is None:
            raise HTTPException(401, NO_LINK)
        task = self.store.task
        everybody = self.access.everybody() if task.project.join else ""
        links = [self._link(who)]
        if everybody:
            links.append(f"/begin/{everybody}")
        setting = {
            "ask": task.ask,
            "dimensions": task.dimensions,
            "steps": {name: task.steps_of(name) for name in task.dimensions},
            "labels": task.project.labels,
            "questions": task.project.questions,
            "asks": who.role == RATER and self._asks(who),
            "page": f"{self.access.cookie(who.role)} {who.id} ",
            "links": links,
        }
        values = {"csrf": self.access.csrf(request, who.role), "task": task}
        if who.role == OWNER:
            state = await run_in_threadpool(self.live.state)
            values |= {**state, "everybody": everybody}
            return HTMLResponse(rendered(HOME, "owner.html", **values))
        guidelines = await run_in_threadpool(
            html_of, task.project.guidelines, "markdown"
        )
        values |= {"guidelines": guidelines, "setting": json.dumps(setting)}
        return HTMLResponse(rendered(HOME, "rate.html", **values))

    def _asks(self, who: Rater) -> bool:
        """Whether the rater has yet to agree to the text of consent."""
        consent = bool(self.store.task.project.consent)
        return consent and who.id not in self.store.consents

    async def _answered(self, future: Future[Look]) -> Response:
        """The store's answer; Markdown is rendered beside the loop that answers others."""
        return await run_in_threadpool(self._dressed, await asyncio.wrap_future(future))

    def _dressed(self, answer: Look) -> Response:
        """An answer whose items have their texts as HTML, if the project renders them."""
        project = self.store.task.project
        units = {
            name: dressed(answer[name], project.render)
            for name in ("unit", "next")
            if name in answer
        }
        progress = answer["progress"]
        over = None in units.values()
        if over and progress["done"] > 2 * progress["skipped"]:  # never before the end
            answer["thanks"] = {
                "code": project.completion_code,
                "url": project.return_url,
            }
        elif over and (project.completion_code or project.return_url):
            answer["thanks"] = {"skipped": progress["skipped"]}
        if "ahead" in answer:
            ahead = answer["ahead"]
            answer["ahead"] = [dressed(unit, project.render) for unit in ahead]
        return JSONResponse({**answer, **units})

    async def agree(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """Keeps that a rater agreed."""
        await asyncio.wrap_future(self.store.agree(who.id))
        return JSONResponse({})

    async def next(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """The next item to rate."""
        return await self._answered(self.store.next_unit(who.id))

    async def at(self, request: Request, who: Rater) -> Response:
        """The item at an earlier position."""
        position = min(request.path_params["position"], 1 << 30)
        return await self._answered(self.store.unit_at(who.id, position))

    async def events(self, request: Request, who: Rater) -> Response:
        """Keeps one event; the answer comes when it is on disk."""
        try:
            event = msgspec.json.decode(await request.body(), type=Event)
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            raise HTTPException(400, str(fault)) from None
        session = self.access.csrf(request, RATER)[:12]
        answer = await self._answered(self.store.save(who.id, event, session))
        self.live.touch(acts=1)
        return answer

    async def items(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """The page of items, with their ratings, flags and skips."""
        rows = await run_in_threadpool(self.store.database.read, items_of)
        return HTMLResponse(
            rendered(HOME, "items.html", rows=rows[-MOST_ITEMS:], n=len(rows))
        )

    async def lived(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """The results so far, again whenever they change, until the owner leaves."""

        async def changes() -> AsyncIterator[str]:
            last = ""
            while not self.live.ended:
                change = self.live.change
                began = time.monotonic()
                try:
                    news = await run_in_threadpool(self._news)
                except AWAY:
                    news = last
                yield f"data: {news}\n\n" if news != last else ": \n\n"
                last = news
                seconds = time.monotonic() - began
                await until(change, PULSE, max(BREATH, SHARE * seconds))

        return StreamingResponse(changes(), media_type="text/event-stream")

    def _news(self) -> str:
        """The parts of the owner's page that change, as JSON."""
        state = self.live.state() | {"task": self.store.task}
        parts = {
            name: rendered(HOME, "live.html", part=name, **state) for name in PARTS
        }
        return json.dumps(parts)

    async def invite(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """A link for one more rater."""
        note = (await request.body()).decode("utf-8", "replace")[:100]
        note = note.replace("\0", "").strip()
        rater = await run_in_threadpool(self.store.add_rater, note)
        self.live.touch()
        return JSONResponse({"name": rater.name, "link": self._link(rater)})

    async def relink(self, request: Request, who: Rater) -> Response:
        """Revokes a rater's links and sessions, or shows (after that: makes anew) their link."""
        key = request.path_params["key"]
        act = request.path_params["act"]
        rater = await run_in_threadpool(self.store.rater, min(key, 1 << 30))
        if rater is None or rater.id == who.id or act not in {"revoke", "link"}:
            raise HTTPException(404)
        if act == "revoke":
            await run_in_threadpool(self.store.revoke, rater)
        elif rater.link <= 0:
            rater = await run_in_threadpool(self.store.renew, rater)
        await run_in_threadpool(self.live.rater_changed)
        link = self._link(rater) if act == "link" else ""
        return JSONResponse({"name": rater.name, "link": link})

    async def put_back(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """Asks raters about a system again that a race has dropped."""
        system = (await request.body()).decode("utf-8", "replace")
        if system not in self.store.retired:
            raise HTTPException(404, "No such system was dropped.")
        await run_in_threadpool(self.live.put_back, system)
        return JSONResponse({"system": system})

    def _link(self, rater: Rater) -> str:
        """The link's path: where the service is, the owner's browser knows, a header may lie."""
        return f"/join/{self.access.link(rater)}"

    async def export(self, request: Request, who: Rater) -> Response:  # noqa: ARG002
        """All ratings as they are now, as a file."""
        name = request.path_params["name"]
        if name in self.live.files:
            file = self.live.files[name]
            content: str | bytes = await run_in_threadpool(file.read_bytes)
        elif name in EXPORTS:
            make = EXPORTS[name]
            if name == EVERYTHING:
                make = partial(everything, paths=self.live.files)
            content = await run_in_threadpool(self.store.database.read, make)
        else:
            raise HTTPException(404)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)


async def static(request: Request) -> Response:
    """A style or a script; no other file."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    text: str = files(HOME).joinpath("static", name).read_text("utf-8")
    headers = {"cache-control": "max-age=300", "service-worker-allowed": "/"}
    return Response(text, media_type=STATIC[name], headers=headers)


def error_page(error: HTTPException) -> str:
    """A page that says what is wrong."""
    return rendered(HOME, "message.html", text=error.detail)

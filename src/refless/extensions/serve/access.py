"""Access of raters and callers: signed links, sessions, the API's token, limits of requests."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from itsdangerous import BadData, URLSafeSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from refless.extensions.serve.acts import Rater
from refless.extensions.serve.store import Store

BODY = 60.0  # seconds in which a request's body arrives
MONTH = 30 * 24 * 3600
LONGEST = 500  # characters of a token
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Links and sessions that name a rater; both die when the rater's link number changes."""

    store: Store

    def link(self, rater: Rater) -> str:
        """The token of a personal link."""
        return self._signed("link", [rater.id, rater.link])

    def everybody(self) -> str:
        """The token of the link that makes raters."""
        return self._keyed("everybody")[:32]

    def person(self, query: Mapping[str, str]) -> str:
        """A keyed hash of who opens a link by Prolific, whose id is kept nowhere; else nothing."""
        person = query.get("PROLIFIC_PID", "")
        if not person:
            return ""
        return f"Prolific {self._keyed(f'person {person}')[:16]}"

    def session(self, rater: Rater) -> str:
        """The content of a session's cookie."""
        return self._signed("session", [rater.id, rater.link, int(time.time())])

    def _signed(self, salt: str, parts: list[int]) -> str:
        return URLSafeSerializer(self.store.secret, salt=salt).dumps(parts)

    def by_link(self, token: str) -> Rater | None:
        """The rater of a link; None if it is forged or revoked."""
        return self._rater(self._parts("link", token), 2)

    def cookie(self, role: str) -> str:
        """The name of a role's cookie: browsers send those of all ports of a host."""
        return f"refless-{role}-{self._keyed('cookie')[:12]}"

    def by_session(self, request: HTTPConnection, role: str) -> Rater | None:
        """The rater who asks in that role; None without a valid session."""
        parts = self._parts("session", request.cookies.get(self.cookie(role), ""))
        rater = self._rater(parts, 3)
        if rater is None or rater.role != role:
            return None
        age = abs(time.time() - parts[2])
        return rater if age < MONTH else None

    def csrf(self, request: HTTPConnection, role: str) -> str:
        """The token that a page must send with each change."""
        return self._keyed(f"csrf {request.cookies.get(self.cookie(role), '')}")

    def _keyed(self, text: str) -> str:
        return keyed(self.store.secret, text)

    def _parts(self, salt: str, token: str) -> tuple[int, ...]:
        return signed(self.store.secret, salt, token[:LONGEST])

    def _rater(self, parts: tuple[int, ...], length: int) -> Rater | None:
        if len(parts) != length:
            return None
        rater = self.store.rater(parts[0])
        return rater if rater is not None and rater.link == parts[1] > 0 else None


@lru_cache(maxsize=1_000)
def keyed(secret: str, text: str) -> str:
    """A keyed hash."""
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=1_000)
def signed(secret: str, salt: str, token: str) -> tuple[int, ...]:
    """The numbers of a token; none of one that was not signed here."""
    try:
        return tuple(map(int, URLSafeSerializer(secret, salt=salt).loads(token)))
    except (BadData, TypeError, ValueError):
        return ()


@dataclass(slots=True)
class Pace:
    """The limit of each caller's requests: so many at once, and so many a second after that.

    Attributes:
        burst, rate: of one caller; limit: callers that are remembered.
    """

    burst: float
    rate: float
    limit: int = 10_000
    _budgets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def takes(self, caller: str) -> bool:
        """Whether the caller may ask now; it then counts."""
        now = time.monotonic()
        budget, then = self._budgets.pop(caller, (self.burst, now))
        budget = min(self.burst, budget + (now - then) * self.rate)
        while len(self._budgets) >= self.limit:
            self._budgets.pop(next(iter(self._budgets)))
        allowed = budget >= 1
        self._budgets[caller] = (budget - 1 if allowed else budget, now)
        return allowed


def caller(request: HTTPConnection) -> str:
    """The address of whoever asks."""
    return "" if request.client is None else request.client.host


class Guarded:
    """Headers of every answer, and limits to the bytes and the seconds of a request's body."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request of ASGI, within the limits."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read = 0
        complete = False
        ends = time.monotonic() + BODY
        length = Headers(scope=scope).get("content-length", "0")
        declared = int(length[:20])  # of digits, as the server has checked

        async def limited() -> Message:
            nonlocal read, complete
            if complete:  # and the application waits for the end of the connection
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), ends - time.monotonic())
            except TimeoutError:
                raise HTTPException(
                    408, "the body of this request comes too slowly"
                ) from None
            read += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if max(read, declared) > self.limit:
                raise HTTPException(413, f"a body may hold {self.limit} bytes")
            return message

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with suppress(ClientDisconnect):  # there is nobody to answer
            await self.app(scope, limited, headed)
